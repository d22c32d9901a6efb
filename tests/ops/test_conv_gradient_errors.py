"""What the gradients of convolutions in three dimensions say of sizes that do not fit: in a step, as in TF 1.15."""

from __future__ import annotations

import pytest

import tfexp as tf
from tfexp.core.op import get_op

Sizes = tuple[int, ...]


@pytest.mark.parametrize(
    ("inputs", "filters", "grads", "text"),
    [
        ((1, 3, 3, 2, 2), (2, 2, 1, 2, 3), (1, 2, 2, 2, 5), "filter and out_backprop must have the same out_depth"),
        ((1, 3, 3, 2, 3), (2, 2, 1, 2, 3), (1, 2, 2, 2, 3), "input depth must be evenly divisible by filter depth"),
        ((1, 3, 3, 2, 2), (2, 2, 1, 2, 3), (2, 2, 2, 3), "out_backprop must be 5-dimensional"),
        ((1, 3, 3, 2, 2), (2, 2, 2, 3), (1, 2, 2, 2, 3), "filter must be 5-dimensional"),
        (
            (1, 5, 3, 2, 2),
            (2, 2, 1, 2, 3),
            (1, 2, 2, 2, 3),
            "Size of out_backprop doesn't match computed: actual = 2, computed",
        ),
        (
            (2, 3, 3, 2, 2),
            (2, 2, 1, 2, 3),
            (1, 2, 2, 2, 3),
            "input and out_backprop must have the same batch sizeinput batch: 2outbackprop batch: 1 batch_dim: 0",
        ),
    ],
)
def test_of_the_input(inputs: Sizes, filters: Sizes, grads: Sizes, text: str) -> None:
    grad = tf.nn.conv3d_transpose(tf.zeros(grads), tf.zeros(filters), inputs, [1] * 5, padding="VALID")
    assert grad.shape == inputs
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=f"^Conv3DBackpropInputOp: {text}"):
        session.run(grad)


def test_of_the_filter() -> None:
    x, grads = tf.zeros([2, 3, 3, 2, 2]), tf.zeros([1, 2, 2, 2, 3])
    text = "input and out_backprop must have the same batch sizeinput batch: 2outbackprop batch: 1 batch_dim: 0"
    grad = get_op("Conv3DBackpropFilterV2")(x, [2, 2, 1, 2, 3], grads, strides=[1] * 5, padding="VALID")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=f"^Conv3DBackpropFilterOp: {text}"):
        session.run(grad)
