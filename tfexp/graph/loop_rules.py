"""Gradients of the ops that loops are made of: Enter, Exit, and the Switch and Merge of a loop. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.control_flow import CondContext, in_context, merge, switch_ref_or_tensor
from tfexp.graph.convert import IndexedSlices, constant
from tfexp.graph.loop_gradients import LoopGradient
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.while_context import WhileContext, current_loop_gradient, loop_switch, next_iteration
from tfexp.graph.zeros import filled_with_zeros


def exit_gradient(op: Operation, grad: Any) -> Any:
    """Into the backward loop. TypeError for a loop that is itself a gradient's."""
    forward = op._control_flow_context
    if forward is None:
        raise LookupError(f"Exit {op.name!r} is not of a tf.while_loop of this process: imported loops have no gradient")
    if forward.while_context().gradient is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    state = current_loop_gradient()
    assert state is not None
    context = state.context
    if not context.back_prop:
        return None
    if isinstance(grad, IndexedSlices):
        parts = [grad.values, grad.indices] + ([] if grad.dense_shape is None else [grad.dense_shape])
        return IndexedSlices(*[_enter_backwards(context, part) for part in parts])
    return _enter_backwards(context, grad)


def _enter_backwards(context: WhileContext, grad: Tensor) -> Tensor:
    with context.entered():
        return context.start(grad, "b_exit")


def enter_gradient(op: Operation, grad: Any) -> Any:
    """Out of the backward loop: the last value for a loop variable, the sum over all iterations for a loop constant."""
    state = current_loop_gradient()
    if state is None or not state.context.back_prop:
        return grad
    context = state.context
    if not op.attrs["is_constant"]:
        with context.entered():
            return context.leaves(grad)
    if isinstance(grad, IndexedSlices):
        return _accumulated_slices(context, op, grad)
    return context.accumulate(_initial_sum(state, op, grad), grad)


def _initial_sum(state: LoopGradient, op: Operation, grad: Tensor) -> Tensor:
    """Zeros to start the sum with, made around the backward loop; their shape only matters when no iteration runs."""
    shape, dtype = grad.get_shape(), grad.dtype.base_dtype
    if shape.is_fully_defined():
        with state.context.around():
            return constant(0, dtype=dtype, shape=shape.as_list(), name="b_acc")
    value = op._inputs[0]
    around = state.context.outer_context
    if isinstance(around, WhileContext) and around.gradient is not None:
        with in_context(state.forward.outer_context):
            dims = get_op("Shape")(value)
        with in_context(around):
            return filled_with_zeros(around.gradient.remembered(dims), dtype)
    with state.context.around():
        return filled_with_zeros(get_op("Shape")(value), dtype)


def _accumulated_slices(context: WhileContext, op: Operation, grad: IndexedSlices) -> IndexedSlices:
    """The rows of all iterations, one after another, behind one row of zeros."""
    with context.around():
        starts = _initial_slices(op, grad)
    with context.entered():
        entered = [context.start(start, "b_acc") for start in starts]
        # They grow from iteration to iteration.
        shapes = [TensorShape([None]), TensorShape([None]).concatenate(starts[1].get_shape()[1:]), TensorShape(None)]
        for tensor, shape in zip(entered, shapes, strict=False):
            tensor._shape = shape
        merged = [merge([tensor, tensor], name="b_acc") for tensor in entered]
        assert context.pivot is not None
        switched = [loop_switch(tensor, context.pivot) for tensor in merged]
        sums = [_joined(in_body, new) for (_, in_body), new in zip(switched[:2], (grad.indices, grad.values), strict=True)]
        if grad.dense_shape is not None:
            sums.append(get_op("Maximum")(grad.dense_shape, switched[2][1]))
        for start, value in zip(merged, [next_iteration(tensor) for tensor in sums], strict=True):
            context.close(start, value)
        left = [context.leaves(at_end, "b_acc") for at_end, _ in switched]
    return IndexedSlices(left[1], left[0], left[2] if grad.dense_shape is not None else None)


def _initial_slices(op: Operation, grad: IndexedSlices) -> list[Tensor]:
    """The index and the row of zeros to start with, and a dense shape of zeros where `grad` has one."""
    rows, dtype = grad.values.get_shape(), grad.values.dtype.base_dtype
    if rows.is_fully_defined():
        first = constant(0, dtype=dtype, shape=[1, *rows.as_list()[1:]], name="b_acc")
    else:
        first = filled_with_zeros(_one_row(get_op("Shape")(op._inputs[0])), dtype)
    starts = [constant([0], dtype=grad.indices.dtype.base_dtype), first]
    if grad.dense_shape is not None:
        kind, length = grad.dense_shape.dtype.base_dtype, grad.dense_shape.get_shape()
        if length.is_fully_defined():
            starts.append(constant(0, dtype=kind, shape=length.as_list()))
        else:
            starts.append(get_op("ZerosLike")(get_op("Shape")(op._inputs[0], out_type=kind), name="zeros_like"))
    return starts


def _joined(before: Tensor, new: Tensor) -> Tensor:
    with name_scope("concat") as scope:
        joined: Tensor = get_op("ConcatV2")([before, new], constant(0, dtype=dtypes.int32, name="axis"), name=scope)
        return joined


def _one_row(dims: Tensor) -> Tensor:
    """The shape of one row of something of the shape `dims`."""
    with name_scope("strided_slice") as scope:
        bounds = constant([1], name="stack"), constant([0], name="stack_1"), constant([1], name="stack_2")
        rest = get_op("StridedSlice")(dims, *bounds, end_mask=1, name=scope)
    with name_scope("concat") as scope:
        values = constant([1], dtype=dtypes.int32, name="values_0")
        row: Tensor = get_op("ConcatV2")([values, rest], constant(0, dtype=dtypes.int32, name="axis"), name=scope)
        return row


def loop_switch_gradient(op: Operation, grads: Any) -> list[Any]:
    """Of a loop variable's Switch, which is visited twice: first from outside the loop, then from its body."""
    state = current_loop_gradient()
    if state is None:
        raise LookupError(f"The gradient of Switch {op.name!r} is defined inside tf.cond and tf.while_loop only")
    merged = state.merges.get(op)
    if merged is not None:
        if grads[1] is not None:
            state.context.close(merged, next_iteration(grads[1]))
        return [None, None]
    if grads[0] is None:
        return [None, None]
    merged = merge([grads[0], grads[0]], name="b_switch")
    state.merges[op] = merged
    return [merged, None]


def loop_merge_gradient(op: Operation, grad: Any) -> list[Any]:
    """Of a loop variable's Merge: on with the backward loop, or out of it."""
    state = current_loop_gradient()
    if state is None or state.context.pivot is None:
        raise LookupError(f"The gradient of Merge {op.name!r} is defined inside tf.cond and tf.while_loop only")
    return list(switch_ref_or_tensor(grad, state.context.pivot))


def branch_predicate(context: CondContext) -> Tensor:
    """The predicate that sends the gradient of a cond's result into its branches: the recalled one inside a loop."""
    state = current_loop_gradient()
    return context.pred if state is None else state.predicate(context.pred)
