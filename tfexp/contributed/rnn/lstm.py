"""LSTMs with other gates or other products.

Source: `tf.contrib.rnn.{CoupledInputForgetGateLSTMCell,GLSTMCell,PhasedLSTMCell}`, TF 1.15.
"""

from __future__ import annotations

import math
from typing import Any

from tfexp.contributed.rnn.linear import depth_of, layer_normalized, linear, sharded_variable
from tfexp.graph.custom_gradient import custom_gradient
from tfexp.layers.rnn_cell import RNNCell
from tfexp.layers.rnn_lstm import LSTMStateTuple
from tfexp.ops.array import reshape
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.array_slice import slice as slice_
from tfexp.ops.array_split import split
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.elementwise_division import floormod
from tfexp.ops.elementwise_unary import exp, sigmoid, tanh
from tfexp.ops.initializers import constant_initializer, zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.random import random_uniform
from tfexp.ops.variable_scope import get_variable, get_variable_scope, variable_scope


class CoupledInputForgetGateLSTMCell(RNNCell):
    """An LSTM that takes in as much as it forgets (https://arxiv.org/abs/1503.04069), with LSTMCell's other choices.

    The kernel's rows are in `num_unit_shards` variables, the projection's in `num_proj_shards`.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int = 1,
        num_proj_shards: int = 1,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = tanh,
        reuse: Any = None,
        layer_norm: bool = False,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._initializer = num_units, use_peepholes, initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._num_unit_shards, self._num_proj_shards = num_unit_shards, num_proj_shards
        self._forget_bias, self._state_is_tuple, self._activation = forget_bias, state_is_tuple, activation
        self._layer_norm, self._gain, self._shift = layer_norm, norm_gain, norm_shift

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    @property
    def state_size(self) -> Any:
        sizes = LSTMStateTuple(self._num_units, self.output_size)
        return sizes if self._state_is_tuple else sum(sizes)

    def _norm(self, x: Any, name: str) -> Any:
        return layer_normalized(x, name, self._gain, self._shift) if self._layer_norm else x

    def call(self, inputs: Any, state: Any) -> Any:
        units = self._num_units
        if self._state_is_tuple:
            c, m = state
        else:
            c, m = slice_(state, [0, 0], [-1, units]), slice_(state, [0, units], [-1, self.output_size])
        with variable_scope(get_variable_scope(), initializer=self._initializer, auxiliary_name_scope=False):
            new_c, new_m = self._step(inputs, c, m)
        return new_m, LSTMStateTuple(new_c, new_m) if self._state_is_tuple else concat([new_c, new_m], 1)

    def _step(self, inputs: Any, c: Any, m: Any) -> tuple[Any, Any]:
        units, dtype = self._num_units, inputs.dtype
        kernel = sharded_variable("W", [depth_of(inputs) + self.output_size, 3 * units], dtype, self._num_unit_shards)
        bias = get_variable("B", [3 * units], dtype, initializer=zeros_initializer())
        gates = matmul(concat([inputs, m], 1), kernel)
        if not self._layer_norm:
            gates = bias_add(gates, bias)
        j, f, o = split(value=gates, num_or_size_splits=3, axis=1)
        j, f, o = self._norm(j, "transform"), self._norm(f, "forget"), self._norm(o, "output")
        forget = f + self._forget_bias
        if self._use_peepholes:
            forget = forget + get_variable("W_F_diag", [units], dtype) * c
        kept: Any = sigmoid(forget)
        new_c = self._norm(kept * c + (1 - kept) * self._activation(j), "state")
        if self._use_peepholes:
            o = o + get_variable("W_O_diag", [units], dtype) * new_c
        new_m: Any = sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            new_m = matmul(new_m, sharded_variable("W_P", [units, self._num_proj], dtype, self._num_proj_shards))
            if self._proj_clip is not None:
                new_m = clip_by_value(new_m, -self._proj_clip, self._proj_clip)
        return new_c, new_m


class GLSTMCell(RNNCell):
    """An LSTM whose units see the inputs and outputs of their group alone (https://arxiv.org/abs/1703.10722).

    ValueError where `num_units` or `num_proj` is no multiple of `number_of_groups`; the inputs' depth has to be one too.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        num_proj: int | None = None,
        number_of_groups: int = 1,
        forget_bias: float = 1.0,
        activation: Any = tanh,
        reuse: Any = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer, self._num_proj = num_units, initializer, num_proj
        self._groups, self._forget_bias, self._activation = number_of_groups, forget_bias, activation
        self._per_group("num_units", num_units)
        self._per_group("num_proj", self.output_size)

    def _per_group(self, what: str, size: int) -> int:
        if size % self._groups:
            raise ValueError(f"{what} must be divisible by number_of_groups, but {size} is not by {self._groups}")
        return size // self._groups

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        c, m = state
        units, initializer = self._num_units, self._initializer
        size, width = self._per_group("num_units", units), self._per_group("num_proj", self.output_size)
        depth = self._per_group("the inputs' depth", depth_of(inputs))
        groups = []
        for group in range(self._groups):
            with variable_scope(f"group{group}"):
                seen = [slice_(inputs, [0, group * depth], [-1, depth]), slice_(m, [0, group * width], [-1, width])]
                gates = linear(concat(seen, 1), 4 * size, bias=False, kernel_initializer=initializer)
                groups.append(split(value=gates, num_or_size_splits=4, axis=1))
        i, j, f, o = (
            bias_add(
                concat(list(parts), 1),
                get_variable(f"bias_{gate}", [units], inputs.dtype, initializer=constant_initializer(0.0)),
            )
            for gate, parts in zip("ijfo", zip(*groups, strict=True), strict=True)
        )
        new_c: Any = sigmoid(f + self._forget_bias) * c + sigmoid(i) * tanh(j)  # type: ignore[operator]
        new_m: Any = sigmoid(o) * self._activation(new_c)
        if self._num_proj is not None:
            with variable_scope("projection"):
                new_m = linear(new_m, self._num_proj, bias=False, kernel_initializer=initializer)
        return new_m, LSTMStateTuple(new_c, new_m)


class PhasedLSTMCell(RNNCell):
    """An LSTM whose units open and close periodically in time (https://arxiv.org/abs/1610.09513).

    inputs: (times [batch, 1], values [batch, depth]). Periods start between `period_init_min` and `period_init_max`; a unit
    is open for the part `ratio_on` of its period, and lets through `leak` of the rest.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: Any = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._use_peepholes, self._leak = num_units, use_peepholes, leak
        self._ratio_on, self._trainable_ratio_on = ratio_on, trainable_ratio_on
        self._shortest, self._longest = period_init_min, period_init_max

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> Any:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        times, x = inputs
        units = self._num_units
        with variable_scope("mask_gates"):
            gates = sigmoid(linear([x, h, c] if self._use_peepholes else [x, h], 2 * units))
            input_gate, forget_gate = split(value=gates, num_or_size_splits=2, axis=1)
        with variable_scope("new_input"):
            candidate = tanh(linear([x, h], units))
        new_c: Any = c * forget_gate + input_gate * candidate  # type: ignore[operator]
        with variable_scope("output_gate"):
            output_gate = sigmoid(linear([x, h, new_c] if self._use_peepholes else [x, h], units))
        new_h = tanh(new_c) * output_gate  # type: ignore[operator]
        openness = self._openness(times)
        new_c = openness * new_c + (1 - openness) * c
        new_h = openness * new_h + (1 - openness) * h
        return new_h, LSTMStateTuple(new_c, new_h)

    def _openness(self, times: Any) -> Any:
        """How far each unit is open at these times: [batch, units]. It rises and falls in the first part of its period."""
        shape, dtype = [self._num_units], self.dtype

        def drawn_period(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return exp(random_uniform(shape, math.log(self._shortest), math.log(self._longest), dtype=dtype))

        period = get_variable("period", shape, dtype, initializer=drawn_period)

        def drawn_phase(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return random_uniform(shape, 0.0, period.initial_value, dtype=dtype)

        phase = get_variable("phase", shape, dtype, initializer=drawn_phase)
        ratio = get_variable(
            "ratio_on", shape, dtype, initializer=constant_initializer(self._ratio_on), trainable=self._trainable_ratio_on
        )
        # In the type of the times, which may be large numbers close to each other.
        wide_phase, wide_period = cast(phase, times.dtype), cast(period, times.dtype)
        position = _remainder(reshape(times, [-1, 1]) - wide_phase, wide_period) / wide_period  # type: ignore[operator]
        cycle: Any = cast(position, dtype)
        rising = 2 * cycle / ratio
        opened = where(cycle < ratio, 2 - rising, self._leak * cycle)
        return where(cycle < 0.5 * ratio, rising, opened)


@custom_gradient
def _remainder(x: Any, y: Any) -> Any:
    """x modulo y, with the gradient of x alone."""
    return floormod(x, y), lambda grad: (grad, zeros_like(y))
