"""`tf.layers`: convolution over one, two and three dimensions, and its transpose. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.layers.base import InputSpec, Layer, normalized
from tfexp.layers.functional import functional
from tfexp.layers.pooling import checked_data_format, checked_padding
from tfexp.ops.array import shape
from tfexp.ops.array_join import stack
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import convolution
from tfexp.ops.nn_conv_transpose import conv2d_transpose as conv2d_transpose_
from tfexp.ops.nn_conv_transpose import conv3d_transpose as conv3d_transpose_


class _Conv(Layer):
    """activation(inputs * W + b) over `_count` dimensions.

    filters: the number of output channels. kernel_size, strides, dilation_rate: one number or one for each dimension.
    """

    _count: int

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
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.rank, self.filters = self._count, int(filters)
        self.kernel_size = normalized(kernel_size, self._count, "kernel_size")
        self.strides = normalized(strides, self._count, "strides")
        self.padding, self.data_format = checked_padding(padding), checked_data_format(data_format)
        self.dilation_rate = normalized(dilation_rate, self._count, "dilation_rate")
        self.activation, self.use_bias = activation, use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.input_spec = InputSpec(ndim=self._count + 2)

    def _channel_axis(self) -> int:
        return -1 if self.data_format == "channels_last" else 1

    def _channels(self, input_shape: Any) -> int:
        dims = TensorShape(input_shape)
        channels = dims[self._channel_axis()].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self._count + 2, axes={self._channel_axis(): channels})
        return int(channels)

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, channels, self.filters]

    def build(self, input_shape: Any) -> None:
        self.kernel = self.add_weight(
            "kernel",
            self._kernel_shape(self._channels(input_shape)),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self._build_bias()
        self.built = True

    def _build_bias(self) -> None:
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                [self.filters],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )

    def _layout(self) -> str:
        letters = {1: "W", 2: "HW", 3: "DHW"}[self._count]
        return f"N{letters}C" if self.data_format == "channels_last" else f"NC{letters}"

    def _convolved(self, inputs: Any) -> Tensor:
        return convolution(
            inputs,
            self.kernel,
            padding=self.padding.upper(),
            strides=list(self.strides),
            dilation_rate=list(self.dilation_rate),
            data_format=self._layout(),
            name=type(self).__name__,
        )

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        return self._finished(self._convolved(inputs))

    def _finished(self, outputs: Tensor) -> Tensor:
        if self.bias is not None:
            layout = "NHWC" if self.data_format == "channels_last" else "NCHW"
            outputs = bias_add(outputs, self.bias, data_format=layout)
        return outputs if self.activation is None else self.activation(outputs)  # type: ignore[no-any-return]


class Conv1D(_Conv):
    """Convolution of [batch, length, channels]. `tf.layers.Conv1D`."""

    _count = 1


class Conv2D(_Conv):
    """Convolution of [batch, height, width, channels]. `tf.layers.Conv2D`."""

    _count = 2


class Conv3D(_Conv):
    """Convolution of [batch, depth, height, width, channels]. `tf.layers.Conv3D`."""

    _count = 3


class _ConvTranspose(_Conv):
    """The transpose of a convolution: the one whose gradient `_Conv` is. Outputs are about `strides` times as large."""

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
            data_format,
            1,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            trainable,
            name,
            **kwargs,
        )

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, self.filters, channels]

    def _length(self, size: Any, index: int) -> Any:
        """How long the output is in a dimension that is `size` long in the input."""
        stride = self.strides[index]
        length = size * stride
        return length + max(self.kernel_size[index] - stride, 0) if self.padding == "valid" else length

    def _output_shape(self, inputs: Any) -> list[Any]:
        known, dims = inputs.get_shape(), shape(inputs)
        first = 1 if self.data_format == "channels_last" else 2
        batch = dims[0]  # type: ignore[index]
        sizes = [known[first + i].value for i in range(self._count)]
        lengths = [
            self._length(dims[first + i] if size is None else size, i)  # type: ignore[index]
            for i, size in enumerate(sizes)
        ]
        return [batch, *lengths, self.filters] if first == 1 else [batch, self.filters, *lengths]

    def _whole_strides(self) -> list[int]:
        return [1, *self.strides, 1] if self.data_format == "channels_last" else [1, 1, *self.strides]

    _transposed: Callable[..., Tensor]

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Tensor:
        sizes = stack(self._output_shape(inputs))
        if self._count == 2:
            sizes[0]  # type: ignore[index]  # TensorFlow's graphs have this slice, which nothing uses
        outputs = type(self)._transposed(
            inputs,
            self.kernel,
            sizes,
            strides=self._whole_strides(),
            padding=self.padding.upper(),
            data_format=self._layout(),
        )
        outputs.set_shape(self.compute_output_shape(inputs.get_shape()))
        return self._finished(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape)
        first = 1 if self.data_format == "channels_last" else 2
        sizes = [dims[first + i].value for i in range(self._count)]
        lengths = [None if size is None else self._length(size, i) for i, size in enumerate(sizes)]
        return TensorShape([dims[0], *lengths, self.filters] if first == 1 else [dims[0], self.filters, *lengths])


class Conv2DTranspose(_ConvTranspose):
    """The transpose of `Conv2D`. `tf.layers.Conv2DTranspose`."""

    _count = 2
    _transposed = staticmethod(conv2d_transpose_)


class Conv3DTranspose(_ConvTranspose):
    """The transpose of `Conv3D`. `tf.layers.Conv3DTranspose`."""

    _count = 3
    _transposed = staticmethod(conv3d_transpose_)


conv1d = functional(Conv1D, "conv1d")
conv2d = functional(Conv2D, "conv2d")
conv3d = functional(Conv3D, "conv3d")
conv2d_transpose = functional(Conv2DTranspose, "conv2d_transpose")
conv3d_transpose = functional(Conv3DTranspose, "conv3d_transpose")
