"""Lowering rules: functions of elements, reductions, and what moves elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.text import as_text
from tfexp.formats.lite_model import type_of
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.lite.lowering import RULES, Lowering, Rule, UnsupportedError, constant_name, dims_of, rule

# Ops that are one step with the same inputs, {TensorFlow's: TensorFlow Lite's}.
_SAME = {
    "Abs": "ABS",
    "Add": "ADD",
    "AddN": "ADD_N",
    "AddV2": "ADD",
    "Ceil": "CEIL",
    "Cos": "COS",
    "Div": "DIV",
    "Elu": "ELU",
    "Equal": "EQUAL",
    "Exp": "EXP",
    "Fill": "FILL",
    "Floor": "FLOOR",
    "FloorDiv": "FLOOR_DIV",
    "FloorMod": "FLOOR_MOD",
    "GatherNd": "GATHER_ND",
    "Greater": "GREATER",
    "GreaterEqual": "GREATER_EQUAL",
    "Less": "LESS",
    "LessEqual": "LESS_EQUAL",
    "Log": "LOG",
    "LogSoftmax": "LOG_SOFTMAX",
    "LogicalAnd": "LOGICAL_AND",
    "LogicalNot": "LOGICAL_NOT",
    "LogicalOr": "LOGICAL_OR",
    "MatrixDiag": "MATRIX_DIAG",
    "MatrixSetDiag": "MATRIX_SET_DIAG",
    "Maximum": "MAXIMUM",
    "Minimum": "MINIMUM",
    "Mul": "MUL",
    "Neg": "NEG",
    "NotEqual": "NOT_EQUAL",
    "Pow": "POW",
    "Range": "RANGE",
    "RealDiv": "DIV",
    "Relu": "RELU",
    "Relu6": "RELU6",
    "Round": "ROUND",
    "Rsqrt": "RSQRT",
    "Select": "SELECT",
    "Sigmoid": "LOGISTIC",
    "Sin": "SIN",
    "SparseToDense": "SPARSE_TO_DENSE",
    "Sqrt": "SQRT",
    "Square": "SQUARE",
    "SquaredDifference": "SQUARED_DIFFERENCE",
    "Sub": "SUB",
    "Tanh": "TANH",
    "TopKV2": "TOPK_V2",
    "Where": "WHERE",
    "ZerosLike": "ZEROS_LIKE",
}
# Ops whose inputs after the first are numbers of axes, sizes and places, in int32, which stand in the file.
_WITH_INTEGERS = {
    "BatchToSpaceND": "BATCH_TO_SPACE_ND",
    "ExpandDims": "EXPAND_DIMS",
    "Pad": "PAD",
    "ReverseV2": "REVERSE_V2",
    "Slice": "SLICE",
    "SpaceToBatchND": "SPACE_TO_BATCH_ND",
    "Tile": "TILE",
    "Transpose": "TRANSPOSE",
}
_REDUCTIONS = {
    "Any": "REDUCE_ANY",
    "Max": "REDUCE_MAX",
    "Mean": "MEAN",
    "Min": "REDUCE_MIN",
    "Prod": "REDUCE_PROD",
    "Sum": "SUM",
}
_WITH_ACTIVATION = ("ADD", "DIV", "MUL", "SUB")


def integers(lowering: Lowering, tensor: Tensor) -> str:
    """Axes, sizes or places, in int32; computed ones as they are."""
    value = lowering.value(tensor)
    if value is None or value.dtype == np.int32:
        return lowering.name(tensor)
    return lowering.draft.add_constant(constant_name(tensor), value.astype(np.int32))


def _axis(lowering: Lowering, axis: Tensor, rank: int) -> int:
    """A constant axis, from 0."""
    return int(lowering.constant(axis)) % rank


def _same(op: str) -> Rule:
    options: dict[str, Any] = {"activation": "NONE"} if op in _WITH_ACTIVATION else {}
    return lambda lowering, node: lowering.add(op, [lowering.name(one) for one in node.inputs], node.outputs, **options)


def _with_integers(op: str) -> Rule:
    def lowered(lowering: Lowering, node: Operation) -> None:
        first, *others = node.inputs
        lowering.add(op, [lowering.name(first), *(integers(lowering, one) for one in others)], node.outputs)

    return lowered


def _reduction(op: str) -> Rule:
    def lowered(lowering: Lowering, node: Operation) -> None:
        axes = np.atleast_1d(lowering.constant(node.inputs[1])).astype(np.int32)
        given = lowering.draft.add_constant(constant_name(node.inputs[1]), axes)
        lowering.add(op, [lowering.name(node.inputs[0]), given], node.outputs, keep_dims=node.get_attr("keep_dims"))

    return lowered


RULES.update({name: _same(op) for name, op in _SAME.items()})
RULES.update({name: _with_integers(op) for name, op in _WITH_INTEGERS.items()})
RULES.update({name: _reduction(op) for name, op in _REDUCTIONS.items()})


@rule("Cast")
def _(lowering: Lowering, node: Operation) -> None:
    types: dict[str, Any] = {
        f"{way}_data_type": type_of(tensor.dtype.as_numpy_dtype)
        for way, tensor in (("in", node.inputs[0]), ("out", node.outputs[0]))
    }
    lowering.add("CAST", [lowering.name(node.inputs[0])], node.outputs, **types)


@rule("LeakyRelu")
def _(lowering: Lowering, node: Operation) -> None:
    lowering.add("LEAKY_RELU", [lowering.name(node.inputs[0])], node.outputs, alpha=node.get_attr("alpha"))


@rule("PadV2")
def _(lowering: Lowering, node: Operation) -> None:
    x, paddings, fill = node.inputs
    lowering.add("PADV2", [lowering.name(x), integers(lowering, paddings), lowering.name(fill)], node.outputs)


@rule("MirrorPad")
def _(lowering: Lowering, node: Operation) -> None:
    x, paddings = node.inputs
    mode = as_text(node.get_attr("mode"))
    lowering.add("MIRROR_PAD", [lowering.name(x), integers(lowering, paddings)], node.outputs, mode=mode)


@rule("ArgMax", "ArgMin")
def _(lowering: Lowering, node: Operation) -> None:
    op = {"ArgMax": "ARG_MAX", "ArgMin": "ARG_MIN"}[node.type]
    kind = type_of(node.outputs[0].dtype.as_numpy_dtype)
    inputs = [lowering.name(node.inputs[0]), integers(lowering, node.inputs[1])]
    lowering.add(op, inputs, node.outputs, output_type=kind)


@rule("OneHot")
def _(lowering: Lowering, node: Operation) -> None:
    lowering.add("ONE_HOT", [lowering.name(one) for one in node.inputs], node.outputs, axis=node.get_attr("axis"))


@rule("Reshape")
def _(lowering: Lowering, node: Operation) -> None:
    if dims_of(node.inputs[0]) == dims_of(node.outputs[0]):
        lowering.pass_on(node)
        return
    shape = np.array(dims_of(node.outputs[0]), np.int32)
    given = lowering.draft.add_constant(constant_name(node.inputs[1]), shape)
    lowering.add("RESHAPE", [lowering.name(node.inputs[0]), given], node.outputs, new_shape=shape)


@rule("Squeeze")
def _(lowering: Lowering, node: Operation) -> None:
    x = node.inputs[0]
    axes = node.get_attr("squeeze_dims") or [axis for axis, size in enumerate(dims_of(x)) if size == 1]
    lowering.add("SQUEEZE", [lowering.name(x)], node.outputs, squeeze_dims=np.array(axes, np.int32))


@rule("ConcatV2", "Concat")
def _(lowering: Lowering, node: Operation) -> None:
    *values, axis = node.inputs if node.type == "ConcatV2" else (*node.inputs[1:], node.inputs[0])
    place = _axis(lowering, axis, len(dims_of(values[0])))
    names = [lowering.name(value) for value in values]
    lowering.add("CONCATENATION", names, node.outputs, axis=place, activation="NONE")


@rule("Pack")
def _(lowering: Lowering, node: Operation) -> None:
    names = [lowering.name(value) for value in node.inputs]
    axis = node.get_attr("axis") % len(dims_of(node.outputs[0]))
    lowering.add("PACK", names, node.outputs, values_count=len(names), axis=axis)


@rule("Unpack")
def _(lowering: Lowering, node: Operation) -> None:
    axis = node.get_attr("axis") % len(dims_of(node.inputs[0]))
    lowering.add("UNPACK", [lowering.name(node.inputs[0])], node.outputs, num=len(node.outputs), axis=axis)


@rule("Split")
def _(lowering: Lowering, node: Operation) -> None:
    axis, value = node.inputs
    names = [integers(lowering, axis), lowering.name(value)]
    lowering.add("SPLIT", names, node.outputs, num_splits=len(node.outputs))


@rule("SplitV")
def _(lowering: Lowering, node: Operation) -> None:
    value, sizes, axis = node.inputs
    names = [lowering.name(value), integers(lowering, sizes), integers(lowering, axis)]
    lowering.add("SPLIT_V", names, node.outputs, num_splits=len(node.outputs))


@rule("StridedSlice")
def _(lowering: Lowering, node: Operation) -> None:
    """1.15's runtime has neither ellipses nor new axes, and wants a place on each axis."""
    if node.get_attr("ellipsis_mask") or node.get_attr("new_axis_mask"):
        raise UnsupportedError
    x, *places = node.inputs
    given = [lowering.constant(place).astype(np.int32) for place in places]
    missing = range(given[0].size, len(dims_of(x)))
    whole = sum(1 << axis for axis in missing)
    names = [lowering.name(x)]
    for tensor, value, filling in zip(places, given, (0, 0, 1), strict=True):
        full = np.append(value, [filling] * len(missing)).astype(np.int32)
        names.append(lowering.draft.add_constant(constant_name(tensor), full))
    masks = {name: node.get_attr(name) | whole for name in ("begin_mask", "end_mask")}
    lowering.add("STRIDED_SLICE", names, node.outputs, shrink_axis_mask=node.get_attr("shrink_axis_mask"), **masks)


