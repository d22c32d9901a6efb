"""What TensorFlow Lite's ops mean, as nodes of a graph. A rule takes tensors, None where one is left out, and options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.tensor import Tensor

Inputs = Sequence[Any]
Options = dict[str, Any]
Rule = Callable[[Inputs, Options], Any]

RULES: dict[str, Rule] = {}

# Ops that are one node with the same inputs and no options.
_SAME = {
    "ABS": "Abs",
    "ADD": "Add",
    "ADD_N": "AddN",
    "BATCH_TO_SPACE_ND": "BatchToSpaceND",
    "CEIL": "Ceil",
    "COS": "Cos",
    "DIV": "RealDiv",
    "ELU": "Elu",
    "EQUAL": "Equal",
    "EXP": "Exp",
    "EXPAND_DIMS": "ExpandDims",
    "FILL": "Fill",
    "FLOOR": "Floor",
    "FLOOR_DIV": "FloorDiv",
    "FLOOR_MOD": "FloorMod",
    "GATHER_ND": "GatherNd",
    "GREATER": "Greater",
    "GREATER_EQUAL": "GreaterEqual",
    "LESS": "Less",
    "LESS_EQUAL": "LessEqual",
    "LOG": "Log",
    "LOGICAL_AND": "LogicalAnd",
    "LOGICAL_NOT": "LogicalNot",
    "LOGICAL_OR": "LogicalOr",
    "LOGISTIC": "Sigmoid",
    "LOG_SOFTMAX": "LogSoftmax",
    "MATRIX_DIAG": "MatrixDiag",
    "MATRIX_SET_DIAG": "MatrixSetDiag",
    "MAXIMUM": "Maximum",
    "MINIMUM": "Minimum",
    "MUL": "Mul",
    "NEG": "Neg",
    "NOT_EQUAL": "NotEqual",
    "PAD": "Pad",
    "PADV2": "PadV2",
    "POW": "Pow",
    "RANGE": "Range",
    "RANK": "Rank",
    "RELU": "Relu",
    "RELU6": "Relu6",
    "REVERSE_V2": "ReverseV2",
    "ROUND": "Round",
    "RSQRT": "Rsqrt",
    "SCATTER_ND": "ScatterNd",
    "SEGMENT_SUM": "SegmentSum",
    "SELECT": "Select",
    "SELECT_V2": "SelectV2",
    "SIN": "Sin",
    "SLICE": "Slice",
    "SPACE_TO_BATCH_ND": "SpaceToBatchND",
    "SPARSE_TO_DENSE": "SparseToDense",
    "SQRT": "Sqrt",
    "SQUARE": "Square",
    "SQUARED_DIFFERENCE": "SquaredDifference",
    "SUB": "Sub",
    "TANH": "Tanh",
    "TILE": "Tile",
    "TOPK_V2": "TopKV2",
    "TRANSPOSE": "Transpose",
    "WHERE": "Where",
    "ZEROS_LIKE": "ZerosLike",
}
_REDUCTIONS = {
    "MEAN": "Mean",
    "SUM": "Sum",
    "REDUCE_PROD": "Prod",
    "REDUCE_MAX": "Max",
    "REDUCE_MIN": "Min",
    "REDUCE_ANY": "Any",
}


def nodes_of(op: str, inputs: Inputs, options: Options) -> list[Tensor]:
    """The outputs of an op, its activation included. ValueError: an op that is not known, or inputs that it cannot take."""
    if op not in RULES:
        raise ValueError(f"Didn't find op for builtin opcode '{op}': it is not among those that run here.")
    made = RULES[op](inputs, options)
    outputs = [made] if isinstance(made, Tensor) else list(made)
    activation = options.get("activation", "NONE")
    return outputs if op == "LSTM" else [activated(output, activation) for output in outputs]


def activated(x: Tensor, activation: str) -> Tensor:
    """An activation by its name in files. ValueError: one that is not known."""
    if activation == "NONE":
        return x
    if activation == "RELU_N1_TO_1":
        return _between(x, -1.0, 1.0)
    if activation not in ("RELU", "RELU6", "TANH"):
        raise ValueError(f"No such activation: {activation}")
    return get_op(activation.capitalize())(x)


def _between(x: Tensor, low: float, high: float) -> Tensor:
    return get_op("Minimum")(get_op("Maximum")(x, low), high)


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


def _one_node(op: str) -> Rule:
    if op == "AddN":
        return lambda inputs, options: get_op(op)(list(inputs))
    return lambda inputs, options: get_op(op)(*inputs)


def _reduction(op: str) -> Rule:
    return lambda inputs, options: get_op(op)(*inputs, keep_dims=options.get("keep_dims", False))


RULES.update({name: _one_node(op) for name, op in _SAME.items()})
RULES.update({name: _reduction(op) for name, op in _REDUCTIONS.items()})


# --- products and windows ----------------------------------------------------------------------------------------------


def _windows(options: Options) -> dict[str, Any]:
    strides = [1, options["stride_h"], options["stride_w"], 1]
    return {"strides": strides, "padding": options.get("padding", "SAME")}


def _dilations(options: Options) -> list[int]:
    return [1, options.get("dilation_h", 1), options.get("dilation_w", 1), 1]


def _plus(x: Tensor, bias: Tensor | None) -> Tensor:
    return x if bias is None else get_op("Add")(x, bias)


def _bias(inputs: Inputs, place: int = 2) -> Tensor | None:
    return inputs[place] if len(inputs) > place else None


@_rule("FULLY_CONNECTED")
def _(inputs: Inputs, options: Options) -> Tensor:
    x, weights = inputs[:2]
    units, depth = weights.shape.as_list()
    rows = get_op("Reshape")(x, [-1, depth])
    out = _plus(get_op("MatMul")(rows, weights, transpose_b=True), _bias(inputs))
    if options.get("keep_num_dims"):
        return get_op("Reshape")(out, [*x.shape.as_list()[:-1], units])
    return out


@_rule("CONV_2D")
def _(inputs: Inputs, options: Options) -> Tensor:
    filters = get_op("Transpose")(inputs[1], [1, 2, 3, 0])
    out = get_op("Conv2D")(inputs[0], filters, dilations=_dilations(options), **_windows(options))
    return _plus(out, _bias(inputs))


@_rule("DEPTHWISE_CONV_2D")
def _(inputs: Inputs, options: Options) -> Tensor:
    x, filters = inputs[:2]
    _, height, width, outputs = filters.shape.as_list()
    depth = x.shape.as_list()[3]
    filters = get_op("Reshape")(filters, [height, width, depth, outputs // depth])
    windows, dilations = _windows(options), _dilations(options)
    out = get_op("DepthwiseConv2dNative")(x, filters, dilations=dilations, **windows)
    return _plus(out, _bias(inputs))


@_rule("TRANSPOSE_CONV")
def _(inputs: Inputs, options: Options) -> Tensor:
    shape, filters, x = inputs[:3]
    filters = get_op("Transpose")(filters, [1, 2, 0, 3])
    return _plus(get_op("Conv2DBackpropInput")(shape, filters, x, **_windows(options)), _bias(inputs, 3))


def _pooling(op: str) -> Rule:
    def rule(inputs: Inputs, options: Options) -> Tensor:
        ksize = [1, options["filter_height"], options["filter_width"], 1]
        return get_op(op)(inputs[0], ksize=ksize, **_windows(options))

    return rule


RULES.update({"AVERAGE_POOL_2D": _pooling("AvgPool"), "MAX_POOL_2D": _pooling("MaxPool")})


@_rule("L2_POOL_2D")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("Sqrt")(RULES["AVERAGE_POOL_2D"]([get_op("Square")(inputs[0])], options))


@_rule("BATCH_MATMUL")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("BatchMatMulV2")(*inputs, adj_x=options.get("adj_x", False), adj_y=options.get("adj_y", False))


@_rule("LSTM")
def _(inputs: Inputs, options: Options) -> list[Tensor]:
    """The cell of `BasicLSTMCell`, whose gates are input, new input, forget, output; a forget bias is in the bias."""
    if options.get("kernel_type") != "BASIC":
        raise ValueError("LSTM: only its basic kernel runs here.")
    x, activation, weights, bias, state = inputs
    joined = get_op("ConcatV2")([x, activation], 1)
    gates = _plus(get_op("MatMul")(joined, weights, transpose_b=True), bias)
    entering, new, forget, out = get_op("Split")(1, gates, num_split=4)
    sigmoid, tanh, mul = get_op("Sigmoid"), get_op("Tanh"), get_op("Mul")
    new_state = get_op("Add")(mul(sigmoid(forget), state), mul(sigmoid(entering), tanh(new)))
    return [mul(sigmoid(out), tanh(new_state)), new_state, joined, gates]


# --- functions of elements ---------------------------------------------------------------------------------------------


@_rule("SOFTMAX")
def _(inputs: Inputs, options: Options) -> Tensor:
    beta = options.get("beta", 1.0)
    return get_op("Softmax")(inputs[0] if beta == 1 else get_op("Mul")(inputs[0], np.float32(beta)))


@_rule("RELU_N1_TO_1")
def _(inputs: Inputs, options: Options) -> Tensor:
    return _between(inputs[0], -1.0, 1.0)


@_rule("HARD_SWISH")
def _(inputs: Inputs, options: Options) -> Tensor:
    gate = get_op("Relu6")(get_op("Add")(inputs[0], 3.0))
    return get_op("Mul")(inputs[0], get_op("Mul")(gate, np.float32(1 / 6)))


@_rule("LEAKY_RELU")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("LeakyRelu")(inputs[0], alpha=options["alpha"])


@_rule("PRELU")
def _(inputs: Inputs, options: Options) -> Tensor:
    x, alpha = inputs
    return get_op("Add")(get_op("Relu")(x), get_op("Mul")(alpha, get_op("Minimum")(x, 0.0)))


@_rule("L2_NORMALIZATION")
def _(inputs: Inputs, options: Options) -> Tensor:
    squares = get_op("Sum")(get_op("Square")(inputs[0]), [-1], keep_dims=True)
    return get_op("Mul")(inputs[0], get_op("Rsqrt")(get_op("Maximum")(squares, 1e-12)))


@_rule("LOCAL_RESPONSE_NORMALIZATION")
def _(inputs: Inputs, options: Options) -> Tensor:
    named = {"depth_radius": options["radius"], **{key: options[key] for key in ("bias", "alpha", "beta")}}
    return get_op("LRN")(inputs[0], **named)


# --- shapes and places -------------------------------------------------------------------------------------------------


@_rule("RESHAPE")
def _(inputs: Inputs, options: Options) -> Tensor:
    """To the shape that its second input is; where that is no vector, and where there is none, to the option's."""
    is_given = len(inputs) > 1 and inputs[1].shape.rank == 1
    return get_op("Reshape")(inputs[0], inputs[1] if is_given else np.array(options["new_shape"], np.int32))


