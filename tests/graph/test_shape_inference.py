"""Errors of shapes tell the values that the op's rule has read, in TensorFlow 1.15's words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tfexp as tf
from tfexp.ops.space_batch import space_to_batch_nd


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: tf.concat([tf.ones([2, 2]), tf.ones([3, 3])], 0), "computed input tensors: input[2] = <0>."),
        (lambda: tf.reduce_sum(tf.ones([4]), [0, 3]), "computed input tensors: input[1] = <0 3>."),
        (
            lambda: tf.range(0, 5, 0),
            "computed input tensors: input[0] = <0>, input[1] = <5>, input[2] = <0>.",
        ),
        (
            lambda: space_to_batch_nd(tf.ones([1, 3, 3, 1]), [2, 2], [[0, 0], [0, 0]]),
            "computed input tensors: input[1] = <2 2>, input[2] = <[0 0][0 0]>.",
        ),
        (
            lambda: tf.reshape(tf.ones([4, 3]), [tf.placeholder(tf.int32, []), 5]),
            "input tensors computed as partial shapes: input[1] = [?,5].",
        ),
        (lambda: tf.nn.top_k(tf.ones([2, 3]), tf.placeholder(tf.int32, [2])), "input shapes: [2,3], [2]."),
    ],
)
def test_the_values_that_a_rule_has_read_are_told(make: Callable[[], object], told: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="with input shapes: ") as caught:
        make()
    assert str(caught.value).endswith(told)


def test_of_many_values_the_first_ones_are_told() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r"Invalid reduction dimension") as caught:
        tf.reduce_sum(tf.ones([4]), [0] * 300 + [7])
    assert str(caught.value).endswith("= <" + "0 " * 256 + "...>.")
