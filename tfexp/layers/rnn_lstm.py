"""Long short-term memory (http://www.bioinf.jku.at/publications/older/2604.pdf): cells with a state (c, h).

Source: `tf.nn.rnn_cell.{LSTMStateTuple,BasicLSTMCell,LSTMCell}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.layers.base import InputSpec
from tfexp.layers.rnn_cell import LayerRNNCell, activation_of
from tfexp.ops.array_join import concat
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.array_split import split
from tfexp.ops.clip import clip_by_value
from tfexp.ops.elementwise_binary import add, mul
from tfexp.ops.elementwise_unary import sigmoid
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.partitioned_variables import fixed_size_partitioner


class _CellAndOutput(NamedTuple):
    c: Any
    h: Any


class LSTMStateTuple(_CellAndOutput):
    """The state of an LSTM: the memory c and the output h."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The type of both. TypeError where they differ."""
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


class BasicLSTMCell(LayerRNNCell):
    """An LSTM without peepholes, clipping or projection. `state_is_tuple=False`: the state is c and h side by side."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._forget_bias, self._state_is_tuple = num_units, forget_bias, state_is_tuple
        self._activation = activation_of(activation)

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units) if self._state_is_tuple else 2 * self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def build(self, input_shape: Any) -> None:
        depth, units = self._input_depth(input_shape), self._num_units
        self._kernel = self.add_weight("kernel", [depth + units, 4 * units])
        self._bias = self.add_weight("bias", [4 * units], initializer=zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        one = constant(1, dtype=dtypes.int32)
        c, h = state if self._state_is_tuple else split(value=state, num_or_size_splits=2, axis=one)
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        remembered = mul(c, sigmoid(add(f, forget_bias)))
        new_c = add(remembered, mul(sigmoid(i), self._activation(j)))
        new_h = mul(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1)


class LSTMCell(LayerRNNCell):
    """An LSTM with optional peepholes, clipping of the memory, and a projection of the output to `num_proj` (clipped too).

    num_unit_shards, num_proj_shards: into how many variables the kernels are split.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._use_peepholes, self._cell_clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple
        self._activation = activation_of(activation)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    def build(self, input_shape: Any) -> None:
        depth, units = self._input_depth(input_shape), self._num_units

        def weight(name: str, shape: list[int], shards: int | None = None) -> Any:
            partitioner = fixed_size_partitioner(shards) if shards else None
            return self.add_weight(name, shape, initializer=self._initializer, partitioner=partitioner)

        self._kernel = weight("kernel", [depth + self.output_size, 4 * units], self._num_unit_shards)
        self._bias = self.add_weight("bias", [4 * units], initializer=zeros_initializer(dtype=self.dtype))
        if self._use_peepholes:
            self._w_f_diag = weight("w_f_diag", [units])
            self._w_i_diag = weight("w_i_diag", [units])
            self._w_o_diag = weight("w_o_diag", [units])
        if self._num_proj is not None:
            self._projection = weight("projection/kernel", [units, self._num_proj], self._num_proj_shards)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        if self._state_is_tuple:
            c, h = state
        else:
            c = slice_(state, [0, 0], [-1, self._num_units])
            h = slice_(state, [0, self._num_units], [-1, self.output_size])
        if inputs.get_shape().with_rank(2)[1].value is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        gates = bias_add(matmul(concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = split(value=gates, num_or_size_splits=4, axis=1)
        if self._use_peepholes:
            remembered = sigmoid(f + self._forget_bias + self._w_f_diag * c) * c  # type: ignore[operator]
            new_c = remembered + sigmoid(i + self._w_i_diag * c) * self._activation(j)  # type: ignore[operator]
        else:
            remembered = sigmoid(f + self._forget_bias) * c  # type: ignore[operator]
            new_c = remembered + sigmoid(i) * self._activation(j)  # type: ignore[operator]
        if self._cell_clip is not None:
            new_c = clip_by_value(new_c, -self._cell_clip, self._cell_clip)
        opened = sigmoid(o + self._w_o_diag * new_c) if self._use_peepholes else sigmoid(o)  # type: ignore[operator]
        new_h = opened * self._activation(new_c)  # type: ignore[operator]
        if self._num_proj is not None:
            new_h = matmul(new_h, self._projection)
            if self._proj_clip is not None:
                new_h = clip_by_value(new_h, -self._proj_clip, self._proj_clip)
        return new_h, LSTMStateTuple(new_c, new_h) if self._state_is_tuple else concat([new_c, new_h], 1)
