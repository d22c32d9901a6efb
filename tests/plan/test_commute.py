"""Nodes that change places: which do, and that every bit stays as it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.nn_activation import relu_grad_op
from tfexp.ops.pool import max_pool_grad_op, max_pool_op
from tfexp.plan.commute import _MASKS, _MAXIMA
from tfexp.plan.plan import Plan
from tfexp.runtime.executor import Interpreter

POOL = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
SPECIAL = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 1.0, -1.0, 7.0], np.float32)


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def drawn(seed: int, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Small integers with both signs, and some of what is special; whole windows of NaN among them."""
    random = np.random.default_rng(seed)
    numbers = random.integers(-2, 9, shape).astype(np.float64)
    if np.dtype(dtype).kind == "f":
        numbers = np.where(random.random(shape) < 0.3, random.choice(SPECIAL, shape), numbers)
        numbers.reshape(-1)[: numbers.size // 3] = np.nan
    with np.errstate(invalid="ignore"):
        return numbers.astype(dtype)


def outcomes(result: tf.Tensor, feeds: dict[tf.Tensor, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """What nodes one by one compute, and what the planned step does."""
    with tf.Session() as session:
        one_by_one = session._backend.prepare([result], [], list(feeds)).plan(None, optimise=False)
        (expected,) = Interpreter(one_by_one, session._backend.resources).run(list(feeds.values()))
        return np.array(expected), [session.run(result, feeds) for _ in range(4)][-1]


def planned(fetches: Any, feeds: dict[tf.Tensor, np.ndarray]) -> Plan:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.explain(fetches, feeds).plan


def steps(plan: Plan) -> dict[str, tuple[int, Any]]:
    """Of each op's step: the position and the shape of what it makes."""
    return {step.op.name: (n, plan.slots[step.outputs[0]].shape.as_list()) for n, step in enumerate(plan.steps)}


def masked_first(plan: Plan) -> bool:
    at = steps(plan)
    (mask,), (maxima,) = ([at[name][0] for name in at if name in ops] for ops in (_MASKS, _MAXIMA))
    return mask < maxima


def backwards(activation: Callable[..., Any], pool: Callable[..., Any], x: np.ndarray, **how: Any) -> Any:
    """The gradient for x of pooled activations (doubled, so that it is no fetch itself), and the feeds."""
    z = tf.placeholder(x.dtype, x.shape)
    y = pool(activation(z), **how)
    above = tf.placeholder(x.dtype, y.shape)
    feeds = {z: x, above: drawn(5, tuple(y.shape.as_list()), x.dtype)}
    return tf.gradients(y, z, above)[0] * 2, feeds


CASES = [
    (tf.nn.relu, tf.nn.max_pool, (3, 4, 6, 5), POOL),
    (tf.nn.relu, tf.nn.max_pool, (3, 5, 7, 2), POOL),
    (tf.nn.relu6, tf.nn.max_pool, (3, 6, 4, 5), {**POOL, "padding": "VALID"}),
    (tf.nn.relu, tf.nn.max_pool, (2, 7, 8, 3), {**POOL, "ksize": [1, 3, 1, 1], "strides": [1, 3, 1, 1]}),
    (tf.nn.relu6, tf.nn.max_pool3d, (2, 3, 4, 5, 3), {**POOL, "ksize": [1, 2, 3, 2, 1], "strides": [1, 2, 3, 2, 1]}),
    (
        tf.nn.relu,
        tf.nn.max_pool,
        (3, 2, 5, 7),
        {**POOL, "ksize": [1, 1, 2, 2], "strides": [1, 1, 2, 2], "data_format": "NCHW"},
    ),
]


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        *itertools.product(CASES, ["f2", "f4"]),
        *itertools.product((case for case in CASES if case[1] is tf.nn.max_pool), ["f8", "i4"]),
    ],
)
def test_a_mask_before_the_gradient_of_maxima_gives_the_same_bits(case: Any, dtype: str) -> None:
    activation, pool, shape, how = case
    result, feeds = backwards(activation, pool, drawn(3, shape, dtype), **how)
    expected, found = outcomes(result, feeds)
    assert found.tobytes() == expected.tobytes()
    assert masked_first(planned(result, feeds))


def test_the_mask_runs_first_under_its_own_name_on_what_was_pooled() -> None:
    x = tf.Variable(np.ones([3, 4, 6, 5], np.float32))
    y = tf.nn.max_pool(tf.nn.relu(x, name="relu"), name="pool", **POOL)
    plan = planned(tf.gradients(tf.reduce_sum(tf.square(y)), x)[0] * 2, {})
    assert steps(plan)["ReluGrad"] == (steps(plan)["MaxPoolGrad"][0] - 1, [3, 2, 3, 5])
    for step in plan.steps:
        if step.op.name in ("ReluGrad", "MaxPoolGrad"):
            assert step.name.endswith(step.op.name) and step.origin.name == step.name
            assert plan.slots[step.outputs[0]].name == f"{step.name}:0"


def _relu_pooled() -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]:
    x = tf.nn.relu(tf.placeholder(tf.float32, [3, 4, 6, 5]))
    y = max_pool_op(x, data_format="NHWC", **POOL)
    between = max_pool_grad_op(x, y, tf.square(y), data_format="NHWC", **POOL)
    return x, y, between, relu_grad_op(between, x)


