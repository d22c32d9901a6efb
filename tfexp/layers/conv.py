"""`tf.layers`: convolution over one, two and three dimensions, and its transpose: Keras's, with other defaults. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.layers import convolutional, convolutional_transpose
from tfexp.keras.layers.window_args import with_defaults
from tfexp.layers.base import Layer
from tfexp.layers.functional import functional
from tfexp.ops.initializers import zeros_initializer


class _Conv(convolutional.Conv, Layer):
    """What a convolution is by default: channels last, and variables as the variable scope says."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
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
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
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


class Conv1D(_Conv, convolutional.Conv1D):
    """Convolution of [batch, length, channels]. `tf.layers.Conv1D`."""


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class Conv2D(_Conv, convolutional.Conv2D):
    """Convolution of [batch, height, width, channels]. `tf.layers.Conv2D`."""


@with_defaults(strides=(1, 1, 1), dilation_rate=(1, 1, 1))
class Conv3D(_Conv, convolutional.Conv3D):
    """Convolution of [batch, depth, height, width, channels]. `tf.layers.Conv3D`."""


class _ConvTranspose(convolutional_transpose.ConvTranspose, Layer):
    """The same of a transposed convolution, whose output is as long as `padding` says."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
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
            filters,
            kernel_size,
            strides,
            padding,
            data_format=data_format,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


@with_defaults(strides=(1, 1))
class Conv2DTranspose(_ConvTranspose, convolutional_transpose.Conv2DTranspose):
    """The transpose of `Conv2D`. `tf.layers.Conv2DTranspose`."""


@with_defaults(strides=(1, 1, 1))
class Conv3DTranspose(_ConvTranspose, convolutional_transpose.Conv3DTranspose):
    """The transpose of `Conv3D`. `tf.layers.Conv3DTranspose`."""


conv1d = functional(Conv1D, "conv1d")
conv2d = functional(Conv2D, "conv2d")
conv3d = functional(Conv3D, "conv3d")
conv2d_transpose = functional(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = functional(Conv3DTranspose, "conv3d_transpose")
