"""TensorFlow's ops as steps of TensorFlow Lite's: a rule for each, and what holds them together.

A rule takes the `Lowering` and an operation whose inputs have been lowered, and adds the steps that make its outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core.op import find_op
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.lite.draft import Draft, Step
from tfexp.runtime.session import Session

Rule = Callable[["Lowering", Operation], None]

RULES: dict[str, Rule] = {}

# Ops whose output is their first input, where nothing is trained.
_PASS_ON = frozenset(["CheckNumerics", "Identity", "PlaceholderWithDefault", "PreventGradient", "Snapshot", "StopGradient"])
# Ops that only look at shapes.
_OF_SHAPES = frozenset({"Rank", "Shape", "ShapeN", "Size"})
_CONTROL = frozenset({"Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"})
_NO_STEPS = frozenset({"Assert", "Const", "NoOp", "Placeholder"})


class UnsupportedOpsError(Exception):
    """What cannot be converted: {op: nodes}."""

    def __init__(self, nodes: dict[str, list[str]], used: Sequence[str]):
        super().__init__(nodes)
        self.nodes = nodes
        self.used = list(used)


class UnsupportedError(Exception):
    """This node cannot be converted, though others of its op can."""


def rule(*op_types: str) -> Callable[[Rule], Rule]:
    """Register a rule for ops of TensorFlow's."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(op_types, function))
        return function

    return register


def convertible_ops() -> list[str]:
    """The names of TensorFlow's ops that a converted graph may have, those included that leave no step behind."""
    return sorted({*RULES, *_PASS_ON, *_OF_SHAPES, *_NO_STEPS})


def array_name(tensor: Tensor) -> str:
    """A tensor's name in a model: that of its node, with `:1` behind it for outputs after the first."""
    return tensor.name.removesuffix(":0")


def constant_name(tensor: Tensor) -> str:
    """A constant's name: that of the node whose value it is, which a frozen variable's reading passes on."""
    while tensor.op.type in _PASS_ON:
        tensor = tensor.op.inputs[0]
    return array_name(tensor)


def lower(graph: Graph, inputs: Sequence[Tensor], outputs: Sequence[Tensor], allow_custom_ops: bool) -> Draft:
    """The part of a frozen graph that makes `outputs` from `inputs`. UnsupportedOpsError: it has ops without a rule."""
    return Lowering(graph, inputs, outputs).draft_of(allow_custom_ops)


