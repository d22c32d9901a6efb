"""The fully connected layer that the models share."""

from __future__ import annotations

from typing import Any

import tfexp as tf

__all__ = ["dense"]


def dense(inputs: tf.Tensor, units: int, name: str, *, initializer: Any = None, l2: float = 0.0) -> tf.Tensor:
    """inputs [rows, width] . weights [width, units] + bias [units], the variables under the scope `name`.

    `initializer` (None: Glorot uniform) is for the weights; the bias begins at zero. With `l2`, the weights
    add l2 * sum(weights**2) / 2 to the regularization losses.
    """
    width = inputs.get_shape()[-1].value
    with tf.variable_scope(name):
        weights = tf.get_variable(
            "weights",
            [width, units],
            initializer=initializer or tf.glorot_uniform_initializer(),
            regularizer=(lambda w: tf.multiply(tf.nn.l2_loss(w), l2, name="l2")) if l2 else None,
        )
        bias = tf.get_variable("bias", [units], initializer=tf.zeros_initializer())
        return tf.nn.bias_add(tf.matmul(inputs, weights), bias)
