"""Cells whose units each see their own state alone (https://arxiv.org/abs/1803.04831): a vector for a recurrent matrix.

Source: `tf.contrib.rnn.{IndRNNCell,IndyGRUCell,IndyLSTMCell}`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.layers.base import InputSpec
from tfexp.layers.rnn_cell import LayerRNNCell, activation_of
from tfexp.layers.rnn_lstm import LSTMStateTuple
from tfexp.ops.array_split import split
from tfexp.ops.array_tile import tile
from tfexp.ops.elementwise_unary import sigmoid
from tfexp.ops.initializers import constant_initializer, random_uniform_initializer, zeros_initializer
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add


class _IndependentCell(LayerRNNCell):
    def __init__(
        self,
        num_units: int,
        activation: Any,
        kernel_initializer: Any,
        bias_initializer: Any,
        reuse: Any,
        name: str | None,
        dtype: Any,
        **kwargs: Any,
    ):
        super().__init__(_reuse=reuse, name=name, dtype=dtype, **kwargs)
        self.input_spec = InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activation_of(activation)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> Any:
        return self._num_units

    def _weights(
        self, prefix: str, depth: int, count: int, bias_initializer: Any, for_inputs: str = "kernel_w"
    ) -> tuple[Any, Any, Any]:
        """Variables for the inputs, for the state (`kernel_u`) and `bias`, of `count` gates."""
        size = count * self._num_units
        own = self._kernel_initializer
        state_initializer = random_uniform_initializer(-1, 1, dtype=self.dtype) if own is None else own
        return (
            self.add_weight(f"{prefix}{for_inputs}", [depth, size], initializer=own),
            self.add_weight(f"{prefix}kernel_u", [1, size], initializer=state_initializer),
            self.add_weight(f"{prefix}bias", [size], initializer=bias_initializer),
        )

    @staticmethod
    def _gates(inputs: Any, state: Any, weights: tuple[Any, Any, Any], count: int) -> Any:
        for_inputs, for_state, bias = weights
        repeated = state if count == 1 else tile(state, [1, count])
        return bias_add(matmul(inputs, for_inputs) + repeated * for_state, bias)  # type: ignore[operator]


class IndRNNCell(_IndependentCell):
    """output = state = activation(W inputs + u * state + b)."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, None, None, reuse, name, dtype, **kwargs)

    def build(self, input_shape: Any) -> None:
        self._all = self._weights("", self._input_depth(input_shape), 1, zeros_initializer(dtype=self.dtype))
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        output = self._activation(self._gates(inputs, state, self._all, 1))
        return output, output


class IndyGRUCell(_IndependentCell):
    """A gated recurrent unit of independent units."""

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, kernel_initializer, bias_initializer, reuse, name, dtype, **kwargs)

    def build(self, input_shape: Any) -> None:
        depth, bias = self._input_depth(input_shape), self._bias_initializer
        # Gates start near 1, so that the state is kept at first.
        open_gates = constant_initializer(1.0, dtype=self.dtype) if bias is None else bias
        self._for_gates = self._weights("gates/", depth, 2, open_gates)
        nothing = zeros_initializer(dtype=self.dtype) if bias is None else bias
        self._for_candidate = self._weights("candidate/", depth, 1, nothing, "kernel")
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        gates = sigmoid(self._gates(inputs, state, self._for_gates, 2))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        kept = reset * state  # type: ignore[operator]
        candidate = self._activation(self._gates(inputs, kept, self._for_candidate, 1))
        new = update * state + (1 - update) * candidate  # type: ignore[operator]
        return new, new


class IndyLSTMCell(_IndependentCell):
    """An LSTM of independent units (https://arxiv.org/abs/1903.08023)."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ):
        super().__init__(num_units, activation, kernel_initializer, bias_initializer, reuse, name, dtype, **kwargs)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, input_shape: Any) -> None:
        bias = self._bias_initializer
        nothing = zeros_initializer(dtype=self.dtype) if bias is None else bias
        self._all = self._weights("", self._input_depth(input_shape), 4, nothing)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:
        c, h = state
        i, j, f, o = split(value=self._gates(inputs, h, self._all, 4), num_or_size_splits=4, axis=1)
        new_c = c * sigmoid(f + self._forget_bias) + sigmoid(i) * self._activation(j)  # type: ignore[operator]
        new_h = self._activation(new_c) * sigmoid(o)  # type: ignore[operator]
        return new_h, LSTMStateTuple(new_c, new_h)
