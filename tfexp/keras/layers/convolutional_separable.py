"""`tf.keras.layers`: one filter for each channel, and then, where channels are mixed, a mixture of what they give."""

from __future__ import annotations

from typing import Any, ClassVar

from tfexp.graph.tensor import Tensor
from tfexp.keras import constraints, initializers, regularizers
from tfexp.keras.layers.convolutional import Conv, Conv2D
from tfexp.keras.layers.window_args import with_defaults
from tfexp.ops.array import expand_dims, squeeze
from tfexp.ops.nn_conv import depthwise_conv2d, separable_conv2d


class _DepthwiseConv(Conv):
    """A convolution whose variables begin with `depthwise_kernel`; depth_multiplier: filters for each input channel."""

    depth_multiplier: int
    depthwise_initializer: Any
    depthwise_regularizer: Any
    depthwise_constraint: Any

    def _set_depthwise(self, depth_multiplier: int, initializer: Any, regularizer: Any, constraint: Any) -> None:
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = initializers.get(initializer)
        self.depthwise_regularizer = regularizers.get(regularizer)
        self.depthwise_constraint = constraints.get(constraint)

    def _build_depthwise(self, channels: int) -> None:
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel",
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
            trainable=True,
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "depth_multiplier": self.depth_multiplier,
            "depthwise_initializer": initializers.serialize(self.depthwise_initializer),
            "depthwise_regularizer": regularizers.serialize(self.depthwise_regularizer),
            "depthwise_constraint": constraints.serialize(self.depthwise_constraint),
        }


class SeparableConv(_DepthwiseConv):
    """depth_multiplier: how many filters for each input channel, before `filters` mixtures of what they give."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
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
            **kwargs,
        )
        self._set_depthwise(depth_multiplier, depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self.pointwise_initializer = initializers.get(pointwise_initializer)
        self.pointwise_regularizer = regularizers.get(pointwise_regularizer)
        self.pointwise_constraint = constraints.get(pointwise_constraint)

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        self._build_depthwise(channels)
        self.pointwise_kernel = self.add_weight(
            name="pointwise_kernel",
            shape=(*([1] * self.rank), self.depth_multiplier * channels, self.filters),
            initializer=self.pointwise_initializer,
            regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint,
            trainable=True,
        )
        self._build_bias(self.filters)
        self.built = True

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        for kind, functions in (("initializer", initializers), ("regularizer", regularizers), ("constraint", constraints)):
            config[f"depthwise_{kind}"] = config.pop(f"depthwise_{kind}")  # each before its fellow
            config[f"pointwise_{kind}"] = functions.serialize(getattr(self, f"pointwise_{kind}"))
        return config


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class SeparableConv2D(SeparableConv):
    """Of [batch, height, width, channels]. `tf.keras.layers.SeparableConv2D`."""

    rank = 2

    def _convolved(self, inputs: Any) -> Tensor:
        return separable_conv2d(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=self._whole(self.strides),
            padding=self.padding.upper(),
            rate=list(self.dilation_rate),
            data_format=self._layout(),
        )


class SeparableConv1D(SeparableConv):
    """Of [batch, length, channels], as that of images of height 1; `causal` padding besides. TF symbol of this name."""

    rank = 1
    paddings = ("causal",)

    def call(self, inputs: Any) -> Any:
        last = self.data_format == "channels_last"
        axis, strides = (1 if last else 2), self.strides * 2
        outputs = separable_conv2d(
            expand_dims(self._with_past(inputs), axis),
            expand_dims(self.depthwise_kernel, 0),
            expand_dims(self.pointwise_kernel, 0),
            strides=self._whole(strides),
            padding=self._op_padding(),
            rate=[1, *self.dilation_rate],
            data_format="NHWC" if last else "NCHW",
        )
        outputs = squeeze(self._with_bias(outputs), [axis])
        return outputs if self.activation is None else self.activation(outputs)


class DepthwiseConv2D(_DepthwiseConv, Conv2D):
    """One filter or `depth_multiplier` filters for each channel, whose outputs are not mixed. TF symbol of this name."""

    # What it has of a convolution's settings by other names.
    _not_its_own: ClassVar[tuple[str, ...]] = (
        "filters",
        "kernel_initializer",
        "kernel_regularizer",
        "kernel_constraint",
    )

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ):
        super().__init__(
            filters=None,  # type: ignore[arg-type]  # as many as the input's channels give
            kernel_size=kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self._set_depthwise(depth_multiplier, depthwise_initializer, depthwise_regularizer, depthwise_constraint)

    def build(self, input_shape: Any) -> None:
        channels = self._channels(input_shape)
        self._build_depthwise(channels)
        self._build_bias(channels * self.depth_multiplier)
        self.built = True

    def _convolved(self, inputs: Any) -> Tensor:
        return depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=self._whole(self.strides),
            padding=self.padding.upper(),
            rate=list(self.dilation_rate),
            data_format=self._layout(),
        )

    def _output_channels(self, channels: Any) -> Any:
        return None if channels is None else channels * self.depth_multiplier

    def get_config(self) -> dict[str, Any]:
        return {key: value for key, value in super().get_config().items() if key not in self._not_its_own}


SeparableConvolution1D = SeparableConv1D
SeparableConvolution2D = SeparableConv2D
