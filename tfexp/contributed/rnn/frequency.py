"""LSTMs over time and over frequency: the input's depth is cut into bands, each of which sees the one below.

Source: `tf.contrib.rnn.{TimeFreqLSTMCell,GridLSTMCell,BidirectionalGridLSTMCell}`, TF 1.15.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tfexp.contributed.rnn.linear import depth_of, sharded_variable
from tfexp.layers.rnn_cell import RNNCell
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_pad import pad
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.array_split import split
from tfexp.ops.clip import clip_by_value
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.variable_scope import get_variable, get_variable_scope, variable_scope


def _bands(inputs: Any, start: int, depth: int, size: int, skip: int) -> list[Any]:
    """Of inputs [batch, …] the columns from `start` on, `depth` in all, in bands of `size`, one every `skip` columns."""
    count = (depth - size) // skip + 1
    return [slice_(inputs, [0, start + band * skip], [-1, size]) for band in range(count)]


def _clipped(x: Any, limit: float | None) -> Any:
    return x if limit is None else clip_by_value(x, -limit, limit)


def _nothing(inputs: Any, units: int) -> Any:
    batch = inputs.get_shape()[0].value
    return zeros(stack([shape(inputs)[0] if batch is None else batch, units]), inputs.dtype)  # type: ignore[index]


class TimeFreqLSTMCell(RNNCell):
    """One LSTM that goes through the bands of its input, and in time keeps a state for each.

    Source: T. Sainath and B. Li, Modeling Time-Frequency Patterns with LSTM vs. Convolutional Architectures, 2016.

    feature_size: the width of a band, `frequency_skip` columns from one to the next. State and output hold those of all
    bands side by side: with B bands, [batch, 2 * num_units * B] and [batch, num_units * B].
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = 1,
        reuse: Any = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_unit_shards, self._forget_bias = initializer, num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip or 1

    @property
    def state_size(self) -> Any:
        """Of one band."""
        return 2 * self._num_units

    @property
    def output_size(self) -> Any:
        """Of one band with its memory, as TF 1.15 has it."""
        return 2 * self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        depth = depth_of(inputs)
        bands = _bands(inputs, 0, depth, self._feature_size or depth, self._frequency_skip)
        with variable_scope(get_variable_scope(), initializer=self._initializer, auxiliary_name_scope=False):
            return self._through(bands, state)

    def _through(self, bands: list[Any], state: Any) -> tuple[Any, Any]:
        units, dtype = self._num_units, bands[0].dtype
        kernel = sharded_variable("W", [depth_of(bands[0]) + 2 * units, 4 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", [4 * units], dtype, initializer=zeros_initializer())
        peepholes = {gate: get_variable(f"W_{gate}_diag", [units], dtype) for gate in "FIO"} if self._use_peepholes else None
        below, outputs, states = _nothing(bands[0], units), [], []
        for number, band in enumerate(bands):
            c = slice_(state, [0, 2 * number * units], [-1, units])
            m = slice_(state, [0, (2 * number + 1) * units], [-1, units])
            gates = bias_add(matmul(concat([band, m, below], 1), kernel), bias)
            i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
            if peepholes is not None:
                f, i = f + peepholes["F"] * c, i + peepholes["I"] * c  # type: ignore[operator]
            new_c: Any = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)  # type: ignore[operator]
            new_c = _clipped(new_c, self._cell_clip)
            if peepholes is not None:
                o = o + peepholes["O"] * new_c
            below = sigmoid(o) * tanh(new_c)  # type: ignore[operator]
            outputs.append(below)
            states += [new_c, below]
        return concat(outputs, 1), concat(states, 1)


class GridLSTMCell(RNNCell):
    """LSTMs along time and along frequency that see each other's memory and output (https://arxiv.org/abs/1507.01526).

    Bands of `feature_size` columns, `frequency_skip` apart, `num_frequency_blocks` of them: of the whole input, or one
    number for each of the blocks of columns between `start_freqindex_list` and `end_freqindex_list`. The state has
    memory and output of each band (as a tuple, or side by side with `state_is_tuple=False`), the output both ways' outputs.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ):
        super().__init__(_reuse=reuse)
        if not num_frequency_blocks:
            raise ValueError("Must specify num_frequency_blocks")
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._shares, self._couples = share_time_frequency_weights, couple_input_forget_gates
        self._initializer, self._num_unit_shards, self._forget_bias = initializer, num_unit_shards, forget_bias
        self._feature_size, self._frequency_skip = feature_size, frequency_skip
        self._counts = [int(count) for count in num_frequency_blocks]
        self._starts, self._ends = start_freqindex_list, end_freqindex_list
        self._state_is_tuple = state_is_tuple
        self._state_type = self._tuple_of("GridLSTMStateTuple", ["state"])

    def _tuple_of(self, name: str, prefixes: Sequence[str]) -> Any:
        """The type of states: memory and output of each band of each block, for each of the prefixes."""
        places = [(band, block) for block, count in enumerate(self._counts) for band in range(count)]
        return namedtuple(
            name,
            [f"{prefix}_f{band:02}_b{block:02}_{part}" for prefix in prefixes for band, block in places for part in "cm"],
        )

    @property
    def state_tuple_type(self) -> Any:
        return self._state_type

    @property
    def state_size(self) -> Any:
        sizes = [self._num_units] * len(self._state_type._fields)
        return self._state_type(*sizes) if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._num_units * len(self._state_type._fields)

    def call(self, inputs: Any, state: Any) -> Any:
        with variable_scope(get_variable_scope(), initializer=self._initializer, auxiliary_name_scope=False):
            outputs, states = self._through(self._blocks(inputs), state, "state")
        return concat(outputs, 1), self._state_type(*states) if self._state_is_tuple else concat(states, 1)

    def _blocks(self, inputs: Any, offset: int = 0) -> list[list[Any]]:
        """The bands of each block. ValueError where there are other numbers of them than was said.

        offset: the bands start so many columns later, where zeros are put behind, or earlier, with zeros in front.
        """
        depth = depth_of(inputs)
        starts, ends = (list(self._starts or [0]), list(self._ends or [depth]))
        if not len(starts) == len(ends) == len(self._counts):
            raise ValueError(
                f"{self.name}: start_freqindex_list, end_freqindex_list and num_frequency_blocks must be equally long, but "
                f"have {len(starts)}, {len(ends)} and {len(self._counts)} elements"
            )
        if offset:
            inputs = pad(inputs, [[0, 0], [0, offset] if offset > 0 else [-offset, 0]])
        size, skip = self._feature_size or depth, self._frequency_skip or 1
        blocks = []
        for start, end, count in zip(starts, ends, self._counts, strict=True):
            blocks.append(_bands(inputs, start + max(offset, 0), end - start, size, skip))
            if len(blocks[-1]) != count:
                raise ValueError(
                    f"{self.name}: Invalid num_frequency_blocks, requires {len(blocks[-1])} but gets {count}, please check "
                    f"the input size and filter config are correct: columns {start} to {end} in bands of {size}, one every "
                    f"{skip}."
                )
        return blocks

    def _through(self, blocks: list[list[Any]], state: Any, prefix: str) -> tuple[list[Any], list[Any]]:
        outputs: list[Any] = []
        states: list[Any] = []
        for block, bands in enumerate(blocks):
            weights = _GridWeights(self, block, depth_of(bands[0]), bands[0].dtype)
            below_c = below_m = _nothing(bands[0], self._num_units)
            for number, band in enumerate(bands):
                c, m = self._state_of(state, prefix, number, block)
                seen = concat([band, m, below_m], 1)
                below_c, time_c, below_m, time_m = self._cell(weights, seen, below_c, c)
                outputs += [time_m, below_m]
                states += [time_c, time_m]
        return outputs, states

    def _state_of(self, state: Any, prefix: str, band: int, block: int) -> tuple[Any, Any]:
        if self._state_is_tuple:
            c, m = (getattr(state, f"{prefix}_f{band:02}_b{block:02}_{part}") for part in "cm")
            return c, m
        begin, units = 2 * (sum(self._counts[:block]) + band) * self._num_units, self._num_units
        return slice_(state, [0, begin], [-1, units]), slice_(state, [0, begin + units], [-1, units])

    def _cell(self, weights: _GridWeights, seen: Any, freq_c: Any, time_c: Any) -> tuple[Any, Any, Any, Any]:
        """(memory along frequency, along time, output along frequency, along time)."""
        memories, outputs = [], []
        gates = {"freq": weights.product("f", seen)}
        gates["time"] = gates["freq"] if self._shares else weights.product("t", seen)
        for way, before in (("freq", freq_c), ("time", time_c)):
            *first, j, o = gates[way]
            i = sigmoid(weights.with_peepholes(first[0], "I", way, freq_c, time_c))
            if self._couples:
                f: Any = 1 - i  # type: ignore[operator]
            else:
                f = sigmoid(weights.with_peepholes(first[1] + self._forget_bias, "F", way, freq_c, time_c))
            memories.append(_clipped(f * before + i * tanh(j), self._cell_clip))  # type: ignore[operator]
            outputs.append(o)
        freq_new, time_new = memories
        for number, way in enumerate(("freq", "time")):
            gate = sigmoid(weights.with_peepholes(outputs[number], "O", way, freq_new, time_new))
            outputs[number] = gate * tanh(memories[number])  # type: ignore[operator]
        return freq_new, time_new, *outputs


class _GridWeights:
    """The variables of one block."""

    def __init__(self, cell: GridLSTMCell, block: int, depth: int, dtype: Any):
        units, gates = cell._num_units, 3 if cell._couples else 4
        self._gates = gates
        self._kernels: dict[str, tuple[Any, Any]] = {}
        for way in ("f",) if cell._shares else ("f", "t"):
            kernel = sharded_variable(f"W_{way}_{block}", [depth + 2 * units, gates * units], dtype, cell._num_unit_shards)
            bias = get_variable(f"B_{way}_{block}", [gates * units], dtype, initializer=zeros_initializer())
            self._kernels[way] = kernel, bias
        self._peepholes: dict[tuple[str, str], tuple[Any, Any]] = {}
        if cell._use_peepholes:
            for way in ("freq",) if cell._shares else ("freq", "time"):
                for gate in "IO" if cell._couples else "FIO":
                    self._peepholes[gate, way] = tuple(  # type: ignore[assignment]
                        get_variable(f"W_{gate}_diag_{way}{of}_{block}", [units], dtype) for of in "ft"
                    )
            if cell._shares:
                self._peepholes |= {(gate, "time"): pair for (gate, _), pair in self._peepholes.items()}

    def product(self, way: str, seen: Any) -> Any:
        """The gates: in, forget (unless coupled), candidate and out, in the order i, f, j, o."""
        kernel, bias = self._kernels[way]
        parts = split(value=bias_add(matmul(seen, kernel), bias), num_or_size_splits=self._gates, axis=1)
        if self._gates == 3:
            return parts
        i, j, f, o = parts
        return [i, f, j, o]

    def with_peepholes(self, gate: Any, name: str, way: str, freq_c: Any, time_c: Any) -> Any:
        if not self._peepholes:
            return gate
        for_freq, for_time = self._peepholes[name, way]
        return gate + for_freq * freq_c + for_time * time_c


class BidirectionalGridLSTMCell(GridLSTMCell):
    """Two grids, one through the bands upwards, one downwards; `backward_slice_offset` moves the latter's bands.

    The state is always a tuple; the output holds the upward grid's, then the downward one's.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        share_time_frequency_weights: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_unit_shards: int = 1,
        forget_bias: float = 1.0,
        feature_size: int | None = None,
        frequency_skip: int | None = None,
        num_frequency_blocks: Sequence[int] | None = None,
        start_freqindex_list: Sequence[int] | None = None,
        end_freqindex_list: Sequence[int] | None = None,
        couple_input_forget_gates: bool = False,
        backward_slice_offset: int = 0,
        reuse: Any = None,
    ):
        super().__init__(
            num_units,
            use_peepholes,
            share_time_frequency_weights,
            cell_clip,
            initializer,
            num_unit_shards,
            forget_bias,
            feature_size,
            frequency_skip,
            num_frequency_blocks,
            start_freqindex_list,
            end_freqindex_list,
            couple_input_forget_gates,
            True,
            reuse,
        )
        self._offset = backward_slice_offset
        self._state_type = self._tuple_of("BidirectionalGridLSTMStateTuple", ["fwd_state", "bwd_state"])

    def call(self, inputs: Any, state: Any) -> Any:
        upward = self._blocks(inputs)
        downward = self._blocks(inputs, self._offset) if self._offset else upward
        with variable_scope(get_variable_scope(), initializer=self._initializer, auxiliary_name_scope=False):
            with variable_scope("fwd"):
                outputs, states = self._through(upward, state, "fwd_state")
            with variable_scope("bwd"):
                more, following = self._through([bands[::-1] for bands in downward], state, "bwd_state")
        return concat(outputs + more, 1), self._state_type(*states, *following)
