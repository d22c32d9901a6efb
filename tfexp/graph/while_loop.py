"""`tf.while_loop`. Source: TF 1.15 (control flow v1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.control_flow import is_array, merge, switch_ref_or_tensor, with_flow
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor, convert_to_tensor_or_indexed_slices
from tfexp.graph.loop_nodes import is_loop_constant, loop_of
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly, get_default_graph, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_context import WhileContext, leave, next_iteration, same


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """`loop_vars`, replaced by `body(*loop_vars)` for as long as the scalar bool `cond(*loop_vars)` is true.

    The variables (tensors, IndexedSlices, SparseTensors, TensorArrays, nested in lists, tuples and dicts)
    keep their dtypes and their shapes, or the less specific ones in `shape_invariants` (of a SparseTensor that of its
    `dense_shape`, [rank]); how many values a SparseTensor has may change.
    `maximum_iterations` bounds the number of iterations. What is a single tensor comes back alone unless
    `return_same_structure`. Raises TypeError or ValueError for what cannot work.
    """
    eagerly = executing_eagerly()
    with name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        if not callable(cond):
            raise TypeError("cond must be callable.")
        if not callable(body):
            raise TypeError("body must be callable.")
        if parallel_iterations < 1:
            raise TypeError("parallel_iterations must be a positive integer.")
        if not nest.is_nested(loop_vars):
            loop_vars = [loop_vars]
        counted = maximum_iterations is not None
        if counted:
            maximum_iterations = _scalar(maximum_iterations)
            counter = constant(0, dtype=maximum_iterations.dtype, name="iteration_counter")
            single = len(loop_vars) == 1 and not return_same_structure
            cond, body = _counting(cond, body, maximum_iterations, single)
            loop_vars = (counter, loop_vars[0] if single else loop_vars)
            if shape_invariants is not None:
                shape_invariants = (TensorShape([]), shape_invariants[0] if single else shape_invariants)
        same_structure = return_same_structure or counted
        if eagerly:
            result = _run_at_once(cond, body, loop_vars, same_structure)
            return result[1] if counted else result
        if shape_invariants is not None:
            nest.assert_same_structure(loop_vars, shape_invariants, check_types=False)
        context = WhileContext(maximum_iterations, parallel_iterations, back_prop, swap_memory)
        if context.outer_context is None:
            get_default_graph().add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result = _build(context, cond, body, loop_vars, shape_invariants, same_structure)
        return result[1] if counted else result


def _run_at_once(cond: Any, body: Any, loop_vars: Any, same_structure: bool) -> Any:
    """The loop in eager execution: Python's own. A single variable comes back as the body returns it, alone or in a list."""
    alone = False
    while cond(*loop_vars):
        result = body(*loop_vars)
        alone = len(loop_vars) == 1 and not same_structure and not isinstance(result, (list, tuple))
        result = [result] if alone else result
        nest.assert_same_structure(list(loop_vars), list(result))
        loop_vars = result
    results = nest.map_structure(_as_variable, loop_vars)
    return results[0] if alone else results


def _scalar(maximum_iterations: Any) -> Tensor:
    limit = convert_to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.get_shape().rank != 0:
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.get_shape()}")
    return limit


def _counting(cond: Any, body: Any, limit: Tensor, single: bool) -> tuple[Any, Any]:
    """`cond` and `body` for two loop variables: a counter, and what the given functions know (`single`: one variable)."""

    def arguments(variables: Any) -> Any:
        return [variables] if single else variables

    def counting_cond(counter: Tensor, variables: Any) -> Any:
        return get_op("LogicalAnd")(get_op("Less")(counter, limit), cond(*arguments(variables)))

    def counting_body(counter: Tensor, variables: Any) -> Any:
        following = get_op("AddV2")(counter, 1, name="add")
        return following, body(*arguments(variables))

    return counting_cond, counting_body


def _as_variable(leaf: Any) -> Any:
    return leaf if is_array(leaf) or isinstance(leaf, nest.Composite) else convert_to_tensor_or_indexed_slices(leaf)


def _to_tensor(leaf: Any) -> Any:
    """A leaf as it goes round the loop; a TensorArray does as its flow."""
    return leaf.flow if is_array(leaf) else _as_variable(leaf)


def _parts(value: Any) -> list[Tensor]:
    """The tensors of a leaf."""
    if isinstance(value, IndexedSlices):
        parts = [value.values, value.indices]
        return parts if value.dense_shape is None else [*parts, value.dense_shape]
    return list(value.parts) if isinstance(value, nest.Composite) else [value]


class _Variables:
    """The leaves of the loop variables: how they look to the user, and the tensors that go round."""

    def __init__(self, structure: Any):
        self.structure = structure
        self.given = nest.flatten(structure)
        self.leaves = [_to_tensor(leaf) for leaf in self.given]
        self.tensors = [part for leaf in self.leaves for part in _parts(leaf)]

    def pack(self, tensors: Sequence[Tensor], templates: Sequence[Any]) -> Any:
        """The user's structure with `tensors` for its parts; TensorArrays as `templates` has them."""
        remaining = iter(tensors)
        leaves: list[Any] = []
        for leaf, template in zip(self.leaves, templates, strict=True):
            parts = [next(remaining) for _ in _parts(leaf)]
            if isinstance(leaf, IndexedSlices):
                leaves.append(IndexedSlices(*parts))
            elif isinstance(leaf, nest.Composite):
                leaves.append(leaf.with_parts(parts))
            else:
                leaves.append(with_flow(template, parts[0]))
        return nest.pack_sequence_as(self.structure, leaves)


