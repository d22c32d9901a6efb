"""Depthwise convolution, each channel on its own: DepthwiseConv2dNative and the ops of its gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import depthwise_kernels
from tfexp.ops.array import Array, shape
from tfexp.ops.conv import is_float32, same_attrs, shapes_known
from tfexp.ops.shape_rules import merged_dims, with_rank
from tfexp.ops.windows import (
    Windows,
    batch_and_depth,
    channels_second,
    check_length,
    formatted,
    from_last,
    lay_windows,
    spatial,
    to_last,
    window_shape,
)

_ATTRS = (
    "{T: type in [half,bfloat16,float,double]; strides: list(int); padding: string in ['SAME','VALID']; data_format: string "
    "in ['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]}"
)

depthwise_op = define_op(f"DepthwiseConv2dNative(input: T, filter: T) -> (output: T) {_ATTRS}")
depthwise_backprop_input_op = define_op(
    f"DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T) {_ATTRS}"
)
depthwise_backprop_filter_op = define_op(
    f"DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T) {_ATTRS}"
)


@depthwise_op.shape
def _(
    input: InputShape,
    filter: InputShape,
    *,
    strides: list[int],
    padding: str,
    data_format: str,
    dilations: list[int],
) -> TensorShape:
    dims, (rows, columns, depth, multiplier) = with_rank(input, 4).as_list(), with_rank(filter, 4).as_list()
    check_length("DepthwiseConv2D", "stride", strides, 4)
    check_length("DepthwiseConv2D", "dilation", dilations, 4)
    batch, in_depth = batch_and_depth(dims, data_format)
    depth = merged_dims(in_depth, depth)
    space = window_shape(
        spatial(dims, data_format),
        [rows, columns],
        spatial(strides, data_format),
        spatial(dilations, data_format),
        padding,
    )
    out_depth = None if depth is None or multiplier is None else depth * multiplier
    return formatted(batch, space, out_depth, data_format)


def _given(sizes: InputShape) -> TensorShape:
    with_rank(sizes, 1)
    return with_rank(sizes.value_as_shape, 4)


depthwise_backprop_input_op.shape(lambda input_sizes, filter, out_backprop: _given(input_sizes))
depthwise_backprop_filter_op.shape(lambda input, filter_sizes, out_backprop: _given(filter_sizes))


def _lay(dims: Sequence[int], filters: Sequence[int], attrs: dict[str, Any]) -> Windows:
    """The windows over an input of these dimensions; ValueError for what does not fit."""
    for what, shape_of in (("input", dims), ("filter", filters)):
        if len(shape_of) != 4:
            raise ValueError(f"{what} must be 4-dimensional{dims_text(shape_of)}")
    data_format = attrs["data_format"]
    depth = batch_and_depth(dims, data_format)[1]
    if depth != filters[2]:
        raise ValueError(f"input and filter must have the same depth: {depth} vs {filters[2]}")
    if batch_and_depth(attrs["strides"], data_format) != (1, 1):
        raise ValueError("Current implementation does not yet support strides in the batch and depth dimensions.")
    rows, columns = spatial(attrs["strides"], data_format)
    if rows != columns:
        raise ValueError("Current implementation only supports equal length strides in the row and column dimensions.")
    dilations = spatial(attrs["dilations"], data_format)
    return lay_windows(spatial(dims, data_format), filters[:2], (rows, columns), dilations, attrs["padding"])


def _lay_gradient(dims: Sequence[int], filters: Sequence[int], grad: Sequence[int], attrs: dict[str, Any]) -> Windows:
    """The same, with a gradient of this shape for the output."""
    lay = _lay(dims, filters, attrs)
    wanted = formatted(dims[0], lay.outputs, filters[2] * filters[3], attrs["data_format"]).as_list()
    if list(grad) != wanted:
        raise ValueError(f"out_backprop must have the shape {dims_text(wanted)}, but has {dims_text(grad)}")
    return lay


@depthwise_op.kernel("CPU", shares=True)
def _(ctx: Any, input: Array, filter: Array, **attrs: Any) -> Array:
    lay = _lay(input.shape, filter.shape, attrs)
    data_format = attrs["data_format"]
    return from_last(depthwise_kernels.depthwise(to_last(input, data_format), filter, lay), data_format)


def _laid(node: BindRequest) -> Windows | None:
    """The windows of the op where they are known and channels last."""
    if not shapes_known(node) or channels_second(node.attrs["data_format"]):
        return None
    x, filters = (s.as_list() for s in node.input_shapes)
    try:
        return _lay(x, filters, node.attrs)  # type: ignore[arg-type]  # known
    except ValueError:
        return None  # which is the kernel's to say


@depthwise_op.bind
def _(node: BindRequest) -> Call | None:
    lay = _laid(node)
    if lay is None:
        return None
    return Call(lambda input, filter, out=None: depthwise_kernels.depthwise(input, filter, lay, out), out=True)


@depthwise_op.bind_with("onednn")
def _(onednn: Any, node: BindRequest) -> Call | None:
    lay = _laid(node)
    if lay is None or not is_float32(node):
        return None
    return onednn.convolve(*_extents(*(s.as_list() for s in node.input_shapes)), lay)  # type: ignore[no-any-return]


def _extents(x: Sequence[Any], filters: Sequence[Any]) -> tuple[int, int, int, int]:
    """Batch, depth, out depth, groups of known shapes."""
    return x[0], x[-1], filters[2] * filters[3], filters[2]


@depthwise_op.bind_with("numba")
def _(numba: Any, node: BindRequest) -> Call | None:
    lay = _laid(node)
    if lay is None or node.input_shapes[1].as_list()[-1] != 1:
        return None
    return numba.depthwise(node.name, node.output_dtypes[0].name, lay)  # type: ignore[no-any-return]


@depthwise_backprop_input_op.kernel("CPU", shares=True)
def _(ctx: Any, input_sizes: Array, filter: Array, out_backprop: Array, **attrs: Any) -> Array:
    data_format = attrs["data_format"]
    lay = _lay_gradient([int(d) for d in input_sizes], filter.shape, out_backprop.shape, attrs)
    grad = to_last(out_backprop, data_format)
    return from_last(depthwise_kernels.depthwise_input_gradient(grad, filter, lay), data_format)


def _laid_gradient(node: BindRequest) -> tuple[list[int], Windows] | None:
    """The input's shape, and the windows, of the op of its gradient."""
    sizes = node.input_values[0]
    if sizes is None or not shapes_known(node) or channels_second(node.attrs["data_format"]):
        return None
    filters, grads = (s.as_list() for s in node.input_shapes[1:])
    dims = [int(d) for d in sizes]
    try:
        return dims, _lay_gradient(dims, filters, grads, node.attrs)  # type: ignore[arg-type]
    except ValueError:
        return None


