"""`tf.layers`: dense, dropout, flatten: Keras's layers, below variable scopes. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.layers import dense as keras_dense
from tfexp.keras.layers import dropout as keras_dropout
from tfexp.keras.layers import reshaping
from tfexp.layers.base import Layer
from tfexp.layers.functional import functional
from tfexp.ops.initializers import zeros_initializer


class Dense(keras_dense.Dense, Layer):
    """activation(inputs W + b) over the last dimension, which must be known. `tf.layers.Dense`."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),  # noqa: B008 (it has no state)
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(
            units,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


dense = functional(Dense, "dense")


class Dropout(keras_dropout.Dropout, Layer):
    """In training, elements are set to zero with probability `rate` and the others scaled up. `tf.layers.Dropout`."""

    def __init__(
        self, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None, name: str | None = None, **kwargs: Any
    ):
        super().__init__(rate, noise_shape, seed, name=name, **kwargs)

    def call(self, inputs: Any, training: Any = False) -> Any:
        return super().call(inputs, training=training)


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Any:
    """The inputs, in training with dropout. `training` may be a tensor. `tf.layers.dropout`."""
    return Dropout(rate, noise_shape, seed, name=name).apply(inputs, training=training)


class Flatten(reshaping.Flatten, Layer):
    """[batch, …] as [batch, product of the rest]; `channels_first` inputs give the same order as `channels_last` ones."""


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """[batch, …] as [batch, product of the rest]. `tf.layers.flatten`."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
