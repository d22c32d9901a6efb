"""`tf.keras.backend.rnn`: a step function over the time dimension of its inputs, as a loop or written out. Source: TF 1.15.

Inside, time comes first. A mask is a vector for each step: rows that it hides keep the output and the states they had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import shape, squeeze
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import stack, unstack
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import reverse, transpose
from tfexp.ops.cast import cast
from tfexp.ops.tensor_array import TensorArray

States = tuple[Any, ...]
Step = Callable[[Any, States], tuple[Any, States]]


def rnn(
    step_function: Callable[[Any, Any], tuple[Any, Any]],
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, Any]:
    """(last output, outputs, last states) of `output, states = step_function(input, states + constants)` over all steps.

    inputs: [batch, time, …], or [time, batch, …] with `time_major`, or a structure of such; outputs likewise.
    initial_states: a list or tuple of tensors [batch, …] or structures of them. constants: tensors that every step gets.
    mask: [batch, time] or [batch, time, 1] (time first with `time_major`); where it is 0, outputs and states stay as they
    were (outputs are zeros with `zero_output_for_mask`, and before the first step that counts).
    go_backwards: from the last step to the first. unroll: a copy of the step's nodes for each step instead of a loop.
    input_length: the loop makes no more steps than that. ValueError for inputs of less than 3 dimensions, unrolling over
    an unknown number of steps.
    """
    if not time_major:
        inputs = nest.map_structure(swapped, inputs)
    leaves = nest.flatten(inputs)
    for leaf in leaves:
        leaf.get_shape().with_rank_at_least(3)
    steps, batch = (dim.value for dim in leaves[0].get_shape()[:2])
    rows = None if mask is None else _as_rows(mask, time_major)
    if go_backwards:
        inputs = nest.map_structure(lambda leaf: reverse(leaf, [0]), inputs)
        rows = None if rows is None else reverse(rows, [0])
    fixed = () if constants is None else tuple(constants)
    states = tuple(initial_states)

    def step(now: Any, before: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
        output, after = step_function(now, before + fixed)
        after = nest.flatten(after)
        if len(after) != len(nest.flatten(before)):
            raise ValueError(f"A step gives {len(after)} states, but gets {len(nest.flatten(before))}: {before}")
        return output, nest.pack_sequence_as(before, after)

    if unroll:
        if not steps:
            raise ValueError("Unrolling requires a fixed number of timesteps.")
        last, outputs, states = _written_out(step, inputs, states, rows, zero_output_for_mask)
    else:
        last, outputs, states = _looped(step, inputs, states, rows, zero_output_for_mask, input_length)

    def with_known(output: Any) -> Any:
        output.set_shape(TensorShape([steps, batch]).concatenate(output.get_shape()[2:]))
        return output if time_major else swapped(output)

    return last, nest.map_structure(with_known, outputs), states


def swapped(x: Any) -> Any:
    """x with its first two dimensions, batch and time, swapped."""
    tensor = convert_to_tensor(x)
    rank = tensor.get_shape().rank
    if rank is None or rank < 2:
        raise ValueError(f"Shape {tensor.get_shape()} must have rank at least 3")
    return transpose(tensor, [1, 0, *range(2, rank)])


def _as_rows(mask: Any, time_major: bool) -> Any:
    """[time, batch] bool."""
    mask = convert_to_tensor(mask)
    if mask.dtype is not dtypes.bool:
        mask = cast(mask, dtypes.bool)
    rank = mask.get_shape().rank
    if rank is not None and rank > 2:
        mask = squeeze(mask, axis=list(range(2, rank)))
    return mask if time_major else swapped(mask)


def _chosen(rows: Any, new: Any, old: Any) -> Any:
    """`new` in the rows (a bool vector) that count, `old` in the others, part by part of a structure."""

    def choose(after: Any, before: Any) -> Any:
        after = convert_to_tensor(after)
        chosen = where(rows, after, before)
        chosen.set_shape(after.get_shape())
        return chosen

    return nest.map_structure(choose, new, old)


def _written_out(step: Step, inputs: Any, states: States, mask: Any, zero_output: bool) -> tuple[Any, Any, States]:
    moments = zip(*(unstack(leaf) for leaf in nest.flatten(inputs)), strict=True)
    rows = [] if mask is None else unstack(mask)
    outputs: list[Any] = []
    for time, leaves in enumerate(moments):
        output, after = step(nest.pack_sequence_as(inputs, leaves), states)
        if mask is not None:
            empty = nest.map_structure(zeros_like, output)
            output = _chosen(rows[time], output, empty if zero_output or not outputs else outputs[-1])
            after = _chosen(rows[time], after, states)
        outputs.append(output)
        states = after
    joined = [stack(parts) for parts in zip(*(nest.flatten(output) for output in outputs), strict=True)]
    return outputs[-1], nest.pack_sequence_as(outputs[0], joined), states


def _looped(
    step: Step, inputs: Any, states: States, mask: Any, zero_output: bool, input_length: Any
) -> tuple[Any, Any, States]:
    leaves = nest.flatten(inputs)
    steps = shape(leaves[0])[0]  # type: ignore[index]
    arrays = [_array(leaf.dtype, steps, f"input_ta_{i}").unstack(leaf) for i, leaf in enumerate(leaves)]
    # A first step outside of the loop tells what a step gives. What it makes once for all steps (dropout's masks, variables)
    # so stands outside of the loop; nothing else of it is ever run.
    example, _ = step(nest.pack_sequence_as(inputs, [leaf[0] for leaf in leaves]), states)
    examples = [convert_to_tensor(part) for part in nest.flatten(example)]
    written = tuple(_array(part.dtype, steps, f"output_ta_{i}") for i, part in enumerate(examples))
    rows: Any = None
    kept: tuple[Any, ...] = ()
    if mask is not None:
        rows = _array(dtypes.bool, steps, "mask_ta").unstack(mask)
        kept = tuple(zeros_like(part) for part in examples)
    constant_zeros = kept

    def body(time: Any, written: Any, kept: Any, before: Any) -> Any:
        now = [array.read(time) for array in arrays]
        for element, leaf in zip(now, leaves, strict=True):
            element.set_shape(leaf.get_shape()[1:])
        output, after = step(nest.pack_sequence_as(inputs, now), before)
        parts = [convert_to_tensor(part) for part in nest.flatten(output)]
        if rows is not None:
            counts = rows.read(time)
            parts = _chosen(counts, parts, list(constant_zeros if zero_output else kept))
            after = _chosen(counts, after, before)
            kept = kept if zero_output else tuple(parts)
        for old, new in zip(nest.flatten(before), nest.flatten(after), strict=True):
            if hasattr(new, "set_shape"):
                new.set_shape(old.get_shape())
        written = tuple(array.write(time, part) for array, part in zip(written, parts, strict=True))
        return time + 1, written, kept, after

    _, written, _, after = while_loop(
        cond=lambda time, *_: time < steps,
        body=body,
        loop_vars=(constant(0, dtype=dtypes.int32, name="time"), written, kept, states),
        parallel_iterations=32,
        swap_memory=True,
        maximum_iterations=input_length,
    )
    outputs = [array.stack() for array in written]
    for whole, part in zip(outputs, examples, strict=True):
        whole.set_shape(TensorShape([None]).concatenate(part.get_shape()))
    last = [whole[-1] for whole in outputs]
    return nest.pack_sequence_as(example, last), nest.pack_sequence_as(example, outputs), after


def _array(dtype: Any, size: Any, name: str) -> TensorArray:
    return TensorArray(dtype, size=size, tensor_array_name=name)
