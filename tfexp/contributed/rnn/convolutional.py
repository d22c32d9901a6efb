"""LSTMs whose products are convolutions (https://arxiv.org/abs/1506.04214).

Source: `tf.contrib.rnn.{ConvLSTMCell,Conv1DLSTMCell,Conv2DLSTMCell,Conv3DLSTMCell}`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_lstm import LSTMStateTuple
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.initializers import constant_initializer
from tfexp.ops.nn_conv import conv1d, conv2d, conv3d
from tfexp.ops.variable_scope import get_variable

_CONVOLUTIONS: dict[int, tuple[Callable[..., Any], Any]] = {
    1: (conv1d, 1),
    2: (conv2d, [1, 1, 1, 1]),
    3: (conv3d, [1, 1, 1, 1, 1]),
}


class ConvLSTMCell(RNNCell):
    """An LSTM over [batch, *places, channels] with `conv_ndims` dimensions of places (1, 2 or 3).

    input_shape: of an example's input, its channels last. kernel_shape: the extents of the windows. skip_connection: the
    output has the input's channels besides. ValueError where `input_shape` has other than conv_ndims + 1 dimensions.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ):
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        if conv_ndims not in _CONVOLUTIONS:
            raise ValueError(f"conv_ndims must be 1, 2 or 3, but is {conv_ndims}")
        self._conv_ndims, self._input_shape, self._channels = conv_ndims, list(input_shape), output_channels
        self._kernel_shape, self._use_bias = list(kernel_shape), use_bias
        self._skip_connection, self._forget_bias, self._initializers = skip_connection, forget_bias, initializers

    @property
    def state_size(self) -> Any:
        each = TensorShape([*self._input_shape[:-1], self._channels])
        return LSTMStateTuple(each, each)

    @property
    def output_size(self) -> Any:
        more = self._input_shape[-1] if self._skip_connection else 0
        return TensorShape([*self._input_shape[:-1], self._channels + more])

    def call(self, inputs: Any, state: Any) -> Any:
        memory, hidden = state
        gates = self._convolved(concat([inputs, hidden], axis=self._conv_ndims + 1))
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1)
        new_memory = sigmoid(f + self._forget_bias) * memory + sigmoid(i) * tanh(j)  # type: ignore[operator]
        new_hidden: Any = tanh(new_memory) * sigmoid(o)  # type: ignore[operator]
        output = concat([new_hidden, inputs], axis=-1) if self._skip_connection else new_hidden
        return output, LSTMStateTuple(new_memory, new_hidden)

    def _convolved(self, x: Any) -> Any:
        ndims, size = self._conv_ndims, 4 * self._channels
        if x.get_shape().ndims != ndims + 2:
            raise ValueError(f"Conv linear expects inputs of rank {ndims + 2}, but they have shape {x.get_shape()}")
        channels = x.get_shape()[-1].value
        kernel = get_variable("kernel", [*self._kernel_shape, channels, size], x.dtype, initializer=self._initializers)
        convolution, strides = _CONVOLUTIONS[ndims]
        result = convolution(x, kernel, strides, padding="SAME")
        if not self._use_bias:
            return result
        return result + get_variable("biases", [size], x.dtype, initializer=constant_initializer(0.0))


class Conv1DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over one dimension of places."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over two dimensions of places."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """ConvLSTMCell over three dimensions of places."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any):
        super().__init__(conv_ndims=3, name=name, **kwargs)
