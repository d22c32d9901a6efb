"""How a node of a function of one element does many elements at once: a rule for each op that can (`dataset_lift`).

A value that depends on the element has a new first axis in the lifted function, the others stay as they are. A rule gets the
node and its inputs' values there, of which at least one has that axis, and makes the lifted node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor

_ELEMENTWISE = """
Abs Acos Acosh AsString Asin Asinh Atan Atanh Cast Ceil Conj Cos Cosh Digamma Elu Erf Erfc Exp Expm1 Floor Identity Imag
Inv Invert IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p LogicalNot Neg OnesLike Real Reciprocal Relu Relu6 Rint Round
Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square StaticRegexFullMatch StaticRegexReplace StringLength
StringLower StringStrip StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Tan
Tanh ZerosLike DecodeBase64 DecodeCompressed DecodeJSONExample EncodeBase64
"""
_BROADCASTING = """
Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual
LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul MulNoNan NotEqual Pow RealDiv RightShift SelectV2
SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlogy
"""
_REDUCTIONS = "All Any Max Mean Min Prod Sum"


class NotLiftableError(Exception):
    """A node that has no lifted form."""


@dataclass(frozen=True)
class Lifted:
    """A value in the lifted function; `many` says whether it has the new first axis."""

    tensor: Tensor
    many: bool


class Nodes:
    """Makes nodes of a lifted function's graph."""

    def __init__(self, graph: Graph):
        self.graph = graph

    def node(self, op_type: str, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None = None) -> Tensor:
        declared = get_op(op_type).attrs
        given = {key: attr.default for key, attr in declared.items() if attr.has_default} | attrs
        return self.graph.add_node(op_type, inputs, given, name=name).outputs[0]

    def same(self, op: Operation, inputs: Sequence[Tensor], **attrs: Any) -> list[Tensor]:
        """The same node on these inputs, with these attributes changed."""
        return self.graph.add_node(op.type, inputs, {**op.attrs, **attrs}, name=op.name).outputs

    def constant(self, value: Any, dtype: Any) -> Tensor:
        array = np.array(value, dtype.as_numpy_dtype)
        return self.node("Const", [], {"dtype": dtype, "value": make_tensor_proto(array)})

    def with_rank(self, value: Lifted, rank: int, wanted: int) -> Tensor:
        """A value that has the new axis, with axes of length 1 behind it up to `wanted` further ones."""
        tensor = value.tensor
        for _ in range(wanted - rank):
            attrs = {"T": tensor.dtype, "Tdim": dtypes.int32}
            tensor = self.node("ExpandDims", [tensor, self.constant(1, dtypes.int32)], attrs)
        return tensor

    def joined(self, first: Tensor, second: Tensor) -> Tensor:
        """Two int32 vectors as one."""
        parts = [first, second, self.constant(0, dtypes.int32)]
        return self.node("ConcatV2", parts, {"T": dtypes.int32, "Tidx": dtypes.int32, "N": 2})

    def reshaped(self, tensor: Tensor, shape: Tensor) -> Tensor:
        return self.node("Reshape", [tensor, shape], {"T": tensor.dtype, "Tshape": dtypes.int32})


Rule = Callable[[Nodes, Operation, list[Lifted]], list[Tensor]]


def rank_of(tensor: Tensor) -> int:
    if tensor.shape.rank is None:
        raise NotLiftableError
    return tensor.shape.rank


def fixed(op: Operation, position: int) -> np.ndarray:
    """The value of an input that is known now."""
    value = static_value(op.inputs[position])
    if value is None:
        raise NotLiftableError
    return np.asarray(value)


