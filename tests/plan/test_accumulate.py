"""Gradient descent along products: which updates take one in, and that the numbers stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.plan import accumulate, strands
from tfexp.runtime.blas import add_product

RATE = 0.1


@pytest.fixture(autouse=True)
def _small_ones_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulate, "_WORTH_IT", 1)
    monkeypatch.setattr("tfexp.runtime.local.product_adder", lambda: add_product)


def variable(name: str, *dims: int, dtype: Any = np.float32, use_resource: bool = False) -> Any:
    values = np.random.default_rng(len(name)).standard_normal(dims).astype(dtype)
    return tf.get_variable(name, initializer=values, use_resource=use_resource)


def descend(var: Any, gradient: Any) -> Any:
    return tf.train.GradientDescentOptimizer(RATE).apply_gradients([(gradient, var)])


def descents(session: tf.Session, fetches: Any, feeds: Any = None) -> int:
    """How many updates took in a product."""
    return sum("DescendByProduct" in step.op.name for step in session.explain(fetches, feeds).plan.steps)


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "handle"])
@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_is_taken_in(dtype: Any, transposed: tuple[bool, bool], use_resource: bool) -> None:
    random = np.random.default_rng(5)
    a, b = (random.standard_normal(dims[::-1] if t else dims) for dims, t in zip(((5, 3), (3, 7)), transposed, strict=True))
    with tf.Graph().as_default(), tf.Session() as session:
        w = variable("w", 5, 7, dtype=dtype, use_resource=use_resource)
        x, y = tf.placeholder(dtype, a.shape), tf.placeholder(dtype, b.shape)
        train, feeds = descend(w, tf.matmul(x, y, *transposed)), {x: a, y: b}
        session.run(tf.global_variables_initializer())
        expected = session.run(w) - 2 * RATE * ((a.T if transposed[0] else a) @ (b.T if transposed[1] else b))
        assert descents(session, train, feeds) == 1
        for _ in range(2):
            session.run(train, feeds)
        np.testing.assert_allclose(session.run(w), expected, rtol=1e-5, atol=1e-6)


def fetched(w: Any, product: Any) -> list[Any]:
    return [descend(w, product), product]


def read_by_another(w: Any, product: Any) -> list[Any]:
    return [descend(w, product), tf.reduce_sum(product)]


def clipped(w: Any, product: Any) -> list[Any]:
    return [descend(w, tf.minimum(product, 1.0))]


@pytest.mark.parametrize("use", [fetched, read_by_another, clipped])
def test_a_product_that_is_needed_itself_is_an_array(use: Callable[[Any, Any], list[Any]]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.random_normal([3, 5])
        fetches = use(variable("w", 5, 5), tf.matmul(x, x, transpose_a=True))
        assert descents(session, fetches) == 0


def test_a_factor_that_changes_before_the_update_is_taken_as_it_was() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w, v = variable("w", 5, 5), variable("vv", 5, 5)
        product = tf.matmul(v, v)
        with tf.control_dependencies([product]):
            change = tf.assign(v, tf.zeros([5, 5]))
        with tf.control_dependencies([change]):
            train = tf.group(tf.raw_ops.ApplyGradientDescent(var=w, alpha=RATE, delta=product))
        session.run(tf.global_variables_initializer())
        before, factor = session.run([w, v])
        session.run(train)
        np.testing.assert_allclose(session.run(w), before - RATE * factor @ factor, rtol=1e-5)


def test_a_variable_can_be_a_factor_of_its_own_gradient() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w = variable("w", 5, 5)
        train = descend(w, tf.matmul(w, w))
        session.run(tf.global_variables_initializer())
        expected = session.run(w)
        assert descents(session, train) == 1
        for _ in range(3):
            session.run(train)
            expected = expected - np.float32(RATE) * expected @ expected
        np.testing.assert_allclose(session.run(w), expected, rtol=1e-4)


def test_what_waits_for_the_product_runs_before_the_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strands, "_HEAVY", 0.0)
    with tf.Graph().as_default(), tf.Session() as session:
        w = variable("w", 5, 5)
        product = tf.matmul(tf.random_normal([5, 2]), tf.ones([2, 5]))
        with tf.control_dependencies([product]):
            between = tf.nn.l2_loss(w)
        with tf.control_dependencies([product, between]):
            train = descend(w, product)
        session.run(w.initializer)
        before = session.run(w)
        assert descents(session, [between, train]) == 1
        assert session.run([between, train])[0] == pytest.approx(np.square(before).sum() / 2, rel=1e-5)


@pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "handle"])
def test_a_variable_without_a_value_is_named(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        train = descend(variable("w", 5, 5, use_resource=use_resource), tf.matmul(tf.random_normal([5, 2]), tf.ones([2, 5])))
        for _ in range(2):
            with pytest.raises(errors.FailedPreconditionError, match=r"(value|variable) w\s"):
                session.run(train)


def test_a_variable_of_another_shape_by_now_is_an_error() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w = variable("w", 5, 5)
        train = descend(w, tf.matmul(tf.random_normal([5, 2]), tf.ones([2, 5])))
        session.run(tf.assign(w, tf.ones([5, 4]), validate_shape=False))
        with pytest.raises(errors.InvalidArgumentError, match=r"var and delta do not have the same shape\[5,4\] \[5,5\]"):
            session.run(train)