@rule("Gather", "GatherV2")
def _(lowering: Lowering, node: Operation) -> None:
    params, indices, *axis = node.inputs
    if node.type == "GatherV2" and node.get_attr("batch_dims"):
        raise UnsupportedError
    place = _axis(lowering, axis[0], len(dims_of(params))) if axis else 0
    lowering.add("GATHER", [lowering.name(params), lowering.name(indices)], node.outputs, axis=place)


@rule("ReverseSequence")
def _(lowering: Lowering, node: Operation) -> None:
    places = {name: node.get_attr(name) for name in ("seq_dim", "batch_dim")}
    lowering.add("REVERSE_SEQUENCE", [lowering.name(one) for one in node.inputs], node.outputs, **places)


@rule("SpaceToDepth", "DepthToSpace")
def _(lowering: Lowering, node: Operation) -> None:
    op = {"SpaceToDepth": "SPACE_TO_DEPTH", "DepthToSpace": "DEPTH_TO_SPACE"}[node.type]
    lowering.add(op, [lowering.name(node.inputs[0])], node.outputs, block_size=node.get_attr("block_size"))


@rule("ResizeBilinear", "ResizeNearestNeighbor")
def _(lowering: Lowering, node: Operation) -> None:
    """Half pixels' centres came with version 3 of the ops, after 1.15, whose converter forgets them."""
    op = {"ResizeBilinear": "RESIZE_BILINEAR", "ResizeNearestNeighbor": "RESIZE_NEAREST_NEIGHBOR"}[node.type]
    half = node.get_attr("half_pixel_centers")
    if half and node.type == "ResizeNearestNeighbor":
        sizes, made = dims_of(node.inputs[0])[1:3], dims_of(node.outputs[0])[1:3]
        half = any(new % old for old, new in zip(sizes, made, strict=True))  # whole multiples repeat pixels either way
    inputs = [lowering.name(node.inputs[0]), integers(lowering, node.inputs[1])]
    options = {"align_corners": node.get_attr("align_corners"), "half_pixel_centers": half}
    lowering.add(op, inputs, node.outputs, version=3 if half else 1, **options)