@_rule("CONCATENATION")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("ConcatV2")(list(inputs), options.get("axis", 0))


@_rule("PACK")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("Pack")(list(inputs), axis=options.get("axis", 0))


@_rule("UNPACK")
def _(inputs: Inputs, options: Options) -> Any:
    return get_op("Unpack")(inputs[0], num=options["num"], axis=options.get("axis", 0))


@_rule("SPLIT")
def _(inputs: Inputs, options: Options) -> Any:
    return get_op("Split")(*inputs, num_split=options["num_splits"])


@_rule("SPLIT_V")
def _(inputs: Inputs, options: Options) -> Any:
    return get_op("SplitV")(*inputs, num_split=options["num_splits"])


@_rule("SQUEEZE")
def _(inputs: Inputs, options: Options) -> Tensor:
    axes = options.get("squeeze_dims")
    return get_op("Squeeze")(inputs[0], squeeze_dims=[] if axes is None else [int(axis) for axis in axes])


@_rule("STRIDED_SLICE")
def _(inputs: Inputs, options: Options) -> Tensor:
    names = {"shrink_axis_mask", "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask"}
    return get_op("StridedSlice")(*inputs, **{name: options.get(name, 0) for name in sorted(names)})


@_rule("GATHER")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("GatherV2")(*inputs, options.get("axis", 0), batch_dims=options.get("batch_dims", 0))


