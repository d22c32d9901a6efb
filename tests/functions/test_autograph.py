"""Python's control flow in `tf.function`s is the graph's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


def collatz(n: Any) -> Any:
    steps = 0
    while n > 1:
        if tf.equal(n % 2, 0):
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def power_sum(x: Any, count: Any) -> Any:
    total = tf.zeros([])
    for i in tf.range(count):
        if tf.equal(i, 3):
            break
        total += x ** tf.cast(i, tf.float32)
    return total


class Scale:
    def __init__(self, factor: float):
        self.factor = factor

    @tf.function
    def clipped(self, x: Any) -> Any:
        if x > 10.0:
            return x
        return x * self.factor


def test_branches_and_loops_over_tensors() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        n = tf.placeholder(tf.int32, [])
        steps = tf.function(collatz)(n)
        assert [session.run(steps, {n: start}) for start in (1, 6, 27)] == [0, 8, 111]
        x = tf.constant(2.0)
        total = tf.function(power_sum)(x, n)
        gradient = tf.gradients(total, x)[0]
        assert [session.run([total, gradient], {n: count}) for count in (2, 9)] == [[3, 1], [7, 5]]
        scale = Scale(3.0)
        assert session.run([scale.clipped(tf.constant(v)) for v in (2.0, 20.0)]) == [6, 20]


def test_eager_calls_convert_too_and_tapes_watch_them() -> None:
    with eager_mode():
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.function(power_sum)(x, tf.constant(3))
        assert (total.numpy(), tape.gradient(total, x).numpy()) == (7, 5)
        assert tf.function(collatz)(tf.constant(27)).numpy() == 111


def test_what_is_not_to_be_converted_is_not() -> None:
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match=r"using a `tf\.Tensor` as a Python `bool` is not allowed"):
            tf.function(collatz, autograph=False)(tf.constant(3))
        python = tf.function(lambda n: tf.constant([i for i in range(n) if i % 2]))
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(python(6)), [1, 3, 5])
