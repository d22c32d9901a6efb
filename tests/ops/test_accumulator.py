"""Conditional accumulators in sessions and on servers: what they add up, who waits, what they refuse."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.runtime.asleep import soon
from tfexp.core.errors import DeadlineExceededError, InvalidArgumentError
from tfexp.core.op import get_op


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize(("reduction", "expected"), [("MEAN", [3, 5]), ("SUM", [9, 15])])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_reductions(dtype: str, reduction: str, expected: list[float]) -> None:
    accumulator = tf.ConditionalAccumulator(dtype, shape=[2], reduction_type=reduction)
    apply = [accumulator.apply_grad(g) for g in ([1, 2], [2, 3], [6, 10])]
    with tf.Session() as session:
        session.run(apply)
        result = session.run(accumulator.take_grad(1))
    assert result.dtype == dtype
    assert result.tolist() == expected


@pytest.mark.parametrize("older", [False, True])
def test_the_forms_of_the_ops(older: bool) -> None:
    """Sparse accumulators use the older forms; dense ones in graphs of 1.15 too."""
    form = "" if older else "Resource"
    handle = get_op(f"{form}ConditionalAccumulator")(dtype=tf.float32, shape=[], shared_name="one")
    apply = get_op(f"{form}AccumulatorApplyGradient")(handle, tf.constant(0, tf.int64), 2.0)
    count = get_op(f"{form}AccumulatorNumAccumulated")(handle)
    take = get_op(f"{form}AccumulatorTakeGradient")(handle, 1, dtype=tf.float32)
    forward = get_op(f"{form}AccumulatorSetGlobalStep")(handle, tf.constant(5, tf.int64))
    with tf.Session() as session:
        session.run(apply)
        assert session.run(count) == 1
        assert session.run(take) == 2
        session.run(forward)
        session.run(apply)
        assert session.run(count) == 0


def test_stale_gradients_are_dropped() -> None:
    step = tf.placeholder(tf.int64, [])
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
    apply, count, take = accumulator.apply_grad(1.0, step), accumulator.num_accumulated(), accumulator.take_grad(1)
    with tf.Session() as session:
        session.run(accumulator.set_global_step(4))
        for local, expected in ((3, 0), (4, 1), (9, 2)):
            session.run(apply, {step: local})
            assert session.run(count) == expected
        session.run(take)
        session.run(apply, {step: 4})
        assert session.run(count) == 0
        session.run(apply, {step: 5})
        assert session.run(count) == 1


def test_taking_waits() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
    apply, take, count = accumulator.apply_grad(3.0, 9), accumulator.take_grad(2), accumulator.num_accumulated()
    with tf.Session() as session:
        session.run(apply)
        with pytest.raises(DeadlineExceededError, match=r"2 gradients in ConditionalAccumulator '_\d+_conditional_acc"):
            soon(session, take)
        taken: list[Any] = []
        thread = threading.Thread(target=lambda: taken.append(session.run(take)))
        thread.start()
        session.run(apply)
        thread.join()
        assert taken == [3.0]
        assert session.run(count) == 0


def test_sessions_of_a_server_share_by_name() -> None:
    server = tf.train.Server.create_local_server()
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name="shared")
    sparse = tf.SparseConditionalAccumulator(tf.float32, shape=[3], shared_name="sparse")
    nodes = [accumulator.apply_grad(2.0), sparse.apply_grad([2], [1.0])]
    taken = [accumulator.take_grad(1), *sparse.take_grad(1)]
    with tf.Session(server.target) as waits, tf.Session(server.target) as gives:
        results: list[Any] = []
        thread = threading.Thread(target=lambda: results.extend(waits.run(taken)))
        thread.start()
        gives.run(nodes)
        thread.join()
    assert [np.asarray(r).tolist() for r in results] == [2.0, [2], [1.0], [3]]


def test_sparse_rows() -> None:
    """Whatever the order of a gradient's indices; a row's mean is that of the gradients that have it."""
    accumulator = tf.SparseConditionalAccumulator(tf.float64, shape=[7, 2])
    gradients = [([5, 1, 5], [[1, 2], [3, 4], [5, 6]]), ([0, 5], [[7, 8], [10, 20]]), ([], np.zeros((0, 2)))]
    apply = [accumulator.apply_grad(i, np.float64(v)) for i, v in gradients]
    with tf.Session() as session:
        session.run(apply)
        indices, values, shape = session.run(accumulator.take_grad(3))
    assert indices.tolist() == [0, 1, 5]
    assert values.tolist() == [[7, 8], [3, 4], [8, 14]]
    assert shape.tolist() == [7, 2]


DENSE = [
    ([2], [3.0, 5.0, 1.0], 0, "Shape mismatch: expected [2], got [3]"),
    (None, [1.0, 2.0, 3.0], 0, "Shape mismatch: expected [2], got [3]"),
    ([2], [3.0, 5.0], [7], "Argument local_step must be scalar, but had bad shape [1]"),
]


@pytest.mark.parametrize(("shape", "bad", "step", "text"), DENSE)
def test_what_does_not_fit(shape: Any, bad: Any, step: Any, text: str) -> None:
    grad, local = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=shape)
    apply = accumulator.apply_grad(grad, local)
    with tf.Session() as session:
        session.run(apply, {grad: [1, 2], local: 0})
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(apply, {grad: bad, local: step})
        assert text in str(caught.value)
        with pytest.raises(InvalidArgumentError, match="Argument num_required must be positive, but was 0"):
            session.run(accumulator.take_grad(0))


SPARSE = [
    ([1, 3], [[1, 2]], [5, 2], "Expected 2 non-empty input values, got 1"),
    ([1, 3], [[1, 2], [3, 4]], [5, 3], "Shape mismatch: expected shape dim 1 to be 2, got 3"),
    ([1, 3], [[1, 2, 3], [3, 4, 5]], [5, 2], "Shape mismatch: expected values dim 1 to be 2, got 3"),
    ([1, 9], [[1, 2], [3, 4]], [5, 2], "index of slice 1 exceeded limits of shape; index is 9 exceeded 5"),
    ([1, 3], [[1, 2], [3, 4]], [], "Shape mismatch: expected shape rank at least 2, got 0"),
    ([[0]], [[1, 2]], [5, 2], "Input indices should be vector but received shape: [1,1]"),
    ([0], 1.0, [5, 2], "Values cannot be 0-dimensional."),
    ([0, 1], [1, 2], [5, 2], "Shape mismatch: expected values rank 2, got 1"),
]


@pytest.mark.parametrize(("indices", "values", "shape", "text"), SPARSE)
def test_rows_that_do_not_fit(indices: Any, values: Any, shape: Any, text: str) -> None:
    """TensorFlow's words."""
    given = [tf.placeholder(t) for t in (tf.int64, tf.float32, tf.int64)]
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2])
    apply = accumulator.apply_grad(*given)
    with tf.Session() as session:
        session.run(apply, dict(zip(given, ([1], [[1, 2]], [5, 2]), strict=True)))
        with pytest.raises(InvalidArgumentError) as caught:
            session.run(apply, dict(zip(given, (indices, values, shape), strict=True)))
        assert text in str(caught.value)
        assert session.run(accumulator.num_accumulated()) == 1


def test_types_and_kinds() -> None:
    integers = tf.ConditionalAccumulator(tf.int32, shape=[]).num_accumulated()
    dense = tf.ConditionalAccumulator(tf.float32, shared_name="x").num_accumulated()
    sparse = tf.SparseConditionalAccumulator(tf.float32, shared_name="x").num_accumulated()
    doubles = tf.ConditionalAccumulator(tf.float64, shared_name="x").apply_grad(1.0)
    with tf.Session() as session:
        with pytest.raises(InvalidArgumentError, match="adds up gradients of types float16, float32, float64, not int32"):
            session.run(integers)
        session.run(dense)
        with pytest.raises(InvalidArgumentError, match="Expected a SparseConditionalAccumulator, found ConditionalAcc"):
            session.run(sparse)
        with pytest.raises(InvalidArgumentError, match="is of type float32, but the node's is float64"):
            session.run(doubles)


def test_a_step_that_goes_back_is_warned_of(caplog: Any) -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
    with tf.Session() as session:
        session.run(accumulator.set_global_step(4))
        session.run(accumulator.set_global_step(2))
        session.run(accumulator.apply_grad(1.0, 2))
        assert session.run(accumulator.num_accumulated()) == 1
    assert "to smaller value" in caplog.text
