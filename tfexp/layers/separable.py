"""`tf.layers`: separable convolution, one filter for each channel and then a mixture of channels. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.layers.conv import _Conv
from tfexp.layers.functional import functional
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import separable_conv2d as separable_conv2d_


class _SeparableConv(_Conv):
    """depth_multiplier: how many filters for each input channel, before `filters` mixtures of what they give."""

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
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        self._depthwise = depthwise_initializer, depthwise_regularizer, depthwise_constraint
        self._pointwise = pointwise_initializer, pointwise_regularizer, pointwise_constraint

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        depth = self.depth_multiplier * channels

        def weight(name: str, dims: list[int], rules: tuple[Any, Any, Any]) -> Any:
            return self.add_weight(name, dims, initializer=rules[0], regularizer=rules[1], constraint=rules[2])

        self.depthwise_kernel = weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], self._depthwise
        )
        self.pointwise_kernel = weight("pointwise_kernel", [*([1] * self._count), depth, self.filters], self._pointwise)
        self._build_bias()
        self.built = True


class SeparableConv2D(_SeparableConv):
    """Of [batch, height, width, channels]. `tf.layers.SeparableConv2D`."""

    _count = 2

    def _convolved(self, inputs: Any) -> Tensor:
        last = self.data_format == "channels_last"
        return separable_conv2d_(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=[1, *self.strides, 1] if last else [1, 1, *self.strides],
            padding=self.padding.upper(),
            rate=list(self.dilation_rate),
            data_format=self._layout(),
        )


class SeparableConv1D(_SeparableConv):
    """Of [batch, length, channels], as that of images of height 1. `tf.layers.SeparableConv1D`."""

    _count = 1

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        last = self.data_format == "channels_last"
        axis, strides = (1 if last else 2), self.strides * 2
        images = expand_dims(inputs, axis)
        outputs = separable_conv2d_(
            images,
            expand_dims(self.depthwise_kernel, 0),
            expand_dims(self.pointwise_kernel, 0),
            strides=[1, *strides, 1] if last else [1, 1, *strides],
            padding=self.padding.upper(),
            rate=[1, *self.dilation_rate],
            data_format="NHWC" if last else "NCHW",
        )
        if self.bias is not None:
            outputs = bias_add(outputs, self.bias, data_format="NHWC" if last else "NCHW")
        outputs = squeeze(outputs, [axis])
        return outputs if self.activation is None else self.activation(outputs)  # type: ignore[no-any-return]


separable_conv1d = functional(SeparableConv1D, "separable_conv1d")
separable_conv2d = functional(SeparableConv2D, "separable_conv2d")
