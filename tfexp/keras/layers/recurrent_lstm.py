"""`tf.keras.layers.LSTM`: long short-term memory. Source: TF 1.15; http://www.bioinf.jku.at/publications/older/2604.pdf"""

from __future__ import annotations

from typing import Any

from tfexp.keras.layers.recurrent_cell import RecurrentCell
from tfexp.keras.layers.recurrent_layer import CellRNN, OfCell
from tfexp.ops.array_fill import ones
from tfexp.ops.array_join import concat
from tfexp.ops.array_split import split
from tfexp.ops.trackable import NoDependency


class LSTMCell(RecurrentCell):
    """The state is [output, memory]; gates say what of the memory stays, what comes to it, and what of it is given out.

    Blocks of the weights: input gate, forget gate, candidate, output gate. unit_forget_bias: the forget gate's bias starts
    at 1. implementation: with 1 each gate has dropout masks of its own, with 2 all have one in common.
    """

    gates = 4
    recurrent_activation: Any
    unit_forget_bias: bool

    def __init__(
        self,
        units: int,
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
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        **kwargs: Any,
    ):
        options = {
            "activation": activation,
            "recurrent_activation": recurrent_activation,
            "use_bias": use_bias,
            "kernel_initializer": kernel_initializer,
            "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer,
            "unit_forget_bias": unit_forget_bias,
            "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
            "dropout": dropout,
            "recurrent_dropout": recurrent_dropout,
            "implementation": implementation,
        }
        super().__init__(units, options, **kwargs)
        self.state_size = NoDependency([units, units])

    def _initial_bias(self) -> Any:
        return initial_bias(self.bias_initializer, self.units, 1, 2) if self.unit_forget_bias else self.bias_initializer

    def advance(self, projected: Any, states: Any, recurrent: Any, training: Any) -> tuple[Any, list[Any]]:
        output, memory = states
        gates = projected + self._product(output, self._recurrent_masks(output, training), recurrent)
        output, memory = self._next(gates, memory)
        return output, [output, memory]

    def _next(self, gates: Any, memory: Any) -> tuple[Any, Any]:
        return next_memory(gates, memory, self.activation, self.recurrent_activation)


def next_memory(gates: Any, memory: Any, activation: Any, recurrent_activation: Any, axis: int = 1) -> tuple[Any, Any]:
    """(output, memory) after a step, from the sums that go into the four gates, which lie side by side along `axis`."""
    enter, keep, candidate, give = split(gates, 4, axis=axis)
    memory = recurrent_activation(keep) * memory + recurrent_activation(enter) * activation(candidate)
    return recurrent_activation(give) * activation(memory), memory


def initial_bias(initializer: Any, units: int, before: int, after: int) -> Any:
    """An initializer of biases: ones for the block with so many blocks before and after it, else `initializer`."""

    def initial(size: Any, dtype: Any = None, **kwargs: Any) -> Any:
        blocks = [
            initializer([before * units], dtype=dtype),
            ones([units], dtype),
            initializer([after * units], dtype=dtype),
        ]
        return concat(blocks, axis=0)

    return initial


class PeepholeLSTMCell(LSTMCell):
    """An LSTM whose gates also see the memory, each unit its own (https://research.google.com/pubs/archive/43905.pdf)."""

    kernel_initializer: Any
    input_gate_peephole_weights: Any
    forget_gate_peephole_weights: Any
    output_gate_peephole_weights: Any

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        for gate in ("input_gate", "forget_gate", "output_gate"):
            weights = self.add_weight(f"{gate}_peephole_weights", shape=(self.units,), initializer=self.kernel_initializer)
            setattr(self, f"{gate}_peephole_weights", weights)

    def _next(self, gates: Any, memory: Any) -> tuple[Any, Any]:
        enter, keep, candidate, give = split(gates, 4, axis=1)
        entering = self.recurrent_activation(enter + self.input_gate_peephole_weights * memory)
        kept = self.recurrent_activation(keep + self.forget_gate_peephole_weights * memory)
        memory = kept * memory + entering * self.activation(candidate)
        given = self.recurrent_activation(give + self.output_gate_peephole_weights * memory)
        return given * self.activation(memory), memory


class LSTM(CellRNN):
    """LSTMCell over sequences [batch, time, depth]."""

    recurrent_activation = OfCell()
    unit_forget_bias = OfCell()
    implementation = OfCell()

    def __init__(
        self,
        units: int,
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
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ):
        cell = LSTMCell(
            units,
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
            implementation=implementation,
            dtype=kwargs.get("dtype"),
            trainable=kwargs.get("trainable", True),
        )
        flags = {
            "return_sequences": return_sequences,
            "return_state": return_state,
            "go_backwards": go_backwards,
            "stateful": stateful,
            "unroll": unroll,
        }
        super().__init__(cell, flags, activity_regularizer, kwargs)