def _build(context: WhileContext, cond: Any, body: Any, loop_vars: Any, invariants: Any, same_structure: bool) -> Any:
    """Make the nodes of the loop; returns the loop's results in the structure that the body returned."""
    variables = _Variables(loop_vars)
    with context.entered():
        merged = _enter(context, variables, invariants)
        context.pivot_for_pred = merged[0]
        condition = convert_to_tensor(cond(*variables.pack(merged, variables.given)))
        context.pivot = get_op("LoopCond")(condition, name="LoopCond")
        switched = [switch_ref_or_tensor(tensor, context.pivot) for tensor in merged]
        inside = [same(in_body) for _, in_body in switched]
        context.pivot_for_body = inside[0]
        arguments = variables.pack(inside, variables.given)
        returned = _variables_of(body(*arguments))
        nest.assert_same_structure(list(arguments), list(returned))
        results = _Variables(returned)
        if len(results.tensors) != len(merged):
            raise ValueError(f"The body of {context.name!r} must return values of the loop variables' kinds, got {returned}")
        following = [next_iteration(tensor) for tensor in results.tensors]
        for start, value in zip(merged, following, strict=True):
            _check_invariant(start, value)
            context.close(start, value)
        left = [leave(at_end) for at_end, _ in switched]
        context.loop_exits.extend(left)
        context.exit_result(left)
    # A TensorArray leaves as the body left it: what is known of its elements has grown.
    packed = results.pack(left, results.given)
    return packed if same_structure or len(left) != 1 else packed[0]


def _enter(context: WhileContext, variables: _Variables, invariants: Any) -> list[Tensor]:
    """The Merge of every loop variable."""
    outside = variables.tensors
    if context.outer_context is not None:
        outside = [context.outer_context.add_value(tensor) for tensor in outside]
    entered = [context.enter(tensor) for tensor in outside]
    for tensor in entered:
        context.add_name(tensor)
        _wait_for_outer_pivot(context, tensor.op)
    for tensor, shape, start in zip(outside, _invariant_shapes(variables, invariants), entered, strict=True):
        _check_start(tensor, shape)
        start._shape = shape
    context.loop_enters.extend(entered)
    return [merge([tensor, tensor]) for tensor in entered]


def _check_start(start: Tensor, invariant: TensorShape) -> None:
    if not _is_special_case(start.get_shape(), invariant):
        raise ValueError(
            f"The shape invariant specified for {start.name} is not compatible with the initial shape of the loop "
            f"variable. It enters the loop with shape {start.get_shape()}, but the specified shape invariant is {invariant}."
        )


def _wait_for_outer_pivot(context: WhileContext, op: Operation) -> None:
    """A variable that starts with a constant of a loop around starts in each of that loop's iterations."""
    if not is_loop_constant(op._inputs[0].op):
        return
    around = loop_of(context.outer_context)
    if around is not None:
        op._add_control_input(around.control_pivot().op)


def _invariant_shapes(variables: _Variables, invariants: Any) -> list[TensorShape]:
    """One shape for each tensor: without invariants the one that it starts with, but for the number of a composite's values.

    An invariant of IndexedSlices is the shape of their dense form, one of a SparseTensor that of its `dense_shape`.
    """
    shapes: list[TensorShape] = []
    any_number = TensorShape([None])
    wanted = [None] * len(variables.leaves) if invariants is None else nest.flatten(invariants)
    for leaf, invariant in zip(variables.leaves, wanted, strict=True):
        parts = _parts(leaf)
        if isinstance(leaf, SparseTensor):
            rank = leaf.dense_shape.get_shape() if invariant is None else as_shape(invariant)
            shapes.extend([any_number.concatenate(rank), any_number, rank])
        elif invariants is None:
            shapes.extend(part.get_shape() for part in parts)
        elif isinstance(leaf, IndexedSlices):
            shape = as_shape(invariant)
            shapes.extend([any_number.concatenate(shape[1:]), any_number, TensorShape([shape.rank])][: len(parts)])
        else:
            shapes.append(as_shape(invariant))
    return shapes


def _variables_of(result: Any) -> Any:
    """A body's result in a container, of any kind: bodies take lists and return tuples."""
    return result if nest.is_nested(result) else [result]


def _check_invariant(start: Tensor, value: Tensor) -> None:
    initial, shape = start.op._inputs[0].op._inputs[0], start.get_shape()
    if value.dtype.base_dtype is not initial.dtype.base_dtype:
        raise TypeError(
            f"Loop var {initial.name} enters the loop with type {initial.dtype.base_dtype} but has type "
            f"{value.dtype.base_dtype} after 1 iteration."
        )
    if not _is_special_case(value.get_shape(), shape):
        raise ValueError(
            f"Input tensor {initial.name!r} enters the loop with shape {initial.get_shape()}, but has shape "
            f"{value.get_shape()} after one iteration. To allow the shape to vary across iterations, use the "
            "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
        )


def _is_special_case(shape: TensorShape, general: TensorShape) -> bool:
    """Whether whatever has the one shape has the other too."""
    dims, allowed = shape.known_dims, general.known_dims
    if allowed is None:
        return True
    if dims is None or len(dims) != len(allowed):
        return False
    return all(a is None or a == d for d, a in zip(dims, allowed, strict=True))
