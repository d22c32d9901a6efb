"""About how long a node takes, from its op and its shapes alone: enough to tell heavy nodes from light ones.

What follows from these figures changes how a step runs and must be the same in every run, so nothing is measured here. The
rates are one core's, in single precision, of common processors after 2020; they are right within a factor of two or so.
"""

from __future__ import annotations

import itertools
import math

from tfexp.core.shape import TensorShape
from tfexp.plan.ir import Node

# Seconds for a multiplication and addition in a matrix product, and for one element of an element-wise op.
_PRODUCT = 1 / 25e9
_ELEMENT = 0.4e-9
# Ops that go through a transcendental function, by how many plain elements one of theirs takes.
_ELEMENTS = {
    op: elements
    for elements, ops in {
        2: "Sqrt Div RealDiv",
        3: "Rsqrt",
        5: "Exp Log Sin Cos Tanh ApplyMomentum",
        10: "Sigmoid Elu Selu Expm1 Log1p Softmax LogSoftmax FloorDiv RandomUniform ApplyAdagrad ApplyAdam ApplyRMSProp",
        15: "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits",
        20: "Softplus FloorMod Asin Acos Atan Sinh Cosh",
        30: "Tan Pow Erf Erfc RandomStandardNormal TruncatedNormal",
        60: "Lgamma Digamma TopKV2 Unique",
    }.items()
    for op in ops.split()
}
# How the types begin of ops that read, and that change, some of the elements of their first input.
_READS_SOME = "Gather"
_CHANGES_SOME = "Scatter", "SparseApply"
# The last two are what `accumulate` makes.
_MATRIX_PRODUCTS = frozenset({"MatMul", "BatchMatMulV2", "_DescendByProduct", "_ResourceDescendByProduct"})
# Work of the third order in the last dimension, in products of that order.
_CUBIC = {
    "Cholesky": 0.5,
    "MatrixDeterminant": 0.7,
    "MatrixSolve": 1.0,
    "MatrixInverse": 2.0,
    "Qr": 4.0,
    "Svd": 30.0,
}


def seconds(node: Node) -> float:
    """The estimate, on one core; 0 for views and handles, and where it cannot be told: shapes that are not known, loops."""
    if node.loop is not None or node.is_view or (node.kernel is not None and node.kernel.handle):
        return 0.0
    if "seconds" in node.attrs:
        return float(node.attrs["seconds"])  # a node that stands for several
    if is_product(node):
        return _PRODUCT * _products(node)
    if node.type in _CUBIC:
        order = _last(node.inputs[0].shape)
        return _CUBIC[node.type] * _PRODUCT * order * _elements(node.inputs[0].shape)
    if node.type.startswith(("Conv2D", "Conv3D")):
        return _PRODUCT * _convolved(node)
    sizes = [_elements(shape) for shape in _touched(node)]
    return _ELEMENT * _ELEMENTS.get(node.type, 1) * max(sizes, default=0)


def _touched(node: Node) -> list[TensorShape]:
    """The shapes of what the node reads and writes: of a table of which it needs some rows, these."""
    inputs, outputs = ([value.shape for value in values] for values in (node.inputs, node.outputs))
    kind = node.type.removeprefix("Resource")
    if kind.startswith(_READS_SOME):
        return outputs
    if kind.startswith(_CHANGES_SOME):  # the tables come first
        table = inputs[0].known_dims
        changes = itertools.dropwhile(lambda shape: shape.known_dims == table, inputs)
        return [*changes, *(shape for shape in outputs if shape.known_dims != table)]
    return inputs + outputs


def is_product(node: Node) -> bool:
    """Whether the node is BLAS's work alone."""
    return node.type in _MATRIX_PRODUCTS


def _products(node: Node) -> float:
    transposed = node.attrs.get("transpose_a", node.attrs.get("adj_x", False))
    dims = node.inputs[0].shape.known_dims
    if dims is None or len(dims) < 2:
        return 0.0
    inner = dims[-2] if transposed else dims[-1]
    return _elements(node.outputs[0].shape) * float(inner or 0)


def _convolved(node: Node) -> float:
    """The products of a convolution, or of one of its gradients, which take as many."""
    shapes = [value.shape for value in (*node.inputs, *node.outputs)]
    shapes = [shape for shape in shapes if shape.rank in (4, 5)]
    if len(shapes) < 3:
        return 0.0
    backwards = node.type.partition("Backprop")[2]
    filters = shapes[-1] if backwards.startswith("Filter") else shapes[0] if backwards else shapes[1]
    outputs = shapes[1] if backwards else shapes[-1]
    return _elements(outputs) * _elements(filters) / max(1, _last(filters))


def _last(shape: TensorShape) -> int:
    dims = shape.known_dims
    return (dims[-1] or 0) if dims else 0


def _elements(shape: TensorShape) -> int:
    dims = shape.known_dims
    return 0 if dims is None or None in dims else math.prod(dims)  # type: ignore[arg-type]  # all known
