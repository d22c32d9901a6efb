"""Cells that are one op, and an LSTM over whole sequences that is one op.

Source: `tf.contrib.rnn.{LSTMBlockCell,LSTMBlockWrapper,LSTMBlockFusedCell,GRUBlockCell,GRUBlockCellV2}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.layers.base import InputSpec, Layer
from tfexp.layers.rnn_cell import LayerRNNCell
from tfexp.layers.rnn_lstm import LSTMStateTuple
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_join import concat, stack, unstack
from tfexp.ops.array_mask import sequence_mask
from tfexp.ops.array_order import transpose
from tfexp.ops.block_gru import gru_block_cell
from tfexp.ops.block_lstm import block_lstm
from tfexp.ops.block_lstm_cell import lstm_block_cell
from tfexp.ops.cast import cast
from tfexp.ops.initializers import constant_initializer
from tfexp.ops.reduce import reduce_max


def _depth(cell: Layer, input_shape: Any) -> int:
    depth = TensorShape(input_shape)[-1].value
    if depth is None:
        raise ValueError(f"{cell.name}: the last dimension of its inputs has to be known, but their shape is {input_shape}")
    return int(depth)


class _LSTMWeights:
    """The variables of the LSTM ops, under the names that LSTMCell gives them."""

    def __init__(self, layer: Layer, depth: int, units: int, use_peephole: bool):
        self._units = units
        self._kernel = layer.add_weight("kernel", [depth + units, 4 * units])
        nothing = constant_initializer(0.0, dtype=layer.dtype)
        self._bias = layer.add_weight("bias", [4 * units], initializer=nothing)
        self._peepholes: list[Any] = []
        if use_peephole:
            self._peepholes += [layer.add_weight(f"w_{gate}_diag", [units]) for gate in ("i", "f", "o")]

    def as_inputs(self, dtype: Any) -> list[Any]:
        """In the order of the ops' inputs."""
        return [self._kernel, *(self._peepholes or [zeros([self._units], dtype)] * 3), self._bias]


class LSTMBlockCell(LayerRNNCell):
    """The LSTM of LSTMCell, with optional clipping of the memory and peepholes, as one op and another for its gradient."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        dtype: Any = None,
        reuse: Any = None,
        name: str | None = "lstm_cell",
    ):
        super().__init__(_reuse=reuse, dtype=dtype, name=name)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._forget_bias, self._use_peephole = num_units, forget_bias, use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        self._weights = _LSTMWeights(self, _depth(self, input_shape), self._num_units, self._use_peephole)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        if len(state) != 2:
            raise ValueError(f"{self.name}: expecting state to be a tuple with length 2, but it is {state}")
        _, c, _, _, _, _, h = lstm_block_cell(
            inputs,
            *state,
            *self._weights.as_inputs(inputs.dtype),
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return h, LSTMStateTuple(c, h)


class LSTMBlockWrapper(Layer):
    """Base of LSTMs over whole sequences: a subclass computes all steps in `_call_cell`.

    Calling it: inputs [time, batch, depth] (or a list of [batch, depth]) give (outputs [time, batch, num_units] or such a
    list, the final LSTMStateTuple). initial_state: (memory, output), else zeros of type `dtype`; one of the two is needed.
    sequence_length: [batch]; past an example's length its outputs are zero, and its state is that of its last step.
    """

    @property
    def num_units(self) -> int:
        """The depth of the memory and of the output."""
        raise NotImplementedError

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> tuple[Any, Any]:
        """(memories, outputs) of all steps: [time, batch, num_units] each."""
        raise NotImplementedError

    def call(self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None) -> Any:
        in_steps = isinstance(inputs, list)
        if in_steps:
            inputs = stack(inputs)
        known = inputs.get_shape()
        if known.ndims != 3:
            raise ValueError(f"{self.name}: expecting inputs [time, batch, depth], but their shape is {known}")
        if known[2].value is None:
            raise ValueError(f"{self.name}: expecting the last dimension of inputs to be known, but their shape is {known}")
        steps = known[0].value if known[0].value is not None else shape(inputs)[0]  # type: ignore[index]
        batch = known[1].value if known[1].value is not None else shape(inputs)[1]  # type: ignore[index]
        memory, output, dtype = self._start(initial_state, dtype, batch)
        if sequence_length is not None:
            sequence_length = convert_to_tensor(sequence_length)
        memories, outputs = self._call_cell(inputs, memory, output, dtype, sequence_length)
        if sequence_length is None:
            final = LSTMStateTuple(memories[-1], outputs[-1])
        else:
            mask = transpose(sequence_mask(sequence_length, steps, dtype=dtype), [1, 0])
            outputs = outputs * expand_dims(mask, -1)
            final = LSTMStateTuple(
                *(
                    _state_after(sequence_length, concat([expand_dims(start, 0), states], 0), batch)
                    for start, states in ((memory, memories), (output, outputs))
                )
            )
        return (unstack(outputs) if in_steps else outputs), final

    def _start(self, initial_state: Any, dtype: Any, batch: Any) -> tuple[Any, Any, Any]:
        if initial_state is None:
            if dtype is None:
                raise ValueError(f"{self.name}: either initial_state or dtype needs to be specified")
            nothing = zeros(stack([batch, self.num_units]), dtype)
            return nothing, nothing, dtype
        if len(initial_state) != 2:
            raise ValueError(
                f"{self.name}: expecting initial_state to be a tuple with length 2 or None, but it is {initial_state}"
            )
        memory, output = (convert_to_tensor(state) for state in initial_state)
        return memory, output, memory.dtype


def _state_after(lengths: Any, states: Any, batch: Any) -> Any:
    """Of states [1 + time, batch, depth] those after each example's last step: [batch, depth]."""
    places = stack([lengths, range_(cast(batch, lengths.dtype))], axis=1)
    return gather_nd(states, places)


