"""`tf.keras.layers`: the transpose of convolution. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.tensor import Tensor
from tfexp.keras.layers.convolutional import Conv, Conv2D, Conv3D
from tfexp.keras.layers.window_args import arranged, normalized, spatial_axes, transposed_length, with_defaults
from tfexp.ops.array import shape
from tfexp.ops.array_join import stack
from tfexp.ops.nn_conv_transpose import conv2d_transpose, conv3d_transpose


class ConvTranspose(Conv):
    """The one whose gradient `Conv` is. Its outputs are about `strides` times as large as its inputs.

    output_padding: how much longer than the shortest possible the output is, less than the stride; None leaves it to
    `padding`.
    """

    _transposed: Callable[..., Tensor]

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        output_padding: Any = None,
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
            **kwargs,
        )
        self.output_padding = None
        if output_padding is not None:
            self.output_padding = normalized(output_padding, self.rank, "output_padding")
            if any(stride <= more for stride, more in zip(self.strides, self.output_padding, strict=True)):
                raise ValueError(f"Stride {self.strides} must be greater than output padding {self.output_padding}")

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        return (*self.kernel_size, self.filters, channels)

    def _output_length(self, size: Any, index: int) -> Any:
        more = None if self.output_padding is None else self.output_padding[index]
        return transposed_length(
            size, self.kernel_size[index], self.strides[index], self.padding, more, self.dilation_rate[index]
        )

    def call(self, inputs: Any) -> Any:
        known, dims = inputs.get_shape(), shape(inputs)
        batch = dims[0]  # type: ignore[index]
        sizes = [
            dims[axis] if known[axis].value is None else known[axis].value  # type: ignore[index]
            for axis in spatial_axes(self.data_format, self.rank)
        ]
        lengths = [self._output_length(size, i) for i, size in enumerate(sizes)]
        whole = stack(arranged(batch, lengths, self.filters, self.data_format))
        if self.rank == 2:
            whole[0]  # type: ignore[index]  # TensorFlow's graphs have this slice, which nothing uses
        outputs = type(self)._transposed(
            inputs,
            self.kernel,
            whole,
            strides=self._whole(self.strides),
            padding=self.padding.upper(),
            data_format=self._layout(),
            dilations=self._whole(self.dilation_rate),
        )
        outputs.set_shape(self.compute_output_shape(known))
        return self._finished(outputs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output_padding": self.output_padding}


@with_defaults(strides=(1, 1), dilation_rate=(1, 1))
class Conv2DTranspose(ConvTranspose, Conv2D):
    """The transpose of `Conv2D`. `tf.keras.layers.Conv2DTranspose`."""

    _transposed = staticmethod(conv2d_transpose)


class Conv3DTranspose(ConvTranspose, Conv3D):
    """The transpose of `Conv3D`, whose windows have no gaps. `tf.keras.layers.Conv3DTranspose`."""

    _transposed = staticmethod(conv3d_transpose)

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: str = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
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
        super().__init__(
            filters,
            kernel_size,
            strides,
            padding,
            output_padding,
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
            **kwargs,
        )

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["dilation_rate"]
        return config


Convolution2DTranspose = Conv2DTranspose
Convolution3DTranspose = Conv3DTranspose
