"""What TensorFlow's modules ask of a graph's nodes: of loops and conds, of what is differentiable. Source: TF 1.15.

`ops.control_flow_util`, `ops.op_selector` and `ops.default_gradient`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.gradients import gradient_function
from tfexp.graph.handle_values import zeros_like_variable
from tfexp.graph.handles import handle_dtype, handle_shape
from tfexp.graph.loop_nodes import check_input, is_cond_switch, is_loop_constant, is_merge, loop_constant_of
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill

IsLoopConstantEnter = is_loop_constant
GetLoopConstantEnter = loop_constant_of


def IsCondMerge(op: Operation) -> bool:
    """Whether a Merge joins the branches of a cond: it takes from no loop."""
    return is_merge(op) and not IsLoopMerge(op) and all(_in_cond(tensor) for tensor in op.inputs)


def _in_cond(tensor: Tensor) -> bool:
    """Whether a value is made within a branch, or sent into it."""
    context = tensor.op._get_control_flow_context()
    return is_cond_switch(tensor.op) or (context is not None and context.is_cond)


def IsLoopMerge(op: Operation) -> bool:
    """Whether a Merge joins what enters a loop with what comes from its last iteration."""
    return is_merge(op) and any(tensor.op.type in ("NextIteration", "RefNextIteration") for tensor in op.inputs)


def IsContainingContext(ctxt: Any, maybe_containing_ctxt: Any) -> bool:
    """Whether the second context is the first one or around it; None is around all."""
    while ctxt is not maybe_containing_ctxt:
        if ctxt is None:
            return False
        ctxt = ctxt.outer_context
    return True


def OpInContext(op: Operation, ctxt: Any) -> bool:
    return IsContainingContext(op._get_control_flow_context(), ctxt)


def TensorInContext(tensor: Tensor, ctxt: Any) -> bool:
    return OpInContext(tensor.op, ctxt)


def CheckInputFromValidContext(op: Operation, input_op: Operation) -> None:
    """ValueError when `op` cannot see what `input_op` makes because that is inside of a loop."""
    for tensor in input_op.outputs[:1]:
        check_input(op, op._get_control_flow_context(), tensor)


def IsInXLAContext(op: Operation) -> bool:
    """Whether attributes of the node ask for XLA: no other part of a graph is built for it."""
    try:
        return bool(op.get_attr("_XlaCompile"))
    except ValueError:
        return False


def concatenate_unique(la: list[Any], lb: Iterable[Any]) -> list[Any]:
    """`la`, to which what it lacks of `lb` was added."""
    la.extend(dict.fromkeys(one for one in lb if one not in la))
    return la


def is_differentiable(op: Operation) -> bool:
    """Whether there is a function for the gradient of such nodes, which may say that there is none."""
    try:
        return gradient_function(op) is not None
    except LookupError:
        return False


def is_iterable(obj: Any) -> bool:
    try:
        iter(obj)
    except Exception:  # whatever it raises, it cannot be gone through
        return False
    return True


def graph_inputs(op: Operation) -> list[Operation]:
    """The nodes that make the inputs of a node, then those it waits for."""
    return [*(tensor.op for tensor in op.inputs), *op.control_inputs]


def get_zeros_dtype(t: Tensor) -> Any:
    """The type of the zeros that stand for no gradient of a tensor: for a handle, its variable's."""
    return shape_and_dtype(t)[1]


def shape_and_dtype(t: Tensor) -> tuple[TensorShape, Any]:
    """(shape, type) of a tensor, or of the variable behind a handle."""
    return (handle_shape(t), handle_dtype(t)) if t.dtype == dtypes.resource else (t.shape, t.dtype)


def zeros_like(t: Tensor) -> Tensor:
    """Zeros like a tensor, or like the variable behind a handle."""
    return zeros_like_variable(t) if t.dtype == dtypes.resource else array_fill.zeros_like(t)