class LSTMBlockFusedCell(LSTMBlockWrapper):
    """The LSTM of LSTMBlockCell over whole sequences as one op."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        cell_clip: float | None = None,
        use_peephole: bool = False,
        reuse: Any = None,
        dtype: Any = None,
        name: str | None = "lstm_fused_cell",
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self._num_units, self._forget_bias, self._use_peephole = num_units, forget_bias, use_peephole
        self._cell_clip = -1 if cell_clip is None else cell_clip

    @property
    def num_units(self) -> int:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        of_a_step = input_shape[0] if isinstance(input_shape, list) else input_shape
        self._weights = _LSTMWeights(self, _depth(self, of_a_step), self._num_units, self._use_peephole)
        self.built = True

    def _call_cell(
        self, inputs: Any, initial_cell_state: Any, initial_output: Any, dtype: Any, sequence_length: Any
    ) -> tuple[Any, Any]:
        if sequence_length is None:
            steps = inputs.get_shape()[0].value
            longest = constant(steps, dtypes.int64) if steps is not None else cast(shape(inputs)[0], dtypes.int64)  # type: ignore[index]
        else:
            longest = cast(reduce_max(sequence_length), dtypes.int64)
        _, memories, _, _, _, _, outputs = block_lstm(
            longest,
            inputs,
            initial_cell_state,
            initial_output,
            *self._weights.as_inputs(dtype),
            forget_bias=self._forget_bias,
            cell_clip=self._cell_clip,
            use_peephole=self._use_peephole,
        )
        return memories, outputs


class GRUBlockCell(LayerRNNCell):
    """A gated recurrent unit as one op and another for its gradient. `cell_size` is the older name of `num_units`."""

    _NAMES = ("w_ru", "b_ru", "w_c", "b_c")

    def __init__(
        self, num_units: int | None = None, cell_size: int | None = None, reuse: Any = None, name: str | None = "gru_cell"
    ):
        super().__init__(_reuse=reuse, name=name)
        if (num_units is None) == (cell_size is None):
            raise ValueError(
                f"{self.name}: exactly one of num_units and cell_size is to be given; they are {num_units} and {cell_size}"
            )
        self._cell_size: Any = cell_size if num_units is None else num_units
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        return self._cell_size

    @property
    def output_size(self) -> Any:
        return self._cell_size

    def build(self, input_shape: Any) -> None:
        units, depth = self._cell_size, _depth(self, input_shape) + self._cell_size
        gate_kernel, gate_bias, candidate_kernel, candidate_bias = self._NAMES
        self._gate_kernel = self.add_weight(gate_kernel, [depth, 2 * units])
        # Gates start near 1, so that the state is kept at first.
        self._gate_bias = self.add_weight(gate_bias, [2 * units], initializer=constant_initializer(1.0))
        self._candidate_kernel = self.add_weight(candidate_kernel, [depth, units])
        self._candidate_bias = self.add_weight(candidate_bias, [units], initializer=constant_initializer(0.0))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        weights = (self._gate_kernel, self._candidate_kernel, self._gate_bias, self._candidate_bias)
        _, _, _, new = gru_block_cell(inputs, state, *weights)
        return new, new


class GRUBlockCellV2(GRUBlockCell):
    """GRUBlockCell, its variables named as GRUCell's, so that either reads the other's checkpoints."""

    _NAMES = ("gates/kernel", "gates/bias", "candidate/kernel", "candidate/bias")