def _elementwise(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    return nodes.same(op, [value.tensor for value in inputs])


def _broadcasting(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    ranks = [rank_of(tensor) for tensor in op.inputs]
    wanted = max(ranks)
    return nodes.same(
        op,
        [nodes.with_rank(v, rank, wanted) if v.many else v.tensor for v, rank in zip(inputs, ranks, strict=True)],
    )


def _reduction(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    rank, axes = rank_of(op.inputs[0]), fixed(op, 1)
    moved = np.ravel(axes) % max(rank, 1) + 1
    return nodes.same(op, [inputs[0].tensor, nodes.constant(moved, op.inputs[1].dtype)])


def _reshape(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    if inputs[1].many or not op.outputs[0].shape.is_fully_defined():
        raise NotLiftableError
    shape = [-1, *op.outputs[0].shape.as_list()]
    if 0 in shape:
        raise NotLiftableError
    return nodes.same(op, [inputs[0].tensor, nodes.constant(shape, op.inputs[1].dtype)])


def _expand_dims(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    axis = int(fixed(op, 1))
    moved = axis if axis < 0 else axis + 1
    return nodes.same(op, [inputs[0].tensor, nodes.constant(moved, op.inputs[1].dtype)])


def _squeeze(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    rank, dims = rank_of(op.inputs[0]), op.inputs[0].shape.as_list()
    axes = [axis % rank for axis in op.attrs["squeeze_dims"]] or [axis for axis in range(rank) if dims[axis] == 1]
    if not op.attrs["squeeze_dims"] and None in dims:
        raise NotLiftableError
    if not axes:
        return [inputs[0].tensor]
    return nodes.same(op, [inputs[0].tensor], squeeze_dims=[axis + 1 for axis in axes])


def _transpose(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    order = [0, *(int(axis) + 1 for axis in fixed(op, 1))]
    return nodes.same(op, [inputs[0].tensor, nodes.constant(order, op.inputs[1].dtype)])


def _one_hot(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    if any(value.many for value in inputs[1:]):
        raise NotLiftableError
    axis = op.attrs["axis"]
    return nodes.same(op, [value.tensor for value in inputs], axis=axis if axis < 0 else axis + 1)


def _gather(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    if inputs[0].many or inputs[2].many or op.attrs["batch_dims"] != 0 or int(fixed(op, 2)) != 0:
        raise NotLiftableError
    return nodes.same(op, [value.tensor for value in inputs])


def _pack(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    if not all(value.many for value in inputs):
        raise NotLiftableError
    axis = op.attrs["axis"]
    return nodes.same(op, [value.tensor for value in inputs], axis=axis if axis < 0 else axis + 1)


def _first_only(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    if any(value.many for value in inputs[1:]):
        raise NotLiftableError
    return nodes.same(op, [value.tensor for value in inputs])


def _parse_example(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    """Of one example and of a vector it is the same op; what is of another length for each example does not stack."""
    same_for_all = all(shape.is_fully_defined() for shape in op.attrs["dense_shapes"])
    rank = rank_of(op.inputs[0])
    if any(value.many for value in inputs[1:]) or not same_for_all or fixed(op, 1).size or rank > 1:
        raise NotLiftableError
    if op.attrs["num_sparse"] or op.attrs["ragged_value_types"]:
        raise NotLiftableError
    serialized, *others = (value.tensor for value in inputs)
    if not rank:
        return nodes.same(op, [serialized, *others])
    vector = nodes.reshaped(serialized, nodes.constant([-1], dtypes.int32))
    batches = nodes.node("Shape", [serialized], {"T": serialized.dtype})
    return [
        nodes.reshaped(values, nodes.joined(batches, nodes.constant(shape.as_list(), dtypes.int32)))
        for values, shape in zip(nodes.same(op, [vector, *others]), op.attrs["dense_shapes"], strict=True)
    ]


def _reverse(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    rank = rank_of(op.inputs[0])
    axes = [int(axis) % rank + 1 for axis in np.ravel(fixed(op, 1))]
    return nodes.same(op, [inputs[0].tensor, nodes.constant(axes, op.inputs[1].dtype)])


def _concat(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    *values, axis = inputs
    if not all(value.many for value in values) or axis.many:
        raise NotLiftableError
    moved = int(fixed(op, len(values))) % rank_of(op.inputs[0]) + 1
    return nodes.same(op, [*(value.tensor for value in values), nodes.constant(moved, op.inputs[-1].dtype)])


def _strided_slice(nodes: Nodes, op: Operation, inputs: list[Lifted]) -> list[Tensor]:
    """All of the new axis, then what is taken of an element."""
    if any(value.many for value in inputs[1:]):
        raise NotLiftableError
    limits = [
        nodes.constant([first, *np.ravel(fixed(op, position)).tolist()], op.inputs[position].dtype)
        for position, first in ((1, 0), (2, 0), (3, 1))
    ]
    masks = {name: op.attrs[name] << 1 for name in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")}
    whole = {name: op.attrs[name] << 1 | 1 for name in ("begin_mask", "end_mask")}
    return nodes.same(op, [inputs[0].tensor, *limits], **masks, **whole)


RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _elementwise),
    **dict.fromkeys(_BROADCASTING.split(), _broadcasting),
    **dict.fromkeys(_REDUCTIONS.split(), _reduction),
    "DecodeCSV": _first_only,
    "ConcatV2": _concat,
    "ExpandDims": _expand_dims,
    "GatherV2": _gather,
    "OneHot": _one_hot,
    "Pack": _pack,
    "ParseExampleV2": _parse_example,
    "RegexFullMatch": _first_only,
    "RegexReplace": _first_only,
    "Reshape": _reshape,
    "ReverseV2": _reverse,
    "Squeeze": _squeeze,
    "StridedSlice": _strided_slice,
    "Transpose": _transpose,
}
