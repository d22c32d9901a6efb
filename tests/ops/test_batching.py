"""Rows of concurrent steps in one batch: who gets what, limits, and gradients across it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.ops import batching
from tfexp.ops.batching_resource import BatchQueue, Parcels
from tfexp.runtime.eager import eager_mode

LONG = 60_000_000  # microseconds: no test waits for it


@pytest.fixture(autouse=True)
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What each of the calls returns, made at once."""
    results: list[Any] = [None] * len(calls)

    def call(number: int) -> None:
        results[number] = calls[number]()

    threads = [threading.Thread(target=call, args=[number]) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def test_concurrent_runs_are_one_call(session):
    x, weight = tf.placeholder(tf.float32, [None, 2]), tf.constant(10.0)
    calls = []

    @tf.nondifferentiable_batch_function(1, 3, LONG)
    def scaled(rows):
        seen = tf.py_func(lambda r: (calls.append(r.shape), r)[1], [rows], tf.float32)
        return [seen * weight, rows + 1]

    results = scaled(x)
    assert results[0].op.type == "BatchFunction" and results[0].name == "batch/BatchFunction:0"
    one, two = together(lambda: session.run(results, {x: [[1, 2]]}), lambda: session.run(results, {x: [[3, 4], [5, 6]]}))
    assert calls == [(3, 2)]
    assert one[0].tolist() == [[10, 20]] and one[1].tolist() == [[2, 3]]
    assert two[0].tolist() == [[30, 40], [50, 60]] and two[1].tolist() == [[4, 5], [6, 7]]


def test_what_is_old_enough_is_filled_up_and_runs(session):
    shapes = []

    @tf.nondifferentiable_batch_function(1, 7, 0, allowed_batch_sizes=[2, 5, 7])
    def same(rows):
        return tf.py_func(lambda r: (shapes.append(r.tolist()), r)[1], [rows], tf.int32)

    assert session.run(same(tf.constant([4, 1, 2])))[0].tolist() == [4, 1, 2]
    assert shapes == [[4, 1, 2, 4, 4]]


@pytest.mark.parametrize(
    ("settings", "function", "value", "error", "text"),
    [
        ({}, lambda a: a, [1] * 5, errors.InvalidArgumentError, "Task size 5 is larger than maximum batch size 4"),
        ({}, lambda a: a, 3, errors.InvalidArgumentError, "must have at least one dimension"),
        ({}, lambda a: a[0], [3], errors.FailedPreconditionError, "output tensor has 0 dimensions"),
        ({}, lambda a: a[:1], [3, 5], errors.FailedPreconditionError, "0th dimension does not equal the sum"),
        ({}, lambda a: tf.gather(a, [9]), [3], errors.InvalidArgumentError, r"9 is not in \[0, 1\)"),
        ({"allowed_batch_sizes": [3, 2, 4]}, lambda a: a, [3], errors.InvalidArgumentError, "monotonically increasing"),
        ({"allowed_batch_sizes": [3]}, lambda a: a, [3], errors.InvalidArgumentError, "must equal max_batch_size"),
    ],
)
def test_what_is_refused(session, settings, function, value, error, text):
    x = tf.placeholder(tf.int32)
    batched = tf.nondifferentiable_batch_function(1, 4, 0, **settings)(function)(x)
    with pytest.raises(error, match=text):
        session.run(batched, {x: value})


def test_other_arguments_are_refused():
    with pytest.raises(ValueError, match="supposed to be Tensors; found 3"):
        tf.nondifferentiable_batch_function(1, 4, 0)(lambda a: a)(3)


def test_a_step_that_ends_leaves_its_batch(session):
    x, seen = tf.placeholder(tf.int32, [None]), []

    @tf.nondifferentiable_batch_function(1, 4, LONG)
    def same(rows):
        return tf.py_func(lambda r: (seen.append(r.tolist()), r)[1], [rows], tf.int32)

    batched = same(x)
    with pytest.raises(errors.DeadlineExceededError):
        session.run(batched, {x: [1]}, options=tf.RunOptions(timeout_in_ms=20))
    assert session.run(batched, {x: [2, 3, 5, 7]})[0].tolist() == [2, 3, 5, 7]
    assert seen == [[2, 3, 5, 7]]


def test_one_step_gets_the_batch_and_all_get_their_rows_and_gradients(session):
    x = tf.placeholder(tf.float32, [None, 2])
    settings = {"num_batch_threads": 1, "max_batch_size": 3, "batch_timeout_micros": LONG, "grad_timeout_micros": LONG}
    [rows], index, number = batching.batch([x], **settings)
    assert [t.shape.as_list() for t in (rows, index, number)] == [[None, 2], [None, 3], []]
    squares = batching.unbatch(rows * rows, index, number, timeout_micros=LONG)
    (grad,) = tf.gradients(squares, x)
    fetched = [rows, index, squares, grad]
    one, two = together(lambda: session.run(fetched, {x: [[1, 2]]}), lambda: session.run(fetched, {x: [[3, 4], [5, 6]]}))
    assert sorted([len(one[0]), len(two[0])]) == [0, 3]
    assert sorted([one[1].shape, two[1].shape]) == [(0, 3), (2, 3)]
    assert one[2].tolist() == [[1, 4]] and two[2].tolist() == [[9, 16], [25, 36]]
    assert one[3].tolist() == [[2, 4]] and two[3].tolist() == [[6, 8], [10, 12]]


def test_gradients_of_rows_that_fill_up_are_zero(session):
    x = tf.constant([[1.0, 2.0]])
    settings = {"num_batch_threads": 1, "max_batch_size": 3, "batch_timeout_micros": 0, "grad_timeout_micros": LONG}
    [rows], index, number = batching.batch([x], allowed_batch_sizes=[3], **settings)
    squares = batching.unbatch(rows * rows, index, number, timeout_micros=LONG)
    of_rows, of_x = tf.gradients(squares, [rows, x])
    value, grad, grads = session.run([rows, of_x, of_rows])
    assert value.tolist() == [[1, 2]] * 3 and grad.tolist() == [[2, 4]]
    assert grads.tolist() == [[2, 4], [0, 0], [0, 0]]


def test_rows_that_never_come(session):
    nothing = tf.zeros([0, 3], tf.int64)
    lost = batching.unbatch(tf.zeros([0, 2]), nothing, tf.constant(5, tf.int64), timeout_micros=1)
    with pytest.raises(errors.DeadlineExceededError, match="did not arrive within timeout window"):
        session.run(lost)


def test_as_many_batches_wait_as_may():
    """The first is processed, the second waits for a slot and takes in what comes, a third has no room."""
    begun, goes_on, sizes = threading.Event(), threading.Event(), []

    def process(tasks, joined):
        begun.set()
        goes_on.wait(60)
        sizes.append(len(joined[0]))
        for task in tasks:
            task.keep(len(tasks))

    queue = BatchQueue(process, slots=1, most_rows=2, most_batches=1, seconds=0.0)
    rows = [np.zeros([1])]
    settled = [threading.Event() for _ in range(3)]
    first = queue.put(rows)
    assert begun.wait(60)
    others = [queue.put(rows), queue.put(rows)]
    with pytest.raises(errors.UnavailableError, match="queue to which this task was submitted is full"):
        queue.put(rows)
    for task, event in zip([first, *others], settled, strict=True):
        task.on_settled(event.set)
    goes_on.set()
    assert all(event.wait(60) for event in settled)
    assert sizes == [1, 2] and [task.result() for task in (first, *others)] == [1, 2, 2]


def test_rows_of_two_shapes_fail_both():
    queue = BatchQueue(lambda tasks, joined: None, slots=1, most_rows=2, most_batches=1, seconds=60.0)
    tasks = [queue.put([np.zeros([1, 2])]), queue.put([np.zeros([1, 3])])]
    for task in tasks:
        settled = threading.Event()
        task.on_settled(settled.set)
        assert settled.wait(60)
        with pytest.raises(errors.InvalidArgumentError, match="must have one shape"):
            task.result()


def test_parcels_wait_for_all_their_numbers():
    parcels = Parcels()
    promise = parcels.take([2, 1], lambda parts: np.concatenate(parts).tolist())
    parcels.leave({1: np.array([1])})
    settled = threading.Event()
    promise.on_settled(settled.set)
    assert not settled.is_set()
    parcels.leave({2: np.array([2, 3])})
    assert settled.is_set() and promise.result() == [2, 3, 1]


def test_eagerly():
    with eager_mode():
        doubled = tf.nondifferentiable_batch_function(1, 4, 0)(lambda rows: rows * 2)
        assert doubled(tf.constant([1, 5]))[0].numpy().tolist() == [2, 10]
