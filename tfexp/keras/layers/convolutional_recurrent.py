"""`tf.keras.layers.ConvLSTM2D`: an LSTM whose products are convolutions; `ConvRNN2D`, what takes such cells.

Source: TF 1.15; http://arxiv.org/abs/1506.04214
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.backend.conv import layout_of
from tfexp.keras.engine.input_spec import InputSpec
from tfexp.keras.layers.recurrent import RNN
from tfexp.keras.layers.recurrent_layer import CellRNN, OfCell
from tfexp.keras.layers.recurrent_lstm import LSTMCell, next_memory
from tfexp.keras.layers.recurrent_states import flat_sizes
from tfexp.keras.layers.window_args import (
    arranged,
    checked_data_format,
    checked_padding,
    normalized,
    spatial_axes,
    window_count,
)
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import zeros, zeros_like
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_split import split
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.nn_conv import convolution
from tfexp.ops.reduce import reduce_sum

_WINDOW = ("kernel_size", "strides", "padding", "data_format", "dilation_rate")


class ConvLSTM2DCell(LSTMCell):
    """The state is [output, memory], images of `filters` channels, as large as the input's convolution.

    The output's own convolution keeps their size. options: the settings of an LSTM's cell.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        **options: Any,
    ):
        super().__init__(filters, **options)
        self._options = tuple(option for option in self._options if option != "implementation")
        self.filters = filters
        self.state_size = (filters, filters)
        self.kernel_size = normalized(kernel_size, 2, "kernel_size")
        self.strides = normalized(strides, 2, "strides")
        self.padding = checked_padding(padding)
        self.data_format = checked_data_format(data_format)
        self.dilation_rate = normalized(dilation_rate, 2, "dilation_rate")

        # Of the channels, in images and in a sequence of them.
        self._axis = -1 if self.data_format == "channels_last" else -3

    # --- variables --------------------------------------------------------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        dims = as_shape(input_shape).as_list()
        channels = dims[self._axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        blocks = self.gates * self.filters
        self.kernel_shape = (*self.kernel_size, channels, blocks)
        self.kernel = self._weight("kernel", self.kernel_shape)
        self.recurrent_kernel = self._weight("recurrent_kernel", (*self.kernel_size, self.filters, blocks))
        self.bias = self._weight("bias", (blocks,), self._initial_bias()) if self.use_bias else None
        self.built = True

    # --- a step -----------------------------------------------------------------------------------------------------------

    def project(self, inputs: Any, training: Any) -> Any:
        """What images, or [time, *images], give the gates."""
        like = inputs if inputs.get_shape().rank == 4 else inputs[0]
        masks = self.get_dropout_mask_for_cell(like, training, self._mask_count())
        return self._biased(self._product(inputs, masks, self.kernel), self.bias)

    def _product(self, x: Any, masks: Any, kernel: Any) -> Any:
        of_state = kernel is not self.kernel
        if not isinstance(masks, list):
            return self._convolved(x if masks is None else x * masks, kernel, of_state)
        parts = split(kernel, len(masks), axis=-1)
        pairs = zip(masks, parts, strict=True)
        return concat([self._convolved(x * mask, part, of_state) for mask, part in pairs], self._axis)

    def _convolved(self, x: Any, kernel: Any, of_state: bool) -> Tensor:
        """Images, or those of all steps at once."""
        in_steps = x.get_shape().rank == 5
        images = merged(x) if in_steps else x
        outputs = self.recurrent_conv(images, kernel) if of_state else self.input_conv(images, kernel, padding=self.padding)
        return unmerged(outputs, x) if in_steps else outputs

    def input_conv(self, x: Any, w: Any, b: Any = None, padding: str = "valid") -> Tensor:
        """What goes from images into gates."""
        layout = layout_of(self.data_format, 2)
        outputs = convolution(x, w, padding.upper(), list(self.strides), list(self.dilation_rate), data_format=layout)
        return self._biased(outputs, b)

    def recurrent_conv(self, x: Any, w: Any) -> Tensor:
        """What goes from a state into gates: as large as the state."""
        return convolution(x, w, "SAME", [1, 1], [1, 1], data_format=layout_of(self.data_format, 2))

    def _biased(self, x: Any, bias: Any) -> Any:
        if bias is None:
            return x
        return bias_add(x, bias) if self.data_format == "channels_last" else x + reshape(bias, [-1, 1, 1])

    def _next(self, gates: Any, memory: Any) -> tuple[Any, Any]:
        return next_memory(gates, memory, self.activation, self.recurrent_activation, self._axis)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["units"]
        return {**config, "filters": self.filters, **{name: getattr(self, name) for name in _WINDOW}}


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


class ConvRNN2D(RNN):
    """A convolutional cell over [batch, time, height, width, channels], or with the channels third.

    The cell has `filters`, `kernel_size`, `strides`, `padding`, `data_format`, `dilation_rate`, and, when it is built,
    `kernel_shape` and `input_conv(x, w, b=None, padding)`. A state has the height and width of what that gives.
    """

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ):
        if unroll:
            raise TypeError("Unrolling isn't possible with convolutional RNNs.")
        if isinstance(cell, (list, tuple)):
            raise TypeError(f"Convolutional cells cannot be stacked. Received: cell={cell}")
        super().__init__(cell, return_sequences, return_state, go_backwards, stateful, **kwargs)
        self.input_spec = [InputSpec(ndim=5)]

    def _lengths(self, lengths: Any) -> list[Any]:
        """The height and width of the state for images of this height and width: numbers, None or scalars."""
        of_axes = zip(lengths, self.cell.kernel_size, self.cell.strides, self.cell.dilation_rate, strict=True)
        return [window_count(size, kernel, stride, self.cell.padding, rate) for size, kernel, stride, rate in of_axes]

    def _frame(self, dims: Any) -> list[Any]:
        """The shape of the state of one example, of sequences of images with these dimensions."""
        cell, axes = self.cell, spatial_axes(self.cell.data_format, 2)
        lengths = self._lengths([dims[1 + axis] for axis in axes])
        return arranged(None, lengths, cell.filters, cell.data_format)[1:]

    def _state_sizes(self) -> list[Any]:
        return [self._frame(self.input_spec[0].shape)] * len(flat_sizes(self.cell.state_size))

    def compute_output_shape(self, input_shape: Any) -> Any:
        dims = as_shape(input_shape[0] if isinstance(input_shape, list) else input_shape).as_list()
        frame, states = self._frame(dims), len(flat_sizes(self.cell.state_size))
        output = TensorShape([*dims[: 2 if self.return_sequences else 1], *frame])
        return [output, *[TensorShape([dims[0], *frame])] * states] if self.return_state else output

    def get_initial_state(self, inputs: Any) -> Any:
        """What the cell's convolution makes of zeros."""
        kernel = zeros([*self.cell.kernel_shape[:-1], self.cell.filters], inputs.dtype)
        state = self.cell.input_conv(reduce_sum(zeros_like(inputs), axis=1), kernel, padding=self.cell.padding)
        return [state] * len(flat_sizes(self.cell.state_size))

    def _first_values(self, batch: int) -> Any:
        return [np.zeros((batch, *size), self.dtype or backend.floatx()) for size in self._state_sizes()]


class ConvLSTM2D(CellRNN, ConvRNN2D):
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
        cell = ConvLSTM2DCell(
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
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

    def get_initial_state(self, inputs: Any) -> Any:
        """Zeros as large as the convolution of the images, of a size that only the session may know."""
        known, dims = inputs.get_shape(), shape(inputs)
        sizes = [dims[i] if known[i].value is None else known[i].value for i in range(5)]  # type: ignore[index]
        frame = [dims[0], *self._frame(sizes)]  # type: ignore[index]
        states = [zeros(stack(frame), dtype=inputs.dtype) for _ in range(2)]
        for state in states:
            state.set_shape([known[0], *self._frame(known.as_list())])
        return states

    def _sizes(self) -> dict[str, Any]:
        return {name: getattr(self.cell, name) for name in ("filters", *_WINDOW)}
