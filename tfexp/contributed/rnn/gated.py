"""Cells with other gates than LSTMs and GRUs have.

Source: `tf.contrib.rnn.{UGRNNCell,IntersectionRNNCell,SRUCell,NASCell,MinimalRNNCell,CFNCell}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.contributed.rnn.linear import depth_of, linear
from tfexp.layers.base import InputSpec
from tfexp.layers.rnn_cell import LayerRNNCell, RNNCell, activation_of
from tfexp.layers.rnn_lstm import LSTMStateTuple
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.elementwise_unary import sigmoid, tanh
from tfexp.ops.initializers import constant_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_bias import bias_add
from tfexp.ops.variable_scope import variable_scope


class UGRNNCell(RNNCell):
    """An update gate between the old state and a candidate (https://arxiv.org/abs/1611.09913)."""

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = tanh,
        reuse: Any = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer = num_units, initializer
        self._forget_bias, self._activation = forget_bias, activation

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        both = linear([inputs, state], 2 * self._num_units, kernel_initializer=self._initializer)
        gate, candidate = split(value=both, num_or_size_splits=2, axis=1)
        kept: Any = sigmoid(gate + self._forget_bias)
        new = kept * state + (1.0 - kept) * self._activation(candidate)
        return new, new


class IntersectionRNNCell(RNNCell):
    """Gates between old and new both for the state and for the way from input to output (https://arxiv.org/abs/1611.09913).

    Inputs of another depth than `num_units` are brought to it where `num_in_proj` says so, else a ValueError.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = relu,
        reuse: Any = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units, self._num_in_proj, self._initializer = num_units, num_in_proj, initializer
        self._forget_bias, self._y_activation = forget_bias, y_activation

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> Any:
        units, initializer = self._num_units, self._initializer
        if depth_of(inputs) != units:
            if self._num_in_proj is None:
                raise ValueError(
                    "Must have input size == output size for Intersection RNN, but they are "
                    f"{depth_of(inputs)} and {units}. To fix, num_in_proj should be set to num_units at cell init."
                )
            with variable_scope("in_projection"):
                inputs = linear(inputs, units, kernel_initializer=initializer)
        gates = linear([inputs, state], 4 * units, kernel_initializer=initializer)
        gate_h, h, gate_y, y = split(value=gates, num_or_size_splits=4, axis=1)
        kept_h: Any = sigmoid(gate_h + self._forget_bias)
        kept_y: Any = sigmoid(gate_y + self._forget_bias)
        new_state = kept_h * state + (1.0 - kept_h) * tanh(h)
        return kept_y * inputs + (1.0 - kept_y) * self._y_activation(y), new_state


class _UnitsCell(LayerRNNCell):
    """A layer whose output is as deep as its state."""

    def __init__(self, num_units: int, activation: Any, reuse: Any, name: str | None, dtype: Any, **kwargs: Any):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activation_of(activation)

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units


class SRUCell(_UnitsCell):
    """The simple recurrent unit (https://arxiv.org/abs/1709.02755): only element-wise work depends on the step before."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)

    def build(self, input_shape: Any) -> None:
        units = self._num_units
        self._kernel = self.add_weight("kernel", [self._input_depth(input_shape), 4 * units])
        self._bias = self.add_weight("bias", [2 * units], initializer=constant_initializer(0.0, dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        candidate, forget, reset, passed = split(value=matmul(inputs, self._kernel), num_or_size_splits=4, axis=1)
        gates = sigmoid(bias_add(concat([forget, reset], 1), self._bias))
        f, r = split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * candidate  # type: ignore[operator]
        return r * self._activation(c) + (1.0 - r) * passed, c  # type: ignore[operator]


class NASCell(LayerRNNCell):
    """The cell that architecture search found (https://arxiv.org/abs/1611.01578), a tree over eight pairs of products."""

    def __init__(
        self, num_units: int, num_proj: int | None = None, use_bias: bool = False, reuse: Any = None, **kwargs: Any
    ):
        super().__init__(_reuse=reuse, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        return self._num_proj or self._num_units

    def build(self, input_shape: Any) -> None:
        units = self._num_units
        self._recurrent = self.add_weight("recurrent_kernel", [self.output_size, 8 * units])
        self._kernel = self.add_weight("kernel", [self._input_depth(input_shape), 8 * units])
        if self._use_bias:
            self._bias = self.add_weight("bias", [8 * units], initializer=constant_initializer(0.0, dtype=self.dtype))
        if self._num_proj is not None:
            self._projection = self.add_weight("projection_weights", [units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        c, m = state
        recurrent = matmul(m, self._recurrent)
        if self._use_bias:
            recurrent = bias_add(recurrent, self._bias)
        x = split(value=matmul(inputs, self._kernel), num_or_size_splits=8, axis=1)
        h = split(value=recurrent, num_or_size_splits=8, axis=1)
        leaves: list[Any] = [
            sigmoid(x[0] + h[0]),
            relu(x[1] + h[1]),
            sigmoid(x[2] + h[2]),
            relu(x[3] * h[3]),
            tanh(x[4] + h[4]),
            sigmoid(x[5] + h[5]),
            tanh(x[6] + h[6]),
            sigmoid(x[7] + h[7]),
        ]
        remembered: Any = tanh(tanh(leaves[0] * leaves[1]) + c)
        new_c = remembered * tanh(leaves[2] + leaves[3])
        gate: Any = tanh(tanh(leaves[4] * leaves[5]) + sigmoid(leaves[6] + leaves[7]))
        new_m = tanh(new_c * gate)
        if self._num_proj is not None:
            new_m = matmul(new_m, self._projection)
        return new_m, LSTMStateTuple(new_c, new_m)


class _KerasLikeCell(_UnitsCell):
    """A layer whose initializers are given as such or, as in Keras, by name."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "ones",
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(units, activation, None, name, dtype, **kwargs)
        self._kernel_initializer = _initializer_of(kernel_initializer)
        self._bias_initializer = _initializer_of(bias_initializer)


def _initializer_of(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    from tfexp.api import initializers

    if given not in initializers.__all__:
        raise ValueError(f"Unknown initializer: {given}")
    return getattr(initializers, given)()


class MinimalRNNCell(_KerasLikeCell):
    """One gate between the state and a function of the inputs alone (https://arxiv.org/abs/1711.06788)."""

    def build(self, input_shape: Any) -> None:
        units, initializer = self._num_units, self._kernel_initializer
        self._kernel = self.add_weight("kernel", [self._input_depth(input_shape), units], initializer=initializer)
        self._recurrent = self.add_weight("recurrent_kernel", [2 * units, units], initializer=initializer)
        self._bias = self.add_weight("bias", [units], initializer=self._bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        seen: Any = self._activation(matmul(inputs, self._kernel))
        kept: Any = sigmoid(bias_add(matmul(concat([seen, state], 1), self._recurrent), self._bias))
        new = kept * state + (1.0 - kept) * seen
        return new, new


class CFNCell(_KerasLikeCell):
    """The chaos-free network (https://arxiv.org/abs/1612.06212): without inputs, its states die away."""

    def build(self, input_shape: Any) -> None:
        units, initializer = self._num_units, self._kernel_initializer
        self._kernel = self.add_weight("kernel", [self._input_depth(input_shape), 3 * units], initializer=initializer)
        self._recurrent = self.add_weight("recurrent_kernel", [units, 2 * units], initializer=initializer)
        self._bias = self.add_weight("bias", [2 * units], initializer=self._bias_initializer)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        units = self._num_units
        gates, candidate = split(matmul(inputs, self._kernel), [2 * units, units], 1)
        gates = gates + bias_add(matmul(state, self._recurrent), self._bias)  # type: ignore[operator]
        horizontal, vertical = split(value=sigmoid(gates), num_or_size_splits=2, axis=1)
        new = horizontal * self._activation(state) + vertical * self._activation(candidate)  # type: ignore[operator]
        return new, new
