"""The ops of loops: Enter, Exit, NextIteration, LoopCond. The planner (`plan.loops`) turns them into loops that run."""

from __future__ import annotations

from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.loop_rules import enter_gradient, exit_gradient
from tfexp.ops.shape_rules import with_rank


def _never_alone(ctx: Any, *inputs: Any) -> Any:
    raise InvalidArgumentError(None, None, "A node of a loop runs only as part of its loop")


def _passes_on(op: Op) -> Op:
    """What all of them have in common: one value in, the same value out."""
    op.shape(lambda data: data)
    op.kernel("CPU", view=True)(_never_alone)
    return op


enter_op = _passes_on(
    define_op(
        "Enter(data: T) -> (output: T) {T: type; frame_name: string; is_constant: bool = false;"
        " parallel_iterations: int = 10}"
    )
)
enter_op.gradient(enter_gradient)

ref_enter_op = _passes_on(
    define_op(
        "RefEnter(data: ref T) -> (output: ref T) {T: type; frame_name: string; is_constant: bool = false;"
        " parallel_iterations: int = 10}",
        writes_refs=False,
    )
)
ref_enter_op.gradient(enter_gradient)

exit_op = _passes_on(define_op("Exit(data: T) -> (output: T) {T: type}"))
exit_op.gradient(exit_gradient)

ref_exit_op = _passes_on(define_op("RefExit(data: ref T) -> (output: ref T) {T: type}", writes_refs=False))
ref_exit_op.gradient(exit_gradient)

next_iteration_op = _passes_on(define_op("NextIteration(data: T) -> (output: T) {T: type}"))
next_iteration_op.gradient(lambda op, grad: grad)

ref_next_iteration_op = _passes_on(
    define_op("RefNextIteration(data: ref T) -> (output: ref T) {T: type}", writes_refs=False)
)
ref_next_iteration_op.gradient(lambda op, grad: grad)

loop_cond_op = define_op("LoopCond(input: bool) -> (output: bool)")


@loop_cond_op.shape
def _(input: InputShape) -> TensorShape:
    return with_rank(input, 0)


loop_cond_op.kernel("CPU", view=True)(_never_alone)
loop_cond_op.not_differentiable()