class Lowering:
    def __init__(self, graph: Graph, inputs: Sequence[Tensor], outputs: Sequence[Tensor]):
        self.draft = Draft()
        self.graph = graph
        self._inputs, self._outputs = inputs, outputs
        self._operations = [op for op in graph.get_operations() if op not in {tensor.op for tensor in inputs}]
        self._fixed: set[Tensor] = set()
        self._constants: dict[Tensor, np.ndarray] = {}
        self._fold()
        self._names: dict[Tensor, str] = {}  # of what is there under another name

    def draft_of(self, allow_custom_ops: bool) -> Draft:
        draft = self.draft
        for tensor in self._inputs:
            draft.inputs.append(draft.add_tensor(array_name(tensor), dims_of(tensor), tensor.dtype.as_numpy_dtype))
        unsupported: dict[str, list[str]] = {}
        for op in self._operations:
            if op.type in _NO_STEPS or self._fixed.issuperset(op.outputs):
                continue
            if op.type in _PASS_ON:
                self.pass_on(op)
                continue
            try:
                if op.type not in RULES:
                    raise UnsupportedError
                RULES[op.type](self, op)
            except UnsupportedError:
                unsupported.setdefault(op.type, []).append(op.name)
                self.add("CUSTOM", [self.name(tensor) for tensor in op.inputs], op.outputs, custom=op.type)
        if unsupported and not allow_custom_ops:
            raise UnsupportedOpsError(unsupported, sorted({step.op for step in draft.steps} - {"CUSTOM"}))
        self._name_outputs()
        draft.prune()
        return draft

    # --- for rules -----------------------------------------------------------------------------------------------------

    def name(self, tensor: Tensor) -> str:
        """What holds a tensor in the model; a constant is added when it is first asked for."""
        if tensor not in self._names:
            if tensor in self._constants:
                self._names[tensor] = self.draft.add_constant(constant_name(tensor), self._constants[tensor])
            else:
                self._names[tensor] = array_name(tensor)
        return self._names[tensor]

    def pass_on(self, node: Operation) -> None:
        """Let a node's output be its first input."""
        self._names[node.outputs[0]] = self.name(node.inputs[0])

    def value(self, tensor: Tensor) -> np.ndarray | None:
        """A constant's value; None for what is computed."""
        return self._constants.get(tensor)

    def constant(self, tensor: Tensor) -> np.ndarray:
        """A constant's value. UnsupportedError where it is computed."""
        if tensor not in self._constants:
            raise UnsupportedError
        return self._constants[tensor]

    def add(
        self,
        op: str,
        inputs: Sequence[str],
        outputs: Sequence[Tensor],
        custom: str | None = None,
        version: int = 1,
        **options: Any,
    ) -> None:
        """A step that makes an operation's outputs; only those of a custom one may have shapes that nobody knows."""
        names = []
        for tensor in outputs:
            dims = [] if custom and not tensor.shape.is_fully_defined() else dims_of(tensor)
            names.append(self.draft.add_tensor(array_name(tensor), dims, tensor.dtype.as_numpy_dtype))
        self.draft.steps.append(Step(op, list(inputs), names, options, version, custom))

    def between(self, op: str, inputs: Sequence[str], name: str, shape: Sequence[int], **options: Any) -> str:
        """The name of what a further step makes, of the type of its first input."""
        dtype = self.draft.tensors[inputs[0]].dtype
        made = self.draft.add_tensor(self.draft.free_name(name), shape, dtype)
        self.draft.steps.append(Step(op, list(inputs), [made], options))
        return made

    def apart(self, name: str, parts: str, count: int) -> list[str]:
        """The names of a tensor's slices along its first axis."""
        tensor = self.draft.tensors[name]
        made = []
        for _ in range(count):
            made.append(self.draft.add_tensor(self.draft.free_name(parts), tensor.shape[1:], tensor.dtype))
        self.draft.steps.append(Step("UNPACK", [name], made, {"num": count, "axis": 0}))
        return made

    # --- around them ---------------------------------------------------------------------------------------------------

    def _fold(self) -> None:
        """Find constants, what is computed from them alone, and shapes that are known; compute those that others need."""
        shapes: dict[Tensor, np.ndarray] = {}
        for op in self._operations:
            defined = find_op(op.type)
            if op.type in _OF_SHAPES and all(tensor.shape.is_fully_defined() for tensor in op.inputs):
                shapes.update((made, _of_shape(op.type, of, made)) for made, of in zip(op.outputs, op.inputs, strict=True))
                self._fixed.update(op.outputs)
            elif defined is None or defined.is_stateful or op.type in _CONTROL or op.type == "Placeholder":
                continue
            elif all(tensor in self._fixed for tensor in op.inputs):
                self._fixed.update(op.outputs)
        needed = {tensor for op in self._operations for tensor in op.inputs if not self._fixed.issuperset(op.outputs)}
        asked = [tensor for tensor in self._fixed if tensor in needed or tensor in self._outputs]
        with Session(graph=self.graph) as session:
            values = session.run(asked, shapes)
        self._constants = {tensor: np.asarray(value) for tensor, value in zip(asked, values, strict=True)}

    def _name_outputs(self) -> None:
        """Let what the model gives out have its outputs' names; what comes in, or is constant, is copied."""
        draft = self.draft
        made = {output for step in draft.steps for output in step.outputs}
        draft.outputs = [array_name(tensor) for tensor in self._outputs]
        for tensor in self._outputs:
            wanted, present = array_name(tensor), self.name(tensor)
            if wanted == present and present in made:
                continue
            if present in made and present not in draft.outputs:
                draft.rename(present, wanted)
                made = made - {present} | {wanted}
                self._names.update({held: wanted for held, name in self._names.items() if name == present})
            else:
                if wanted == present:  # a constant
                    present = draft.free_name(f"{wanted}/constant")
                    draft.rename(wanted, present)
                shape = draft.add_constant(f"{wanted}/shape", np.array(dims_of(tensor), np.int32))
                self.add("RESHAPE", [present, shape], [tensor], new_shape=np.array(dims_of(tensor), np.int32))


def dims_of(tensor: Tensor) -> list[int]:
    """A tensor's shape. UnsupportedError: it is not known."""
    if not tensor.shape.is_fully_defined():
        raise UnsupportedError
    return [size for size in tensor.shape.as_list() if size is not None]


def _of_shape(op_type: str, tensor: Tensor, made: Tensor) -> np.ndarray:
    """What an op says of a tensor's shape."""
    dims = dims_of(tensor)
    what = {"Rank": len(dims), "Size": int(np.prod(dims))}.get(op_type, dims)
    return np.array(what, made.dtype.as_numpy_dtype)
