"""`tf.keras.layers.ConvLSTM2D`: an LSTM whose products are convolutions. Source: TF 1.15; http://arxiv.org/abs/1506.04214"""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.conv import layout_of
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.recurrent_layer import CellRNN, OfCell
from tfexp.keras.layers.recurrent_lstm import LSTMCell, next_memory
from tfexp.keras.layers.window_args import (
    arranged,
    checked_data_format,
    checked_padding,
    normalized,
    spatial_axes,
    window_count,
)
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_split import split
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import convolution
from tfexp.ops.trackable import NoDependency

_WINDOW = ("kernel_size", "strides", "padding", "data_format", "dilation_rate")


class ConvLSTM2DCell(LSTMCell):
    """The state is [output, memory], images of `filters` channels, as large as the input's convolution.

    The output's own convolution keeps their size. window: `kernel_size`, `strides`, `padding`, `data_format` and
    `dilation_rate`; options: the settings of an LSTM's cell.
    """

    def __init__(self, filters: int, window: dict[str, Any], **options: Any):
        super().__init__(filters, **options)
        self._options = tuple(option for option in self._options if option != "implementation")
        self.filters = filters
        self.kernel_size = normalized(window["kernel_size"], 2, "kernel_size")
        self.strides = normalized(window["strides"], 2, "strides")
        self.padding = checked_padding(window["padding"])
        self.data_format = checked_data_format(window["data_format"])
        self.dilation_rate = normalized(window["dilation_rate"], 2, "dilation_rate")

        # Of the channels, in images and in a sequence of them.
        self._axis = -1 if self.data_format == "channels_last" else -3

    # --- shapes and variables ---------------------------------------------------------------------------------------------

    def lengths(self, dims: Any) -> list[Any]:
        """The height and width of the state for images with these dimensions: numbers, None or scalars."""
        axes = spatial_axes(self.data_format, 2)
        return [
            window_count(dims[axis], self.kernel_size[i], self.strides[i], self.padding, self.dilation_rate[i])
            for i, axis in enumerate(axes)
        ]

    def frame_shape(self, dims: Any) -> TensorShape:
        """The shape of the state of one example, of a batch of images with these dimensions."""
        return TensorShape(arranged(None, self.lengths(dims), self.filters, self.data_format)[1:])

    def build(self, input_shape: Any) -> None:
        dims = as_shape(input_shape).as_list()
        channels = dims[self._axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        blocks = self.gates * self.filters
        self.kernel = self._weight("kernel", (*self.kernel_size, channels, blocks))
        self.recurrent_kernel = self._weight("recurrent_kernel", (*self.kernel_size, self.filters, blocks))
        self.bias = self._weight("bias", (blocks,), self._initial_bias()) if self.use_bias else None
        self.output_size: Any = self.frame_shape(dims)
        self.state_size: Any = NoDependency([self.output_size] * 2)
        self.built = True

    # --- a step -----------------------------------------------------------------------------------------------------------

    def project(self, inputs: Any, training: Any) -> Any:
        """What images, or [time, *images], give the gates."""
        like = inputs if inputs.get_shape().rank == 4 else inputs[0]
        masks = self.get_dropout_mask_for_cell(like, training, self._mask_count())
        projected = self._product(inputs, masks, self.kernel)
        if self.bias is None:
            return projected
        if self.data_format == "channels_last":
            return bias_add(projected, self.bias)
        return projected + reshape(self.bias, [-1, 1, 1])

    def _product(self, x: Any, masks: Any, kernel: Any) -> Any:
        of_state = kernel is not self.kernel
        if not isinstance(masks, list):
            return self._convolved(x if masks is None else x * masks, kernel, of_state)
        parts = split(kernel, len(masks), axis=-1)
        pairs = zip(masks, parts, strict=True)
        return concat([self._convolved(x * mask, part, of_state) for mask, part in pairs], self._axis)

    def _convolved(self, x: Any, kernel: Any, keeps_size: bool) -> Tensor:
        """Images, or those of all steps at once."""
        in_steps = x.get_shape().rank == 5
        images = merged(x) if in_steps else x
        outputs = convolution(
            images,
            kernel,
            padding="SAME" if keeps_size else self.padding.upper(),
            strides=[1, 1] if keeps_size else list(self.strides),
            dilation_rate=[1, 1] if keeps_size else list(self.dilation_rate),
            data_format=layout_of(self.data_format, 2),
        )
        return unmerged(outputs, x) if in_steps else outputs

    def _next(self, gates: Any, memory: Any) -> tuple[Any, Any]:
        return next_memory(gates, memory, self.activation, self.recurrent_activation, self._axis)


def merged(x: Any) -> Tensor:
    """[time, batch, …] -> [time * batch, …]."""
    known = x.get_shape()
    result = reshape(x, concat([[-1], shape(x)[2:]], axis=0))  # type: ignore[index]
    result.set_shape([None, *known.as_list()[2:]])
    return result


def unmerged(x: Any, like: Any) -> Tensor:
    """[time * batch, …] -> [time, batch, …], with time and batch as `like` has them."""
    result = reshape(x, concat([shape(like)[:2], shape(x)[1:]], axis=0))  # type: ignore[index]
    result.set_shape([*like.get_shape().as_list()[:2], *x.get_shape().as_list()[1:]])
    return result


class ConvLSTM2D(CellRNN):
    """ConvLSTM2DCell over [batch, time, height, width, channels], or with the channels third. TF symbol of this name."""

    recurrent_activation = OfCell()
    unit_forget_bias = OfCell()
    filters = OfCell()
    kernel_size = OfCell()
    strides = OfCell()
    padding = OfCell()
    data_format = OfCell()
    dilation_rate = OfCell()

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ):
        window = dict(zip(_WINDOW, (kernel_size, strides, padding, data_format, dilation_rate), strict=True))
        cell = ConvLSTM2DCell(
            filters,
            window,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            unit_forget_bias=unit_forget_bias,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable", True),
        )
        flags = {
            "return_sequences": return_sequences,
            "return_state": kwargs.pop("return_state", False),
            "go_backwards": go_backwards,
            "stateful": stateful,
            "unroll": kwargs.pop("unroll", False),
        }
        super().__init__(cell, flags, activity_regularizer, kwargs)
        self.input_spec = [InputSpec(ndim=5)]

    def compute_output_shape(self, input_shape: Any) -> Any:
        dims = as_shape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()
        frame = self.cell.frame_shape([None, *dims[2:]]).as_list()
        batch, _ = self._batch_and_time(dims)
        output = TensorShape([*(dims[:2] if self.return_sequences else [batch]), *frame])
        return [output, *[TensorShape([batch, *frame])] * 2] if self.return_state else output

    def get_initial_state(self, inputs: Any) -> Any:
        """Zeros as large as the convolution of the images, of a size that only the session may know."""
        known, dims = inputs.get_shape(), shape(inputs)
        batch = dims[1 if self.time_major else 0]  # type: ignore[index]
        sizes = [None, *(dims[i] if known[i].value is None else known[i].value for i in (2, 3, 4))]  # type: ignore[index]
        frame = arranged(batch, self.cell.lengths(sizes), self.cell.filters, self.cell.data_format)
        states = [zeros(stack(frame), dtype=inputs.dtype) for _ in range(2)]
        for state in states:
            state.set_shape([known[1 if self.time_major else 0], *self.cell.state_size[0]])
        return states

    def _sizes(self) -> dict[str, Any]:
        return {name: getattr(self.cell, name) for name in ("filters", *_WINDOW)}
