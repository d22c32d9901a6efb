"""`tf.keras.layers`: convolution over one, two and three dimensions. Source: TF 1.15."""

from __future__ import annotations

from typing import Any, ClassVar

from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.keras import activations, constraints, initializers, regularizers
from tfexp.keras.backend.conv import layout_of
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.window_args import (
    arranged,
    checked_data_format,
    checked_padding,
    normalized,
    spatial_axes,
    window_count,
    with_defaults,
)
from tfexp.ops.array_pad import pad
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import convolution


class Conv(Layer):
    """activation(inputs * W + b) over `rank` dimensions.

    filters: the number of output channels. kernel_size, strides, dilation_rate: one number or one for each dimension.
    Of each subclass `rank` is how many dimensions there are, `paddings` what `padding` may be besides valid and same, and
    `usual_format` the layout where none is given; None is Keras's setting.
    """

    rank: int
    paddings: ClassVar[tuple[str, ...]] = ()
    usual_format: ClassVar[str | None] = None

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ):
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.filters = filters
        self.kernel_size = normalized(kernel_size, self.rank, "kernel_size")
        self.strides = normalized(strides, self.rank, "strides")
        self.padding = checked_padding(padding, *self.paddings)
        self.data_format = checked_data_format(data_format or self.usual_format)
        self.dilation_rate = normalized(dilation_rate, self.rank, "dilation_rate")
        self.activation, self.use_bias = activations.get(activation), use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    # --- variables ----------------------------------------------------------------------------------------------------

    def _channels(self, input_shape: Any) -> int:
        """How many channels the inputs have: from now on each input must have so many."""
        axis = -1 if self.data_format == "channels_last" else 1
        channels = TensorShape(input_shape)[axis].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return int(channels)

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, channels, self.filters)

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(
            name="kernel",
            shape=self._kernel_shape(self._channels(input_shape)),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            trainable=True,
        )
        self._build_bias(self.filters)
        self.built = True

    def _build_bias(self, length: int) -> None:
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(length,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                trainable=True,
            )

    # --- computation --------------------------------------------------------------------------------------------------

    def _layout(self) -> str:
        return layout_of(self.data_format, self.rank)

    def _whole(self, sizes: tuple[int, ...]) -> list[int]:
        """Strides over a batch: 1 over examples and channels."""
        return arranged(1, sizes, 1, self.data_format)

    def _convolved(self, inputs: Any) -> Tensor:
        return convolution(
            inputs,
            self.kernel,
            padding=self._op_padding(),
            strides=list(self.strides),
            dilation_rate=list(self.dilation_rate),
            data_format=self._layout(),
            name=type(self).__name__,
        )

    def _op_padding(self) -> str:
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def _with_past(self, inputs: Any) -> Any:
        """The inputs; for `causal` with so many zeros before them that no output sees what comes after it."""
        if self.padding != "causal":
            return inputs
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        return pad(inputs, arranged([0, 0], [[before, 0]], [0, 0], self.data_format))

    def call(self, inputs: Any) -> Any:
        return self._finished(self._convolved(self._with_past(inputs)))

    def _with_bias(self, outputs: Tensor) -> Tensor:
        if self.bias is None:
            return outputs
        return bias_add(outputs, self.bias, data_format="NHWC" if self.data_format == "channels_last" else "NCHW")

    def _finished(self, outputs: Tensor) -> Any:
        outputs = self._with_bias(outputs)
        return outputs if self.activation is None else self.activation(outputs)

    def _output_length(self, size: int | None, index: int) -> int | None:
        return window_count(size, self.kernel_size[index], self.strides[index], self.padding, self.dilation_rate[index])

    def _output_channels(self, channels: Any) -> Any:
        return self.filters

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        axes = spatial_axes(self.data_format, self.rank)
        lengths = [self._output_length(dims[axis], i) for i, axis in enumerate(axes)]
        channels = self._output_channels(dims[-1 if self.data_format == "channels_last" else 1])
        return TensorShape(arranged(dims[0], lengths, channels, self.data_format))

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "kernel_constraint": constraints.serialize(self.kernel_constraint),
            "bias_constraint": constraints.serialize(self.bias_constraint),
        }


@with_defaults(data_format="channels_last")
class Conv1D(Conv):
    """Convolution of [batch, length, channels]; `causal` padding besides. `tf.keras.layers.Conv1D`."""

    rank = 1
    paddings = ("causal",)
    usual_format = "channels_last"


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class Conv2D(Conv):
    """Convolution of [batch, height, width, channels]. `tf.keras.layers.Conv2D`."""

    rank = 2


@with_defaults(strides=(1, 1, 1), dilation_rate=(1, 1, 1))
class Conv3D(Conv):
    """Convolution of [batch, depth, height, width, channels]. `tf.keras.layers.Conv3D`."""

    rank = 3


Convolution1D = Conv1D
Convolution2D = Conv2D
Convolution3D = Conv3D
