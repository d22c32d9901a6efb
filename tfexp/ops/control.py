"""Ops without values and ops that decide what runs: NoOp, ControlTrigger, Switch, Merge."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.decision import truth
from tfexp.core.kernel import DEAD, Ref
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.control_flow import merge as merge_values
from tfexp.graph.control_flow import switch_ref_or_tensor
from tfexp.graph.loop_nodes import output_context
from tfexp.graph.loop_rules import branch_predicate, loop_merge_gradient, loop_switch_gradient
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import comparison
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

# --- NoOp --------------------------------------------------------------------------------------------------------------

no_op_op = define_op("NoOp() -> ()")


@no_op_op.shape
def _() -> None:
    return None


@no_op_op.kernel("CPU", "XLA")
def _(ctx: Any) -> None:
    return None


control_trigger_op = define_op("ControlTrigger() -> ()")


@control_trigger_op.shape
def _() -> None:
    return None


@control_trigger_op.kernel("CPU", takes_dead=True)
def _(ctx: Any) -> None:
    return None


# --- Switch and Merge -------------------------------------------------------------------------------------------------

switch_op = define_op("Switch(data: T, pred: bool) -> (output_false: T, output_true: T) {T: type}")


@switch_op.shape
def _(data: InputShape, pred: InputShape) -> list[TensorShape]:
    with_rank(pred, 0)
    return [data, data]


@switch_op.kernel("CPU", view=True)
def _(ctx: Any, data: Array, pred: Array) -> list[Any]:
    return [DEAD, data] if truth(pred) else [data, DEAD]


def _switch_gradient(op: Operation, *grads: Tensor) -> list[Any]:
    context = op._get_control_flow_context()
    if context is None:
        taken = [switch_ref_or_tensor(grad, op.inputs[1])[branch] for branch, grad in enumerate(grads)]
        return [merge_values(taken, name="cond_grad"), None]
    if not context.is_cond:
        return loop_switch_gradient(op, grads)
    if any(grad is None for grad in grads):  # of a type that has none
        return [None, None]
    return [merge_values(list(grads), name="cond_grad"), None]


switch_op.gradient(_switch_gradient)

ref_switch_op = define_op(
    "RefSwitch(data: ref T, pred: bool) -> (output_false: ref T, output_true: ref T) {T: type} #uninitialized_input",
    writes_refs=False,
)


@ref_switch_op.shape
def _(data: InputShape, pred: InputShape) -> list[TensorShape]:
    with_rank(pred, 0)
    return [data, data]


@ref_switch_op.kernel("CPU", view=True)
def _(ctx: Any, data: Ref, pred: Array) -> list[Any]:
    return [DEAD, data] if truth(pred) else [data, DEAD]


ref_switch_op.gradient(_switch_gradient)

merge_op = define_op("Merge(inputs: N * T) -> (output: T, value_index: int32) {T: type; N: int >= 1}")


def _merged_shape(inputs: list[InputShape]) -> list[TensorShape]:
    merged = TensorShape(inputs[0])
    for shape in inputs[1:]:
        merged = merged.most_specific_compatible_shape(shape)
    return [merged, TensorShape([])]


merge_op.shape(_merged_shape)


def _alive(inputs: list[Any]) -> list[Any]:
    for i, value in enumerate(inputs):
        if value is not DEAD:
            return [value, np.array(i, np.int32)]
    return [DEAD, DEAD]


@merge_op.kernel("CPU", view=True, takes_dead=True)
def _(ctx: Any, inputs: list[Array]) -> list[Any]:
    return _alive(inputs)


def _merge_gradient(op: Operation, grad: Any, _: Any) -> list[Any]:
    context = output_context(op.inputs[0].op) or output_context(op.inputs[1].op)
    if context is None:  # of a gradient itself, say: whichever input came through tells who gets it
        taken = [comparison.equal(op.outputs[1], i) for i in range(len(op.inputs))]
        return [switch_ref_or_tensor(grad, is_taken)[1] for is_taken in taken]
    if not context.is_cond:
        return loop_merge_gradient(op, grad)
    return list(switch_ref_or_tensor(grad, branch_predicate(context), name="cond_grad"))


merge_op.gradient(_merge_gradient)

ref_merge_op = define_op(
    "RefMerge(inputs: ref N * T) -> (output: ref T, value_index: int32) {T: type; N: int >= 1}", writes_refs=False
)
ref_merge_op.shape(_merged_shape)
ref_merge_op.gradient(_merge_gradient)


@ref_merge_op.kernel("CPU", view=True, takes_dead=True)
def _(ctx: Any, inputs: list[Ref]) -> list[Any]:
    return _alive(inputs)


# --- references ---------------------------------------------------------------------------------------------------------

ref_identity_op = define_op("RefIdentity(input: ref T) -> (output: ref T) {T: type} #uninitialized_input", writes_refs=False)


@ref_identity_op.shape
def _(input: InputShape) -> TensorShape:
    return input


@ref_identity_op.kernel("CPU", view=True)
def _(ctx: Any, input: Ref) -> Ref:
    return input


@ref_identity_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return grad
