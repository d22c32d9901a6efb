"""`tf.layers`: separable convolution, filters of each channel and then mixtures: Keras's, with other defaults. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.layers import convolutional_separable
from tfexp.keras.layers.window_args import with_defaults
from tfexp.layers.base import Layer
from tfexp.layers.functional import functional
from tfexp.ops.initializers import zeros_initializer


class _SeparableConv(convolutional_separable.SeparableConv, Layer):
    """What it is by default: channels last, and variables as the variable scope says."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str = "channels_last",
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = None,
        pointwise_initializer: Any = None,
        bias_initializer: Any = zeros_initializer(),  # noqa: B008 (it has no state)
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
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
            depth_multiplier,
            activation,
            use_bias,
            depthwise_initializer,
            pointwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            pointwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            pointwise_constraint,
            bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


class SeparableConv1D(_SeparableConv, convolutional_separable.SeparableConv1D):
    """Of [batch, length, channels], as that of images of height 1. `tf.layers.SeparableConv1D`."""


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class SeparableConv2D(_SeparableConv, convolutional_separable.SeparableConv2D):
    """Of [batch, height, width, channels]. `tf.layers.SeparableConv2D`."""


separable_conv1d = functional(SeparableConv1D, "separable_conv1d")
separable_conv2d = functional(SeparableConv2D, "separable_conv2d")
