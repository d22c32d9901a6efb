"""Recurrent networks that run forwards or backwards. Source: `tf.contrib.recurrent`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import nest
from tfexp.layers.rnn_dynamic import bidirectional_dynamic_rnn, dynamic_rnn
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_mask import sequence_mask, where_v2
from tfexp.ops.array_order import reverse as reverse_
from tfexp.ops.array_order import transpose
from tfexp.ops.variable_scope import variable_scope


def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`tf.nn.dynamic_rnn`, or with `reverse` from the last step to the first, the outputs being in the order of the inputs.

    Backwards it begins with what is beyond an example's length, the outputs of which are zero, too. use_tpu: not used.
    """
    if not reverse:
        return dynamic_rnn(cell, inputs, sequence_length, initial_state, dtype, time_major=time_major, scope=scope)
    time = 0 if time_major else 1

    def turned(tensor: Any) -> Any:
        return reverse_(tensor, [time])

    def own_steps(outputs: Any) -> Any:
        if sequence_length is None:
            return outputs
        mask: Any = sequence_mask(sequence_length, shape(outputs)[time])  # type: ignore[index]
        mask = transpose(mask) if time_major else mask
        while mask.shape.ndims < outputs.shape.ndims:
            mask = expand_dims(mask, -1)
        return where_v2(mask, outputs, zeros_like(outputs))

    outputs, state = dynamic_rnn(
        cell, nest.map_structure(turned, inputs), None, initial_state, dtype, time_major=time_major, scope=scope
    )
    return nest.map_structure(lambda tensor: own_steps(turned(tensor)), outputs), state


def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """`tf.nn.bidirectional_dynamic_rnn`; with `fast_reverse` backwards as `functional_rnn` goes. use_tpu: not used."""
    if not fast_reverse:
        return bidirectional_dynamic_rnn(
            cell_fw,
            cell_bw,
            inputs,
            sequence_length,
            initial_state_fw,
            initial_state_bw,
            dtype,
            time_major=time_major,
            scope=scope,
        )
    with variable_scope(scope or "bidirectional_rnn"):
        forwards, backwards = (
            functional_rnn(cell, inputs, sequence_length, state, dtype, time_major, name, use_tpu, name == "bw")
            for name, cell, state in (("fw", cell_fw, initial_state_fw), ("bw", cell_bw, initial_state_bw))
        )
    return (forwards[0], backwards[0]), (forwards[1], backwards[1])
