"""cuDNN's networks as layers: stacked, in one or both directions, their numbers in one variable. They run anywhere here.

A checkpoint has, besides that variable, the weights as those of cells that compute the same (`CudnnCompatibleLSTMCell` and
others), so that networks of such cells read it and are read. Source: `tf.contrib.cudnn_rnn`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from tfexp.contributed.rnn.cudnn_weights import GRU, LSTM, RELU, TANH, Layout, Mode
from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import add_to_collection
from tfexp.layers.base import InputSpec, Layer
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_dynamic import bidirectional_dynamic_rnn, dynamic_rnn
from tfexp.ops import state as state_ops
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import concat, stack, unstack
from tfexp.ops.array_order import transpose
from tfexp.ops.initializers import constant_initializer, glorot_uniform_initializer
from tfexp.ops.nn_dropout import dropout as drop
from tfexp.ops.saveable_object import SaveableObject, SaveSpec

_DIRECTIONS = {"unidirectional": 1, "bidirectional": 2}
_INPUT_MODES = ("linear_input", "skip_input", "auto_select")


class _Step(RNNCell):
    """A cell of weights that are there already."""

    def __init__(self, mode: Mode, units: int, weights: tuple[Any, Any], dtype: Any):
        super().__init__(dtype=dtype)
        self._mode, self._units, self._weights = mode, units, weights

    @property
    def state_size(self) -> Any:
        return (self._units,) * self._mode.states

    @property
    def output_size(self) -> Any:
        return self._units

    def call(self, inputs: Any, state: Any) -> Any:
        new = self._mode.step(inputs, list(state), *self._weights)
        return new[0], tuple(new)


class _Saveable(SaveableObject):
    """The variable, as the weights of cells below `prefix`."""

    def __init__(self, variable: Any, layout: Layout, prefix: str, name: str):
        self._variable, self._layout = variable, layout
        parts = zip(layout.as_cells(variable.read_value()), layout.names(), strict=True)
        super().__init__(variable, [SaveSpec(part, "", f"{prefix}/{key}") for part, key in parts], name)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Any) -> Any:
        return state_ops.assign(self._variable, self._layout.of_cells(restored_tensors)).op


class _CudnnRNN(Layer):
    """A network of `num_layers` layers of `num_units` units, over sequences [time, batch, depth].

    call(inputs, initial_state=None, sequence_lengths=None, time_major=True, training=True) gives the outputs [time, batch,
    directions * num_units] of the last layer and a tuple of the last states [num_layers * directions, batch, num_units],
    such as initial_state is: (h, c) of an LSTM, (h,) of others, zeros by default. With sequence_lengths [batch], outputs
    past them are 0, and with time_major=False the first two axes of all are the other way round. dropout: the probability
    with which an input of a layer but the first is 0, in training. ValueError for another direction, input mode or type, and
    where depth is not known; NotImplementedError for inputs that skip the first layer's weights.
    """

    _mode: ClassVar[Mode]

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = "linear_input",
        direction: str = "unidirectional",
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ):
        super().__init__(dtype=dtype, name=name)
        if direction not in _DIRECTIONS:
            raise ValueError(f"Invalid direction: {direction}, expecting unidirectional or bidirectional")
        if input_mode not in _INPUT_MODES:
            raise ValueError(f"Invalid input_mode: {input_mode}, expect one of ({', '.join(_INPUT_MODES)})")
        if dtypes.as_dtype(dtype) not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(f"Only support float16, float32, float64, provided {dtype}")
        self._num_layers, self._num_units, self._input_mode, self._direction = num_layers, num_units, input_mode, direction
        self._dropout, self._seed = dropout, seed
        self._kernel_initializer = kernel_initializer or glorot_uniform_initializer(seed, dtype=dtype)
        self._bias_initializer = bias_initializer or constant_initializer(0.0, dtype=dtype)
        self._layout: Layout | None = None

    @property
    def num_layers(self) -> int:
        return self._num_layers

    @property
    def num_units(self) -> int:
        return self._num_units

    @property
    def input_mode(self) -> str:
        return self._input_mode

    @property
    def direction(self) -> str:
        return self._direction

    @property
    def num_dirs(self) -> int:
        return _DIRECTIONS[self._direction]

    @property
    def rnn_mode(self) -> str:
        return self._mode.name

    @property
    def input_size(self) -> int:
        """ValueError before the layer is built."""
        if self._layout is None:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._layout.inputs

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """RuntimeError before the layer is built."""
        return self._built("canonical_weight_shapes").weight_shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """RuntimeError before the layer is built."""
        return self._built("canonical_bias_shapes").bias_shapes

    @property
    def saveable(self) -> SaveableObject:
        """The weights as a checkpoint keeps them. RuntimeError before the layer is built."""
        self._built("saveable")
        return self._saveable

    def _built(self, what: str) -> Layout:
        if self._layout is None:
            raise RuntimeError(f"{type(self).__name__}.{what} invoked before input shape is known")
        return self._layout

    def state_shape(self, batch_size: int) -> Any:
        """Of each of the states."""
        return ([self._num_layers * self.num_dirs, batch_size, self._num_units],) * self._mode.states

    def build(self, input_shape: Any) -> None:
        known = TensorShape(input_shape)
        if known.ndims != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {known.ndims}")
        depth = known[-1].value
        if depth is None:
            raise ValueError("The last dimension of the inputs to `CudnnRNN` should be defined. Found `None`.")
        if self._input_mode == "skip_input" or (self._input_mode == "auto_select" and depth == self._num_units):
            raise NotImplementedError(f"{self.name}: every layer has weights of its inputs here: use linear_input")
        self.input_spec = InputSpec(ndim=3, axes={-1: depth})
        layout = Layout(self._mode, self._num_layers, self.num_dirs, self._num_units, depth)

        def initial(dims: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            weights = [self._kernel_initializer(one, dtype=self.dtype) for one in layout.weight_shapes]
            return layout.flat(weights, [self._bias_initializer(one, dtype=self.dtype) for one in layout.bias_shapes])

        self.kernel = self.add_weight("opaque_kernel", [layout.size], dtype=self.dtype, initializer=initial)
        self._layout = layout
        own = self.kernel.op.name
        self._saveable = _Saveable(self.kernel, layout, own.rpartition("/")[0], f"{own}_saveable")
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)
        self.built = True

    def call(
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> tuple[Any, tuple[Any, ...]]:
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(f"Invalid initial_state type: {initial_state}, expecting tuple.")
        # As in 1.15, sequences without lengths are always time-major.
        turned = sequence_lengths is not None and not time_major
        values: Any = _turned(convert_to_tensor(inputs, dtype=self.dtype), turned)
        if initial_state is None:
            dims = stack([self._num_layers * self.num_dirs, shape(values)[1], self._num_units])  # type: ignore[index]
            starts = [zeros(dims, self.dtype)] * self._mode.states
        else:
            starts = [_turned(convert_to_tensor(one, dtype=self.dtype), turned) for one in initial_state]
        if len(starts) != self._mode.states:
            raise ValueError(f"initial_state has {len(starts)} tensors, but {self.rnn_mode} has {self._mode.states}")
        each = list(zip(*(unstack(one, self._num_layers * self.num_dirs) for one in starts), strict=True))
        cells = [
            _Step(self._mode, self._num_units, weights, self.dtype) for weights in self._built("call").networks(self.kernel)
        ]
        ends: list[Any] = []
        for i in range(0, len(cells), self.num_dirs):
            if i and training and self._dropout:
                values = drop(values, rate=self._dropout, seed=self._seed)
            values, last = _layer(cells[i : i + self.num_dirs], each[i : i + self.num_dirs], values, sequence_lengths)
            ends += last
        states = tuple(_turned(stack(one), turned) for one in zip(*ends, strict=True))
        return _turned(values, turned), states


def _turned(value: Any, turned: bool) -> Any:
    return transpose(value, [1, 0, 2]) if turned else value


def _layer(cells: Sequence[Any], starts: Sequence[Any], values: Any, lengths: Any) -> tuple[Any, list[Any]]:
    """(the outputs, the last states of each direction)."""
    if len(cells) == 1:
        outputs, end = dynamic_rnn(cells[0], values, lengths, starts[0], time_major=True)
        return outputs, [end]
    both, ends = bidirectional_dynamic_rnn(cells[0], cells[1], values, lengths, starts[0], starts[1], time_major=True)
    return concat(both, 2), list(ends)


class CudnnLSTM(_CudnnRNN):
    __doc__ = f"LSTMs. {_CudnnRNN.__doc__}"
    _mode = LSTM


class CudnnGRU(_CudnnRNN):
    __doc__ = f"GRUs, whose reset gate comes after the product with the state. {_CudnnRNN.__doc__}"
    _mode = GRU


class CudnnRNNTanh(_CudnnRNN):
    __doc__ = f"Plain recurrence through tanh. {_CudnnRNN.__doc__}"
    _mode = TANH


class CudnnRNNRelu(_CudnnRNN):
    __doc__ = f"Plain recurrence through relu. {_CudnnRNN.__doc__}"
    _mode = RELU
