"""What kind of control-flow node an Operation is, and which loop it belongs to."""

from __future__ import annotations

from typing import Any

from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor


def is_loop_enter(op: Operation) -> bool:
    return op.type in ("Enter", "RefEnter")


def is_loop_exit(op: Operation) -> bool:
    return op.type in ("Exit", "RefExit")


def is_switch(op: Operation) -> bool:
    return op.type in ("Switch", "RefSwitch")


def is_merge(op: Operation) -> bool:
    return op.type in ("Merge", "RefMerge")


def is_loop_constant(op: Operation) -> bool:
    """Whether the node is an Enter of a value that is the same in every iteration."""
    return is_loop_enter(op) and bool(op.attrs["is_constant"])


def loop_constant_of(tensor: Tensor) -> Operation | None:
    """The constant Enter that `tensor` is, or only passes on."""
    op = tensor.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op._inputs[0].op
    return op if is_loop_constant(op) else None


def loop_of(context: Any) -> Any:
    """The innermost `WhileContext` of a control-flow context (itself, if it is one), or None."""
    return None if context is None else context.while_context()


def while_context_of(op: Operation) -> Any:
    """The innermost `WhileContext` that `op` is in, or None."""
    return loop_of(op._control_flow_context)


def output_context(op: Operation) -> Any:
    """The context that the outputs of `op` are in: for an Exit, the one around its loop."""
    context = op._control_flow_context
    return context.outer_context if is_loop_exit(op) and context is not None else context


def is_cond_switch(op: Operation) -> bool:
    """Whether a Switch leads into the branches of a cond."""
    if not is_switch(op) or not op.outputs:
        return False
    for tensor in op.outputs:
        for consumer in tensor._consumers:
            context = consumer._control_flow_context
            if is_loop_enter(consumer) and context is not None:
                context = context.outer_context
            if context is None or not context.is_cond:
                return False
    return True


def is_loop_switch(op: Operation) -> bool:
    """Whether a Switch sends a loop's variable into the body or out of the loop."""
    context = op._control_flow_context
    return is_switch(op) and context is not None and not context.is_cond and not is_cond_switch(op)


def check_input(op: Operation, context: Any, tensor: Tensor) -> None:
    """ValueError when `op`, built in `context`, cannot see `tensor` because that is inside of a loop."""
    source = output_context(tensor.op)
    inner = loop_of(source)
    if inner is None or source is context:
        return
    loop = loop_of(context)
    if loop is None:
        # Enters and Switches of a loop inside another are built in no context at all.
        if is_loop_enter(op) or is_switch(op):
            return
        why = f"{tensor.op.name!r} is in a while loop."
    else:
        if _is_within(loop, inner) or (inner.gradient is not None and inner.gradient.forward is loop):
            return
        if loop.gradient is not None:
            forward = loop.gradient.forward
            if _is_within(forward, inner) or forward is inner.outer_context:
                return
        why = "they are in different while loops."
    raise ValueError(f"Cannot use {tensor.op.name!r} as input to {op.name!r} because {why}")


def _is_within(context: Any, outer: Any) -> bool:
    """Whether `context` is `outer` or one inside of it."""
    while context is not None:
        if context is outer:
            return True
        context = context.outer_context
    return False
