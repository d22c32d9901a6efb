"""Layers in a graph, as quantisation sees them: an op with weights, what is added to it, and its activation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

LAYERS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")
ADDITIONS = ("Add", "AddV2")
RELUS = ("Relu", "Relu6")
_BIASES = ("BiasAdd", *ADDITIONS)
_ACTIVATIONS = (*RELUS, "Identity")
_READS = ("Identity", "ReadVariableOp")
_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


@dataclass(frozen=True)
class Layer:
    """The op, the addition of its bias if there is one, an addition of something else after that, and what ends it."""

    op: Operation
    bias: Operation | None
    bypass: Operation | None
    activation: Operation

    @property
    def weights(self) -> Tensor:
        return self.op.inputs[1]

    @property
    def scope(self) -> str:
        return scope_of(self.op)

    @property
    def addition_after(self) -> Operation | None:
        """The first op that adds something to the activation's value."""
        if self.activation.type not in _ACTIVATIONS:
            return None
        return next((op for op in self.activation.outputs[0].consumers() if op.type in ADDITIONS), None)


def scope_of(op: Operation) -> str:
    """The name without its last part."""
    return op.name.rpartition("/")[0]


def below(scope: str, name: str) -> str:
    """A name in a scope; as it is outside of all."""
    return f"{scope}/{name}" if scope else name


def reads_variable(tensor: Tensor) -> bool:
    """Whether the tensor is the value of a variable."""
    op = tensor.op
    return op.type in _READS and bool(op.inputs) and op.inputs[0].op.type in _VARIABLES


def has_weights(op: Operation) -> bool:
    """Whether the op multiplies by the value of a variable, as it is or with factors."""
    if op.type not in LAYERS:
        return False
    pending = [op.inputs[1]]
    while pending:
        tensor = pending.pop()
        if reads_variable(tensor):
            return True
        if tensor.op.type == "Mul":
            pending.extend(tensor.op.inputs)
    return False


def is_before_relu(op: Operation) -> bool:
    """Whether nothing but one activation takes the op's result in: the two are computed at once when it is served."""
    consumers = op.outputs[0].consumers()
    return len(consumers) == 1 and consumers[0].type in RELUS


def find_layers(graph: Graph, folded: Mapping[Operation, Operation]) -> list[Layer]:
    """All layers, each once: those with an activation, those with an addition before it, those that end with their bias.

    folded: the layer's op of each addition that stands for a batch norm's.
    """
    return list(_Search(graph, folded).layers().values())


class _Search:
    def __init__(self, graph: Graph, folded: Mapping[Operation, Operation]):
        self._ops, self._folded = graph.get_operations(), folded

    def layers(self) -> dict[Operation, Layer]:
        found: dict[Operation, Layer] = {}
        for layer in self._candidates():
            found.setdefault(layer.op, layer)
        return found

    def _candidates(self) -> Iterator[Layer]:
        activations = [op for op in self._ops if op.type in _ACTIVATIONS]
        for op in activations:
            if begun := self._begun(op.inputs[0].op):
                yield Layer(*begun, None, op)
        for op in activations:
            addition = op.inputs[0].op
            operands = addition.inputs if addition.type in ADDITIONS else ()
            ended = (begun for operand in operands if (begun := self._begun(operand.op)) and begun[1] is not None)
            if first := next(ended, None):
                yield Layer(*first, addition, op)
        for op in self._ops:
            if op.type in _BIASES and (begun := self._begun(op)):
                yield Layer(*begun, None, op)

    def _begun(self, op: Operation) -> tuple[Operation, Operation | None] | None:
        """(the op with weights, its bias) where the op gives what these do."""
        if has_weights(op):
            return op, None
        if op in self._folded:
            return self._folded[op], op
        if op.type in _BIASES:
            return next(((operand.op, op) for operand in op.inputs if has_weights(operand.op)), None)
        return None
