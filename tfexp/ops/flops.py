"""How many float operations nodes do, from the shapes of their inputs and outputs: statistics of the kind `flops`.

The numbers are TensorFlow's, so that models compare with published counts: a multiplication and the addition of its product
count as two, an addition of products as often as there are products (and not one less), and a node whose type has no rule
as none. A comparison counts as an operation, too. (Only in products of batches that take the first one transposed,
TensorFlow reads an attribute that they do not have, and counts wrongly.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.statistics import OpStats, RegisterStatistics

Shape = Sequence[int]


@dataclass(frozen=True)
class KnownShapes:
    """A node with the shapes of its inputs and outputs, each of which a rule asks for; ValueError where one is not known."""

    op: Operation
    inputs: Sequence[TensorShape]
    outputs: Sequence[TensorShape]

    def input(self, number: int) -> Shape:
        return self._known(self.inputs[number], f"input {number}")

    def shared_dim(self, *places: tuple[int, int]) -> int:
        """A dimension that several inputs have, each at an axis of its own: one of them has to tell it."""
        sizes = [self.inputs[number][axis].value for number, axis in places]
        known = next((size for size in sizes if size is not None), None)
        if known is None:
            number, axis = places[0]
            raise ValueError(f"{self.op.name} ({self.op.type}): dimension {axis} of input {number} has to be known.")
        return int(known)

    def output(self) -> Shape:
        return self._known(self.outputs[0], "the output")

    def _known(self, shape: TensorShape, which: str) -> Shape:
        dims = shape.known_dims
        if dims is None or None in dims:
            raise ValueError(f"{self.op.name} ({self.op.type}): the shape of {which} has to be known, and is {shape}.")
        return [dim for dim in dims if dim is not None]


Flops = Callable[[KnownShapes], int]


class FlopsRule:
    """A registered statistic that can also be asked with other shapes than the graph's: those of a run."""

    def __init__(self, flops: Flops):
        self.flops = flops

    def __call__(self, graph: Any, node: Any) -> OpStats:
        op = graph.get_operation_by_name(node.name)
        known = KnownShapes(op, [tensor.shape for tensor in op.inputs], [tensor.shape for tensor in op.outputs])
        return OpStats("flops", self.flops(known))


def _counts(*op_types: str) -> Callable[[Flops], Flops]:
    def register(flops: Flops) -> Flops:
        for op_type in op_types:
            RegisterStatistics(op_type, "flops")(FlopsRule(flops))
        return flops

    return register


# --- one or a few operations for each element ----------------------------------------------------------------------------

_EACH_ELEMENT = {
    1: "Add AddV2 AssignAdd AssignSub BiasAdd Equal Greater GreaterEqual Less LessEqual Log Maximum Minimum Mul Neg "
    "NotEqual Pow RealDiv Reciprocal Square Sub",
    2: "Rsqrt SquaredDifference",
    4: "RsqrtGrad",
    5: "Softmax",
}


def _for_each_element(count: int) -> Flops:
    return lambda node: count * math.prod(node.output())


for _count, _op_types in _EACH_ELEMENT.items():
    _counts(*_op_types.split())(_for_each_element(_count))


@_counts("AddN")
def _(node: KnownShapes) -> int:
    return (len(node.inputs) - 1) * math.prod(node.input(0))


# --- reductions: each element but one of every result is added to another, or compared with it -----------------------------


@_counts("ArgMax", "ArgMin", "BiasAddGrad", "Sum")
def _(node: KnownShapes) -> int:
    return math.prod(node.input(0)) - math.prod(node.output())


@_counts("Mean")
def _(node: KnownShapes) -> int:
    return math.prod(node.input(0))  # as a sum, and a division for each result


@_counts("L2Loss")
def _(node: KnownShapes) -> int:
    return 3 * math.prod(node.input(0)) - 1


# --- products of matrices ------------------------------------------------------------------------------------------------


def _products(node: KnownShapes, first_transposed: bool, second_transposed: bool) -> int:
    summed = node.shared_dim((0, -2 if first_transposed else -1), (1, -1 if second_transposed else -2))
    return 2 * summed * math.prod(node.output())


@_counts("MatMul")
def _(node: KnownShapes) -> int:
    return _products(node, node.op.attrs["transpose_a"], node.op.attrs["transpose_b"])


@_counts("BatchMatMul", "BatchMatMulV2")
def _(node: KnownShapes) -> int:
    return _products(node, node.op.attrs["adj_x"], node.op.attrs["adj_y"])


# --- convolutions: a filter is height, width and so on, then the channels that it takes and those that it makes ------------


@_counts("Conv2D", "Conv3D")
def _(node: KnownShapes) -> int:
    return 2 * math.prod(node.input(1)[:-1]) * math.prod(node.output())


@_counts("DepthwiseConv2dNative", "Dilation2D")
def _(node: KnownShapes) -> int:
    height, width = node.input(1)[:2]
    return 2 * height * width * math.prod(node.output())


def _backwards(node: KnownShapes, image: Shape, kernel: Shape) -> int:
    height, width, _, made = kernel
    return 2 * height * width * made * math.prod(image) // math.prod(node.op.attrs["strides"])


@_counts("Conv2DBackpropInput")
def _(node: KnownShapes) -> int:
    return _backwards(node, node.output(), node.input(1))


@_counts("Conv2DBackpropFilter")
def _(node: KnownShapes) -> int:
    return _backwards(node, node.input(0), node.output())


# --- pooling -------------------------------------------------------------------------------------------------------------


def _window(node: KnownShapes) -> int:
    return math.prod(node.op.attrs["ksize"])


@_counts("AvgPool", "MaxPool")
def _(node: KnownShapes) -> int:
    return _window(node) * math.prod(node.output())


@_counts("AvgPoolGrad")
def _(node: KnownShapes) -> int:
    return 2 * _window(node) * math.prod(node.input(1))


@_counts("MaxPoolGrad")
def _(node: KnownShapes) -> int:
    return (_window(node) + 1) * math.prod(node.input(1))
