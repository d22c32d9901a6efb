"""Lowering rules: products, windows over images, norms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.text import as_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.lite.lowering import Lowering, UnsupportedError, constant_name, dims_of, rule


def _zero_bias(lowering: Lowering, node: Operation, outputs: int) -> str:
    return lowering.draft.add_constant(f"{node.name}_bias", np.zeros([outputs], np.float32))


def _windows(node: Operation) -> dict[str, Any]:
    """The options of windows. UnsupportedError: channels first, steps over examples or channels, other paddings."""
    padding, strides = as_text(node.get_attr("padding")), node.get_attr("strides")
    if (
        as_text(node.get_attr("data_format")) != "NHWC"
        or padding not in ("SAME", "VALID")
        or (strides[0], strides[3]) != (1, 1)
    ):
        raise UnsupportedError
    return {"padding": padding, "stride_h": strides[1], "stride_w": strides[2]}


def _dilations(node: Operation) -> dict[str, int]:
    _, height, width, _ = node.get_attr("dilations")
    return {"dilation_h": height, "dilation_w": width}


# --- products ----------------------------------------------------------------------------------------------------------


@rule("MatMul")
def _(lowering: Lowering, node: Operation) -> None:
    a, b = node.inputs
    x = lowering.name(a)
    if node.get_attr("transpose_a"):
        x = _transposed(lowering, node, x)
    weights = _rows_of(lowering, node, b, not node.get_attr("transpose_b"))
    bias = _zero_bias(lowering, node, dims_of(node.outputs[0])[1])
    lowering.add("FULLY_CONNECTED", [x, weights, bias], node.outputs, activation="NONE")


def _rows_of(lowering: Lowering, node: Operation, b: Tensor, is_transposed: bool) -> str:
    """The second factor of a product, with an output's weights in a row."""
    if not is_transposed:
        return lowering.name(b)
    value = lowering.value(b)
    if value is None:
        return _transposed(lowering, node, lowering.name(b))
    return lowering.draft.add_constant(f"{constant_name(b)}/transpose", value.T)


def _transposed(lowering: Lowering, node: Operation, name: str) -> str:
    rows, columns = lowering.draft.tensors[name].shape
    order = lowering.draft.add_constant(f"{node.name}/perm", np.array([1, 0], np.int32))
    return lowering.between("TRANSPOSE", [name, order], f"{name}/transposed", [columns, rows])


@rule("BatchMatMul", "BatchMatMulV2")
def _(lowering: Lowering, node: Operation) -> None:
    """A product for each pair of matrices, as 1.15's runtime has no other."""
    made = node.outputs[0]
    sides = [_matrices(lowering, node, tensor) for tensor in node.inputs]
    *batch, rows, columns = dims_of(made)
    products = []
    for place, (x, weights) in enumerate(zip(*sides, strict=True)):
        x = _transposed(lowering, node, x) if node.get_attr("adj_x") else x
        weights = weights if node.get_attr("adj_y") else _transposed(lowering, node, weights)
        bias = _zero_bias(lowering, node, columns)
        product = f"{node.name}/product_{place}"
        products.append(lowering.between("FULLY_CONNECTED", [x, weights, bias], product, [rows, columns], activation="NONE"))
    packed = lowering.between(
        "PACK", products, f"{node.name}/packed", [len(products), rows, columns], values_count=len(products), axis=0
    )
    shape = np.array([*batch, rows, columns], np.int32)
    lowering.add("RESHAPE", [packed, lowering.draft.add_constant(f"{node.name}/shape", shape)], [made], new_shape=shape)


def _matrices(lowering: Lowering, node: Operation, tensor: Tensor) -> list[str]:
    """The matrices of a batch, one by one. UnsupportedError: there are not as many as products."""
    *batch, rows, columns = dims_of(tensor)
    if batch != dims_of(node.outputs[0])[:-2]:
        raise UnsupportedError
    count = int(np.prod(batch))
    shape = np.array([count, rows, columns], np.int32)
    given = lowering.draft.add_constant(f"{node.name}/matrices", shape)
    flat = lowering.between("RESHAPE", [lowering.name(tensor), given], f"{node.name}/flat", shape.tolist(), new_shape=shape)
    return lowering.apart(flat, f"{node.name}/matrix", count)