def test_what_others_need_keeps_its_place() -> None:
    x, y, between, last = _relu_pooled()
    feeds = {x.op.inputs[0]: np.ones(x.shape, np.float32)}
    assert masked_first(planned(last * 2, feeds))
    assert not masked_first(planned([last * 2, between], feeds)), "fetched"
    assert not masked_first(planned(last, feeds)), "fetched"
    assert not masked_first(planned([last * 2, tf.square(between)], feeds)), "read"
    assert masked_first(planned([last * 2, x, y], feeds))
    for fed in (x, y):
        assert not masked_first(planned(last * 2, {**feeds, fed: np.ones(fed.shape, np.float32)})), "any array"


def test_only_the_maxima_of_what_is_masked_know_the_mask() -> None:
    x, y, between, _ = _relu_pooled()
    z = x.op.inputs[0]
    feeds = {z: np.ones(x.shape, np.float32)}
    other = tf.nn.relu(tf.negative(z))
    assert not masked_first(planned(relu_grad_op(between, other) * 2, feeds))
    for wrong in (max_pool_op(other, data_format="NHWC", **POOL), tf.nn.avg_pool(x, **POOL)):
        between = max_pool_grad_op(x, wrong, y, data_format="NHWC", **POOL)
        assert not masked_first(planned(relu_grad_op(between, x) * 2, feeds))


def test_windows_that_overlap_or_leave_elements_out_stay_as_they_are() -> None:
    for size, stride in ((3, 2), (2, 3)):
        how = {"ksize": [1, size, size, 1], "strides": [1, stride, stride, 1], "padding": "VALID"}
        result, feeds = backwards(tf.nn.relu, tf.nn.max_pool, drawn(1, (3, 7, 9, 5), "f4"), **how)
        assert not masked_first(planned(result, feeds))
        expected, found = outcomes(result, feeds)
        assert found.tobytes() == expected.tobytes()


def test_a_loops_body_is_planned_likewise() -> None:
    start = drawn(2, (3, 4, 6, 5), "f4")

    def body(x: tf.Tensor) -> tf.Tensor:
        with tf.name_scope("body"):
            y = tf.nn.max_pool(tf.nn.relu(x), **POOL)
            return x - tf.gradients(tf.square(y), x)[0] * 0.25

    z = tf.placeholder(tf.float32, start.shape)
    _, result = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, body(x)), [0, z])
    (loop,) = (step.loop for step in planned(result, {z: start}).steps if step.loop is not None)
    assert masked_first(loop.body)
    expected, found = outcomes(result, {z: start})
    assert found.tobytes() == expected.tobytes()
