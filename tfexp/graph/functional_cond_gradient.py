"""The gradient of a node that calls one of several functions, which is such a node again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.function_graph import FunctionGraph, unique_number
from tfexp.graph.functional_cond import attrs_of_branches, branch_node, branches_of
from tfexp.graph.gradients import gradients, is_trainable
from tfexp.graph.handle_values import zeros_like_variable
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, get_default_graph
from tfexp.graph.tensor import Tensor


class _BranchGradient:
    """The gradient of one branch, as a function that is being built: of the gradients of the branch's outputs."""

    def __init__(self, branch: Function, given: Sequence[int], weights: Sequence[Tensor], wanted: Sequence[int]):
        self.branch = branch
        self.graph = FunctionGraph(f"{branch.name}_grad_{unique_number()}", branch.body)
        with self.graph.as_default():
            self.weights = [self.graph.argument(w.dtype, w.shape, f"gradients_{i}") for i, w in enumerate(weights)]
            ys = [branch.outputs[i] for i in given]
            found = gradients(ys, [branch.inputs[i] for i in wanted], self.weights)
        self.found = dict(zip(wanted, found, strict=True))

    def outputs(self, connected: Sequence[int]) -> list[Tensor]:
        """The gradients of these inputs of the branch, zeros for those that it does not use."""
        with self.graph.as_default():
            found = [self.found[i] for i in connected]
            return [
                self.graph.capture(zeros_like(self.branch.inputs[i]) if g is None else convert_to_tensor(g))
                for i, g in zip(connected, found, strict=True)
            ]

    def argument_for(self, tensors: Sequence[Tensor]) -> Tensor:
        """What stands for that of these tensors which is this branch's; if none is, something that nobody looks at."""
        mine = [self.graph.captured[tensor] for tensor in tensors if tensor in self.graph.captured]
        return mine[0] if mine else self.graph.argument(tensors[0].dtype, tensors[0].shape, "unused")


def zeros_like(tensor: Tensor) -> Tensor:
    zeros: Tensor = zeros_like_variable(tensor) if tensor.dtype is dtypes.resource else get_op("ZerosLike")(tensor)
    return zeros


def cond_gradient(op: Operation, *grads: Any) -> list[Tensor | None]:
    """The gradients of the branch that was taken: a node whose branches get what they need of the forward pass."""
    outer = get_default_graph()
    kind, branches = branches_of(op)
    given = [i for i, g in enumerate(grads) if g is not None]
    weights = [convert_to_tensor(grads[i]) for i in given]
    wanted = [i for i, t in enumerate(op.inputs[1:]) if is_trainable(t)]
    sides = [_BranchGradient(branch, given, weights, wanted) for branch in branches]
    connected = [i for i in wanted if any(side.found[i] is not None for side in sides)]
    outputs = [side.outputs(connected) for side in sides]
    used = list(dict.fromkeys(tensor for side in sides for tensor in side.graph.captured))
    values: dict[Tensor, list[Tensor]] = {}  # as this graph has them, and what stands for each in the branches
    for value, tensor in zip(_values_of_branches(op, used), used, strict=True):
        values.setdefault(value, []).append(tensor)
    functions = []
    for side, results in zip(sides, outputs, strict=True):
        inputs = [*side.weights, *map(side.argument_for, values.values())]
        functions.append(Function(side.graph.name, side.graph, inputs, results))
        outer._functions[side.graph.name] = functions[-1]
    name = "gradient" if kind == "Case" else None
    node = branch_node(outer, kind, op.inputs[0], functions, [*weights, *values], name)
    found: list[Tensor | None] = [None] * len(op.inputs)
    for i, tensor in zip(connected, node.outputs, strict=True):
        found[1 + i] = get_op("Identity")(tensor)
    return found


def _values_of_branches(op: Operation, wanted: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of the branches as the graph of the node sees them: its inputs, and outputs that it gets now.

    Where another branch was taken, an output has a value that nobody looks at.
    """
    kind, branches = branches_of(op)
    known: dict[Tensor, Tensor] = {}
    for branch in branches:
        known.update(zip(branch.outputs, op.outputs, strict=True))
        known.update(zip(branch.inputs, op.inputs[1:], strict=True))
    more = [tensor for tensor in wanted if tensor not in known]
    if more:
        _add_outputs(op, kind, [_with_outputs(branch, more) for branch in branches])
        known.update(zip(more, op.outputs[-len(more) :], strict=True))
    return [known[tensor] for tensor in wanted]


def _with_outputs(branch: Function, more: Sequence[Tensor]) -> Function:
    with branch.body.as_default(), control_dependencies(None):
        outputs = [
            tensor if tensor.graph is branch.body else get_op("FakeParam")(dtype=tensor.dtype, shape=tensor.shape)
            for tensor in more
        ]
    name = f"{branch.name}_rewritten_{unique_number()}"
    longer = Function(name, branch.body, branch.inputs, [*branch.outputs, *outputs], effects=branch.effects)
    branch.body._functions[name] = longer
    return longer


def _add_outputs(op: Operation, kind: str, branches: Sequence[Function]) -> None:
    for key, value in attrs_of_branches(kind, branches).items():
        op._set_attr(key, value)
    for tensor, shape in list(zip(branches[0].outputs, op.attrs["output_shapes"], strict=True))[len(op.outputs) :]:
        op.outputs.append(Tensor(op, len(op.outputs), tensor.dtype.base_dtype, shape))
