"""`tf.nn.raw_rnn`: a recurrent loop whose inputs, states and outputs a function decides, step by step. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import colocate_with
from tfexp.graph.while_loop import while_loop
from tfexp.layers.rnn_dynamic import read_where_used, size_shape
from tfexp.layers.rnn_state import joined_shape
from tfexp.layers.rnn_wrappers import check_cell
from tfexp.ops.array import shape
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_mask import where
from tfexp.ops.logical import logical_not, logical_or
from tfexp.ops.reduce import reduce_all
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.variable_scope import variable_scope


def raw_rnn(
    cell: Any,
    loop_fn: Callable[[Any, Any, Any, Any], Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """(TensorArrays of the emitted outputs, final state, final loop state).

    loop_fn(time, cell_output, cell_state, loop_state) gives (finished [batch] bool, next input, next cell state, what to
    emit, next loop state). The first call has None for all but time, and gives in place of what to emit its structure of
    shapes, or None for `cell.output_size`. Finished examples emit zeros and keep their state; it ends when all are.
    """
    check_cell(cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with variable_scope(scope or "rnn") as opened:
        read_where_used(opened)
        time = constant(0, dtype=dtypes.int32)
        finished, first_input, state, emit_structure, loop_state = loop_fn(time, None, None, None)
        has_loop_state = loop_state is not None
        if not has_loop_state:
            loop_state = constant(0, dtype=dtypes.int32)
        leaves = nest.flatten(first_input)
        known_batch = _known_batch(leaves)
        batch_size = known_batch if known_batch is not None else shape(leaves[0])[0]  # type: ignore[index]
        nest.assert_same_structure(state, cell.state_size, check_types=False)
        state = nest.map_structure(lambda s: s if isinstance(s, TensorArray) else convert_to_tensor(s), state)
        structure, shapes, kinds = _emitted(cell, emit_structure, state)
        arrays = [
            TensorArray(
                kind,
                dynamic_size=True,
                element_shape=TensorShape([known_batch]).concatenate(size),
                size=0,
                name=f"rnn_output_{i}",
            )
            for i, (size, kind) in enumerate(zip(shapes, kinds, strict=True))
        ]
        emitted = nest.pack_sequence_as(structure, arrays)
        nothing = nest.pack_sequence_as(
            structure, [zeros(joined_shape(batch_size, size), kind) for size, kind in zip(shapes, kinds, strict=True)]
        )

        def body(time: Any, finished: Any, current: Any, emitted: Any, state: Any, loop_state: Any) -> Any:
            output, cell_state = cell(current, state)
            nest.assert_same_structure(state, cell_state)
            nest.assert_same_structure(cell.output_size, output, check_types=False)
            next_time = time + 1
            next_finished, next_input, next_state, emit, next_loop_state = loop_fn(next_time, output, cell_state, loop_state)
            nest.assert_same_structure(state, next_state)
            nest.assert_same_structure(current, next_input)
            nest.assert_same_structure(emitted, emit)
            if next_loop_state is None:
                next_loop_state = loop_state
            emit = _unless(finished, nothing, emit)
            next_state = _unless(finished, state, next_state)
            emitted = nest.map_structure(lambda array, value: array.write(time, value), emitted, emit)
            return next_time, logical_or(finished, next_finished), next_input, emitted, next_state, next_loop_state

        _, _, _, emitted, state, loop_state = while_loop(
            lambda _, finished, *rest: logical_not(reduce_all(finished)),
            body,
            loop_vars=[time, finished, first_input, emitted, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
    return emitted, state, loop_state if has_loop_state else None


def _known_batch(leaves: list[Any]) -> int | None:
    known = [leaf.get_shape() for leaf in leaves]
    if any(s.ndims is not None and s.ndims == 0 for s in known):
        raise ValueError("The inputs of raw_rnn must have a batch dimension, but one is a scalar.")
    batch: TensorShape = TensorShape([None])
    for s in known:
        if s.ndims is not None:
            batch = batch.merge_with(s[:1])
    return batch[0].value  # type: ignore[no-any-return]


def _emitted(cell: Any, structure: Any, state: Any) -> tuple[Any, list[TensorShape], list[Any]]:
    """The structure of what is emitted, with the shapes (without batch) and types of its leaves."""
    if structure is None:
        sizes = nest.flatten(cell.output_size)
        kind = nest.flatten(state)[0].dtype.base_dtype
        return cell.output_size, [size_shape(size) for size in sizes], [kind] * len(sizes)
    leaves = [convert_to_tensor(leaf) for leaf in nest.flatten(structure)]
    return structure, [leaf.get_shape() for leaf in leaves], [leaf.dtype.base_dtype for leaf in leaves]


def _unless(finished: Any, before: Any, after: Any) -> Any:
    """`before` for finished examples; what is not per example (scalars, TensorArrays) always is `after`."""

    def chosen(old: Any, new: Any) -> Any:
        if isinstance(old, TensorArray) or old.get_shape().ndims == 0:
            return new
        with colocate_with(new):
            return where(finished, old, new)

    return nest.map_structure(chosen, before, after)