@rule("Conv2D")
def _(lowering: Lowering, node: Operation) -> None:
    x, filters = node.inputs
    weights = lowering.constant(filters).transpose(3, 0, 1, 2)
    name = lowering.draft.add_constant(constant_name(filters), weights)
    bias = _zero_bias(lowering, node, weights.shape[0])
    options = {**_windows(node), **_dilations(node), "activation": "NONE"}
    lowering.add("CONV_2D", [lowering.name(x), name, bias], node.outputs, **options)


@rule("DepthwiseConv2dNative")
def _(lowering: Lowering, node: Operation) -> None:
    x, filters = node.inputs
    value = lowering.constant(filters)
    height, width, depth, multiplier = value.shape
    name = lowering.draft.add_constant(constant_name(filters), value.reshape(1, height, width, depth * multiplier))
    bias = _zero_bias(lowering, node, depth * multiplier)
    options = {**_windows(node), **_dilations(node), "depth_multiplier": multiplier, "activation": "NONE"}
    lowering.add("DEPTHWISE_CONV_2D", [lowering.name(x), name, bias], node.outputs, **options)


@rule("Conv2DBackpropInput")
def _(lowering: Lowering, node: Operation) -> None:
    sizes, filters, x = node.inputs
    if node.get_attr("dilations") != [1, 1, 1, 1]:
        raise UnsupportedError
    name = lowering.draft.add_constant(constant_name(filters), lowering.constant(filters).transpose(2, 0, 1, 3))
    shape = lowering.draft.add_constant(constant_name(sizes), np.array(dims_of(node.outputs[0]), np.int32))
    lowering.add("TRANSPOSE_CONV", [shape, name, lowering.name(x)], node.outputs, **_windows(node))


# --- pools, norms, biases ----------------------------------------------------------------------------------------------


@rule("AvgPool", "MaxPool")
def _(lowering: Lowering, node: Operation) -> None:
    op = {"AvgPool": "AVERAGE_POOL_2D", "MaxPool": "MAX_POOL_2D"}[node.type]
    batch, height, width, depth = node.get_attr("ksize")
    if (batch, depth) != (1, 1):
        raise UnsupportedError
    options = {**_windows(node), "filter_height": height, "filter_width": width, "activation": "NONE"}
    lowering.add(op, [lowering.name(node.inputs[0])], node.outputs, **options)


@rule("BiasAdd", "BiasAddV1")
def _(lowering: Lowering, node: Operation) -> None:
    if node.type == "BiasAdd" and as_text(node.get_attr("data_format")) != "NHWC":
        raise UnsupportedError
    lowering.add("ADD", [lowering.name(one) for one in node.inputs], node.outputs, activation="NONE")


@rule("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _(lowering: Lowering, node: Operation) -> None:
    """A factor and a term for each channel, from statistics that are constants."""
    if node.get_attr("is_training") or as_text(node.get_attr("data_format")) != "NHWC":
        raise UnsupportedError
    scale, offset, mean, variance = (lowering.constant(one).astype(np.float64) for one in node.inputs[1:5])
    factor = scale / np.sqrt(variance + node.get_attr("epsilon"))
    factors = lowering.draft.add_constant(f"{node.name}/factor", factor.astype(np.float32))
    terms = lowering.draft.add_constant(f"{node.name}/term", (offset - mean * factor).astype(np.float32))
    x = lowering.name(node.inputs[0])
    shape = lowering.draft.tensors[x].shape
    scaled = lowering.between("MUL", [x, factors], f"{node.name}/scaled", shape, activation="NONE")
    lowering.add("ADD", [scaled, terms], node.outputs[:1], activation="NONE")


@rule("Softmax")
def _(lowering: Lowering, node: Operation) -> None:
    lowering.add("SOFTMAX", [lowering.name(node.inputs[0])], node.outputs, beta=1.0)


@rule("LRN")
def _(lowering: Lowering, node: Operation) -> None:
    options = {name: node.get_attr(name) for name in ("bias", "alpha", "beta")}
    options["radius"] = node.get_attr("depth_radius")
    lowering.add("LOCAL_RESPONSE_NORMALIZATION", [lowering.name(node.inputs[0])], node.outputs, **options)
