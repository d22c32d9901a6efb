"""`tf.keras.layers.GRU`: gated recurrent units. Source: TF 1.15; https://arxiv.org/abs/1406.1078
(with `reset_after` its first version)."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.keras.layers.recurrent_cell import RecurrentCell
from tfexp.keras.layers.recurrent_layer import CellRNN, OfCell
from tfexp.ops.array_split import split
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_bias import bias_add


class GRUCell(RecurrentCell):
    """output = state = update * state + (1 - update) * candidate, where the candidate sees what the reset gate lets through.

    Blocks of the weights: update gate, reset gate, candidate. reset_after: the reset gate works on what the recurrent
    weights make of the state, not on the state before them; the bias is then [2, 3 * units], the second row for the
    recurrent part. implementation: with 1 each gate has dropout masks of its own, with 2 all have one in common.
    """

    gates = 3
    recurrent_activation: Any
    reset_after: bool

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        recurrent_regularizer: Any = None,
        bias_regularizer: Any = None,
        kernel_constraint: Any = None,
        recurrent_constraint: Any = None,
        bias_constraint: Any = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        reset_after: bool = False,
        **kwargs: Any,
    ):
        options = {
            "activation": activation,
            "recurrent_activation": recurrent_activation,
            "use_bias": use_bias,
            "kernel_initializer": kernel_initializer,
            "recurrent_initializer": recurrent_initializer,
            "bias_initializer": bias_initializer,
            "kernel_regularizer": kernel_regularizer,
            "recurrent_regularizer": recurrent_regularizer,
            "bias_regularizer": bias_regularizer,
            "kernel_constraint": kernel_constraint,
            "recurrent_constraint": recurrent_constraint,
            "bias_constraint": bias_constraint,
            "dropout": dropout,
            "recurrent_dropout": recurrent_dropout,
            "implementation": implementation,
            "reset_after": reset_after,
        }
        super().__init__(units, options, **kwargs)

    def _bias_shape(self) -> tuple[int, ...]:
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def _projected_bias(self) -> Any:
        return self.bias[0] if self.use_bias and self.reset_after else self.bias

    def recurrent_weights(self) -> Any:
        kernel = convert_to_tensor(self.recurrent_kernel)
        if self.reset_after:
            return kernel, self.bias[1] if self.use_bias else None
        return kernel[:, : 2 * self.units], kernel[:, 2 * self.units :]

    def advance(self, projected: Any, states: Any, recurrent: Any, training: Any) -> tuple[Any, list[Any]]:
        state = states[0] if isinstance(states, (list, tuple)) else states
        masks = self._recurrent_masks(state, training)
        if masks is not None and not isinstance(masks, list):
            state, masks = state * masks, None
        if self.reset_after:
            kernel, bias = recurrent
            inner = self._product(state, masks, kernel)
            inner = inner if bias is None else bias_add(inner, bias)
            output = next_after_reset(projected, inner, state, self.activation, self.recurrent_activation)
            return output, [output]
        of_gates, of_candidate = recurrent
        for_update, for_reset, for_candidate = split(projected, 3, axis=1)
        inner = self._product(state, None if masks is None else masks[:2], of_gates)
        from_update, from_reset = split(inner, 2, axis=1)
        update = self.recurrent_activation(for_update + from_update)
        reset = self.recurrent_activation(for_reset + from_reset)
        through = reset * (state if masks is None else state * masks[2])
        candidate = self.activation(for_candidate + matmul(through, of_candidate))
        output = update * state + (1 - update) * candidate
        return output, [output]


def next_after_reset(projected: Any, inner: Any, state: Any, activation: Any, recurrent_activation: Any) -> Any:
    """The state after a step, from what the input (`projected`) and the state (`inner`) give the three gates."""
    for_update, for_reset, for_candidate = split(projected, 3, axis=1)
    from_update, from_reset, from_candidate = split(inner, 3, axis=1)
    update = recurrent_activation(for_update + from_update)
    reset = recurrent_activation(for_reset + from_reset)
    candidate = activation(for_candidate + reset * from_candidate)
    return update * state + (1 - update) * candidate


class GRU(CellRNN):
    """GRUCell over sequences [batch, time, depth]."""

    recurrent_activation = OfCell()
    implementation = OfCell()
    reset_after = OfCell()

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        bias_initializer: Any = "zeros",
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
        reset_after: bool = False,
        **kwargs: Any,
    ):
        cell = GRUCell(
            units,
            activation=activation,
            recurrent_activation=recurrent_activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint,
            dropout=dropout,
            recurrent_dropout=recurrent_dropout,
            implementation=implementation,
            reset_after=reset_after,
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