@_rule("EMBEDDING_LOOKUP")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("GatherV2")(inputs[1], inputs[0], 0)


@_rule("ARG_MAX")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("ArgMax")(*inputs, output_type=options.get("output_type", "INT64").lower())


@_rule("ARG_MIN")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("ArgMin")(*inputs, output_type=options.get("output_type", "INT64").lower())


@_rule("ONE_HOT")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("OneHot")(*inputs, axis=options.get("axis", -1))


@_rule("SHAPE")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("Shape")(inputs[0], out_type=options.get("out_type", "INT32").lower())


@_rule("MIRROR_PAD")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("MirrorPad")(*inputs, mode=options.get("mode", "REFLECT"))


@_rule("REVERSE_SEQUENCE")
def _(inputs: Inputs, options: Options) -> Tensor:
    lengths = get_op("Cast")(inputs[1], DstT=dtypes.int64)
    return get_op("ReverseSequence")(inputs[0], lengths, seq_dim=options["seq_dim"], batch_dim=options.get("batch_dim", 0))


@_rule("SPACE_TO_DEPTH")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("SpaceToDepth")(inputs[0], block_size=options["block_size"])


@_rule("DEPTH_TO_SPACE")
def _(inputs: Inputs, options: Options) -> Tensor:
    return get_op("DepthToSpace")(inputs[0], block_size=options["block_size"])


def _resizing(op: str) -> Rule:
    def rule(inputs: Inputs, options: Options) -> Tensor:
        named = {name: options.get(name, False) for name in ("align_corners", "half_pixel_centers")}
        return get_op(op)(*inputs, **named)

    return rule


RULES.update({"RESIZE_BILINEAR": _resizing("ResizeBilinear")})
RULES.update({"RESIZE_NEAREST_NEIGHBOR": _resizing("ResizeNearestNeighbor")})
