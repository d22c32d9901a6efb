"""What a node leaves for its gradient: who finds it, and that the rest is computed as ever."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.kernel import Call
from tfexp.ops.pool import max_pool_grad_op, max_pool_op
from tfexp.plan.assign import Assignment
from tfexp.plan.passes import make_plan
from tfexp.runtime.device_list import CPU
from tfexp.runtime.executor import Interpreter

X = np.random.default_rng(5).permutation(48).astype(np.float32).reshape(1, 4, 4, 3)
HOW = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}


class _Library:
    """Maxima of 2x2, which leave the input; a gradient that has nothing else to look at."""

    def max_pool(self, *how: Any) -> Call:
        pool = functools.partial(_pool, None)
        return Call(
            pool, out=True, leaves=(X.shape, np.float32, Call(lambda x, left, out=None: _pool(left, x, out), out=True))
        )

    def max_pool_gradient(self, *how: Any) -> Call:
        finding = Call(lambda x, y, grad, left, out=None: _gradient(left, y, grad, out), out=True)
        return Call(_gradient, out=True, finds=finding)


def _pool(left: np.ndarray | None, x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if left is not None:
        left[...] = x
    return np.max(x.reshape(1, 2, 2, 2, 2, 3), (2, 4), out=out)


def _gradient(x: np.ndarray, y: np.ndarray, grad: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    wide = [np.repeat(np.repeat(a, 2, 1), 2, 2) for a in (y, grad)]
    return np.multiply(x == wide[0], wide[1], out=out)


Fetches = Callable[[tf.Tensor], list[tf.Tensor]]


def _pooled(x: tf.Tensor, **other: Any) -> tf.Tensor:
    return max_pool_op(x, **{**HOW, **other})


def _grad(x: tf.Tensor, y: tf.Tensor, grad: tf.Tensor) -> tf.Tensor:
    return max_pool_grad_op(x, y, grad, **HOW)


def _twice(x: tf.Tensor) -> list[tf.Tensor]:
    y = _pooled(x)
    return [y, _grad(x, y, y + 1), _grad(x, y, y * 2)]


def _of_constants(x: tf.Tensor) -> list[tf.Tensor]:
    known = tf.constant(X)
    return [_grad(known, _pooled(known), _pooled(x))]


@pytest.mark.parametrize(
    ("fetches", "arrays"),
    [
        (lambda x: [_grad(x, _pooled(x), tf.ones([1, 2, 2, 3]))], 1),
        (_twice, 1),  # the first of them
        (lambda x: [_grad(x, _pooled(x, padding="SAME"), tf.ones([1, 2, 2, 3]))], 0),
        (lambda x: [_grad(tf.negative(-x), _pooled(x), tf.ones([1, 2, 2, 3]))], 0),
        (_of_constants, 0),
        (lambda x: [_grad(x, tf.negative(-_pooled(x)), tf.ones([1, 2, 2, 3]))], 0),
    ],
    ids=["alike", "two gradients", "other padding", "other input", "constants", "other maxima"],
)
def test_the_first_gradient_of_the_same_pooling_finds_it(fetches: Fetches, arrays: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, X.shape)
        fetched = fetches(x)
        plan = make_plan(fetched, [], [x], [x.shape], Assignment([CPU]), True, libraries={"onednn": _Library()})
        computed = Interpreter(plan, session._backend.resources).run([X])
        expected = session.run(fetched, {x: X})
    assert sum(step.op.name == "_Array" for step in plan.steps) == arrays
    for one, other in zip(computed, expected, strict=True):
        np.testing.assert_array_equal(one, other)
