"""Recurrent networks written out step by step. Source: `tf.nn.static_*`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.layers.rnn_dynamic import initial_state_of, read_where_used
from tfexp.layers.rnn_state import joined_shape, state_dtype, static_shape
from tfexp.layers.rnn_step import masked_step
from tfexp.layers.rnn_wrappers import check_cell
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack, unstack
from tfexp.ops.array_order import reverse_sequence
from tfexp.ops.cast import cast
from tfexp.ops.reduce import reduce_max, reduce_min
from tfexp.ops.variable_scope import variable_scope


def _check_inputs(inputs: Any) -> None:
    if not nest.is_nested(inputs) or isinstance(inputs, dict):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")


def _first_leaf(inputs: Any) -> Any:
    while nest.is_nested(inputs):
        inputs = inputs[0]
    return inputs


def static_rnn(
    cell: Any,
    inputs: Sequence[Any],
    initial_state: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """(outputs, final state) of `cell` over a list of inputs [batch, depth], one for each step.

    sequence_length: [batch]; past an example's length its outputs are zero, its state stays, and steps after the longest
    one are skipped. ValueError for no inputs and for unknown depths, TypeError where `inputs` is no sequence.
    """
    check_cell(cell)
    _check_inputs(inputs)
    outputs: list[Any] = []
    with variable_scope(scope or "rnn") as opened:
        read_where_used(opened)
        first = _first_leaf(inputs)
        known_batch = _known_batch(first, inputs)
        batch_size = known_batch if known_batch is not None else shape(first)[0]  # type: ignore[index]
        state = initial_state_of(cell, initial_state, batch_size, dtype)
        lengths = shortest = longest = zero_output = None
        if sequence_length is not None:
            lengths = convert_to_tensor(sequence_length, name="sequence_length")
            if lengths.get_shape().ndims not in (None, 1):
                raise ValueError("sequence_length must be a vector of length batch_size")

            def empty(size: Any) -> Any:
                made = zeros(joined_shape(batch_size, size), state_dtype(dtype, state))
                made.set_shape(static_shape(known_batch, size) if known_batch is not None else _unknown_batch(size))
                return made

            zero_output = nest.pack_sequence_as(cell.output_size, [empty(size) for size in nest.flatten(cell.output_size)])
            lengths = cast(lengths, dtypes.int32)
            shortest, longest = reduce_min(lengths), reduce_max(lengths)
        for time, now in enumerate(inputs):
            if time > 0:
                opened.reuse_variables()
            if lengths is None:
                output, state = cell(now, state)
            else:
                output, state = _masked(time, lengths, shortest, longest, zero_output, state, cell, now)
            outputs.append(output)
    return outputs, state


def _masked(
    time: int, lengths: Any, shortest: Any, longest: Any, zero_output: Any, state: Any, cell: Any, now: Any
) -> tuple[Any, Any]:
    return masked_step(time, lengths, shortest, longest, zero_output, state, lambda: cell(now, state), always=False)


def _unknown_batch(size: Any) -> TensorShape:
    return static_shape([None], size)


def _known_batch(first: Any, inputs: Sequence[Any]) -> int | None:
    known = first.get_shape()
    if known.ndims == 1:
        return known[0].value  # type: ignore[no-any-return]
    batch = known.with_rank_at_least(2)[0]
    for leaf in nest.flatten(inputs[0]):
        dims = leaf.get_shape().with_rank_at_least(2)
        batch.assert_is_compatible_with(dims[0])
        for i, size in enumerate(dims[1:].as_list()):
            if size is None:
                raise ValueError(
                    f"Input size (dimension {i} of inputs) must be accessible via shape inference, but saw value None."
                )
    return batch.value  # type: ignore[no-any-return]


def static_state_saving_rnn(
    cell: Any,
    inputs: Sequence[Any],
    state_saver: Any,
    state_name: Any,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """As `static_rnn`, starting from `state_saver.state(name)` and ending with `state_saver.save_state(name, state)`.

    state_name: one name, or for a state that is a structure as many names in a tuple. The outputs wait for the saving.
    """
    state_size, is_tuple = cell.state_size, nest.is_nested(cell.state_size)
    if is_tuple is not isinstance(state_name, tuple):
        raise ValueError(
            "state_name should be the same type as cell.state_size.  "
            f"state_name: {state_name}, cell.state_size: {state_size}"
        )
    names = nest.flatten(state_name)
    if len(names) != len(nest.flatten(state_size)):
        raise ValueError(f"#elems(state_name) != #elems(state_size): {len(names)} vs. {len(nest.flatten(state_size))}")
    start = nest.pack_sequence_as(state_size, [state_saver.state(name) for name in names])
    outputs, state = static_rnn(cell, inputs, initial_state=start, sequence_length=sequence_length, scope=scope)
    saves = [state_saver.save_state(name, part) for name, part in zip(names, nest.flatten(state), strict=True)]
    with control_dependencies(saves):
        last = nest.flatten(outputs[-1])
        outputs[-1] = nest.pack_sequence_as(outputs[-1], [identity(leaf) for leaf in last])
        if is_tuple:
            state = nest.pack_sequence_as(state, [identity(leaf) for leaf in nest.flatten(state)])
        else:
            state = identity(state)
    return outputs, state


def _reversed(steps: Sequence[Any], lengths: Any) -> list[Any]:
    """The steps in reverse order; with lengths, each example's own steps, and what comes after them stays."""
    if lengths is None:
        return list(reversed(steps))
    results: list[list[Any]] = [[] for _ in steps]
    for sequence in zip(*(nest.flatten(step) for step in steps), strict=True):
        known = TensorShape(None)
        for leaf in sequence:
            known = known.merge_with(leaf.get_shape())
        for leaf in sequence:
            leaf.set_shape(known)
        turned = unstack(reverse_sequence(stack(sequence), lengths, seq_axis=0, batch_axis=1))
        for leaf, kept in zip(turned, results, strict=True):
            leaf.set_shape(known)
            kept.append(leaf)
    return [nest.pack_sequence_as(step, leaves) for step, leaves in zip(steps, results, strict=True)]


def static_bidirectional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Sequence[Any],
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any, Any]:
    """(outputs, final state, backward final state); each output has both cells' outputs side by side."""
    check_cell(cell_fw, "cell_fw")
    check_cell(cell_bw, "cell_bw")
    _check_inputs(inputs)
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as opened:
            forward, forward_state = static_rnn(cell_fw, inputs, initial_state_fw, dtype, sequence_length, scope=opened)
        with variable_scope("bw") as opened:
            turned = _reversed(inputs, sequence_length)
            last_first, backward_state = static_rnn(cell_bw, turned, initial_state_bw, dtype, sequence_length, scope=opened)
    backward = _reversed(last_first, sequence_length)
    pairs = zip(nest.flatten(forward), nest.flatten(backward), strict=True)
    outputs = nest.pack_sequence_as(forward, [concat([fw, bw], 1) for fw, bw in pairs])
    return outputs, forward_state, backward_state