@depthwise_backprop_input_op.bind
def _(node: BindRequest) -> Call | None:
    if (found := _laid_gradient(node)) is None:
        return None
    lay = found[1]
    gradient = depthwise_kernels.depthwise_input_gradient
    return Call(lambda sizes, filter, grad, out=None: gradient(grad, filter, lay, out), out=True)


@depthwise_backprop_input_op.bind_with("onednn")
def _(onednn: Any, node: BindRequest) -> Call | None:
    if (found := _laid_gradient(node)) is None or not is_float32(node):
        return None
    dims, lay = found
    return onednn.input_gradient(*_extents(dims, node.input_shapes[1].as_list()), lay)  # type: ignore[no-any-return]


@depthwise_backprop_input_op.bind_with("numba")
def _(numba: Any, node: BindRequest) -> Call | None:
    if (found := _laid_gradient(node)) is None or node.input_shapes[1].as_list()[-1] != 1:
        return None
    return numba.depthwise_input_gradient(node.name, node.output_dtypes[0].name, found[1])  # type: ignore[no-any-return]


@depthwise_backprop_filter_op.kernel("CPU", shares=True)
def _(ctx: Any, input: Array, filter_sizes: Array, out_backprop: Array, **attrs: Any) -> Array:
    filters = tuple(int(d) for d in filter_sizes)
    data_format = attrs["data_format"]
    lay = _lay_gradient(input.shape, filters, out_backprop.shape, attrs)
    x, grad = to_last(input, data_format), to_last(out_backprop, data_format)
    return depthwise_kernels.depthwise_filter_gradient(x, grad, filters, lay)


def _laid_filter_gradient(node: BindRequest) -> tuple[tuple[int, ...], Windows] | None:
    """The filter's shape, and the windows, of the op of its gradient."""
    sizes = node.input_values[1]
    if sizes is None or not shapes_known(node) or channels_second(node.attrs["data_format"]):
        return None
    x, filters, grads = node.input_shapes[0].as_list(), sizes.tolist(), node.input_shapes[2].as_list()
    return tuple(filters), _lay_gradient(x, filters, grads, node.attrs)  # type: ignore[arg-type]  # known


@depthwise_backprop_filter_op.bind_with("onednn")
def _(onednn: Any, node: BindRequest) -> Call | None:
    if (found := _laid_filter_gradient(node)) is None or not is_float32(node):
        return None
    filters, lay = found
    return onednn.filter_gradient(*_extents(node.input_shapes[0].as_list(), filters), lay, filters)  # type: ignore[no-any-return]


@depthwise_backprop_filter_op.bind_with("numba")
def _(numba: Any, node: BindRequest) -> Call | None:
    if (found := _laid_filter_gradient(node)) is None or found[0][-1] != 1:
        return None
    filters, lay = found
    return numba.depthwise_filter_gradient(node.name, node.output_dtypes[0].name, lay, filters)  # type: ignore[no-any-return]


@depthwise_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    x, filters = op.inputs
    attrs = same_attrs(op)
    return [
        depthwise_backprop_input_op(shape(x), filters, grad, **attrs),
        depthwise_backprop_filter_op(x, shape(filters), grad, **attrs),
    ]


@depthwise_backprop_input_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    filters, upstream = op.inputs[1:]
    attrs = same_attrs(op)
    return [
        None,
        depthwise_backprop_filter_op(grad, shape(filters), upstream, **attrs),
        depthwise_op(grad, filters, **attrs),
    ]


@depthwise_backprop_filter_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, upstream = op.inputs[0], op.inputs[2]
    attrs = same_attrs(op)
    return [
        depthwise_backprop_input_op(shape(x), grad, upstream, **attrs),
        None,
        depthwise_op(x, grad, **attrs),
    ]
