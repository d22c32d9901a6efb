"""Convolution ops in two and three dimensions, NHWC/NDHWC and NCHW/NCDHW: Conv2D, Conv3D, and the ops of their gradients.

TensorFlow's CPU kernels refuse channels-first and some dilations; these compute them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import conv_kernels, windows_xla
from tfexp.ops.array import Array, shape, shape_n
from tfexp.ops.shape_rules import merged_dims, with_rank
from tfexp.ops.windows import (
    Windows,
    batch_and_depth,
    check_explicit,
    check_length,
    compiled_from_last,
    explicit_space,
    formatted,
    from_last,
    in_format,
    lay_windows,
    spatial,
    to_last,
    traced_last,
    window_shape,
)

_TYPES_2D = "T: type in [half,bfloat16,float,double]"
_ATTRS_2D = (
    "strides: list(int); use_cudnn_on_gpu: bool = true; padding: string in ['SAME','VALID','EXPLICIT']; "
    "explicit_paddings: list(int) = []; data_format: string in ['NHWC','NCHW'] = 'NHWC'; dilations: list(int) = [1,1,1,1]"
)
_ATTRS_3D = (
    "strides: list(int) >= 5; padding: string in ['SAME','VALID']; data_format: string in ['NDHWC','NCDHW'] = 'NDHWC'; "
    "dilations: list(int) = [1,1,1,1,1]"
)
_INTEGER_TOO = _TYPES_2D.replace("double]", "double,int32]")

conv2d_op = define_op(f"Conv2D(input: T, filter: T) -> (output: T) {{{_INTEGER_TOO}; {_ATTRS_2D}}}")
conv2d_backprop_input_op = define_op(
    f"Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> (output: T) {{{_INTEGER_TOO}; {_ATTRS_2D}}}"
)
conv2d_backprop_filter_op = define_op(
    f"Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> (output: T) {{{_TYPES_2D}; {_ATTRS_2D}}}"
)
conv3d_op = define_op(f"Conv3D(input: T, filter: T) -> (output: T) {{{_TYPES_2D}; {_ATTRS_3D}}}")
conv3d_backprop_input_v2_op = define_op(
    f"Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> (output: T) {{{_TYPES_2D}; {_ATTRS_3D}; "
    "Tshape: type in [int32,int64] = int32}"
)
conv3d_backprop_filter_v2_op = define_op(
    f"Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> (output: T) {{{_TYPES_2D}; {_ATTRS_3D}}}"
)


# --- shapes -----------------------------------------------------------------------------------------------------------


def _check_attrs(name: str, rank: int, attrs: dict[str, Any]) -> None:
    data_format = _format(attrs, rank)
    check_length(name, "dilation", attrs["dilations"], rank)
    check_length(name, "stride", attrs["strides"], rank, data_format)
    check_explicit(attrs["padding"], attrs.get("explicit_paddings", ()), rank, data_format)


def _format(attrs: dict[str, Any], rank: int) -> str:
    return str(attrs.get("data_format", "NHWC" if rank == 4 else "NDHWC"))


def _forward_shape(op: Op, rank: int) -> None:
    @op.shape
    def _(input: InputShape, filter: InputShape, **attrs: Any) -> TensorShape:
        dims, filters = with_rank(input, rank).as_list(), with_rank(filter, rank).as_list()
        _check_attrs(op.name, rank, attrs)
        data_format = _format(attrs, rank)
        batch, depth = batch_and_depth(dims, data_format)
        *window, group_depth, out_depth = filters
        if depth is not None and group_depth:
            if depth % group_depth:
                raise ValueError(f"Depth of input ({depth}) is not a multiple of input depth of filter ({group_depth})")
            groups = depth // group_depth
            if out_depth is not None and groups and out_depth % groups:
                raise ValueError(f"Depth of output ({out_depth}) is not a multiple of the number of groups ({groups})")
        space = window_shape(
            spatial(dims, data_format),
            window,
            spatial(attrs["strides"], data_format),
            spatial(attrs["dilations"], data_format),
            attrs["padding"],
            explicit_space(attrs.get("explicit_paddings", ()), data_format),
        )
        return formatted(batch, space, out_depth, data_format)


def _input_gradient_shape_2d(op: Op) -> None:
    @op.shape
    def _(input_sizes: InputShape, filter: InputShape, out_backprop: InputShape, **attrs: Any) -> TensorShape:
        with_rank(input_sizes, 1)
        filters, grads = with_rank(filter, 4).as_list(), with_rank(out_backprop, 4).as_list()
        data_format = _format(attrs, 4)
        batch, out_depth = batch_and_depth(grads, data_format)
        merged_dims(out_depth, filters[-1])
        dims = input_sizes.value_as_shape.known_dims
        if dims is None:
            return formatted(batch, [None, None], None, data_format)
        if len(dims) == 2:
            return formatted(batch, dims, filters[-2], data_format)
        if len(dims) != 4:
            raise ValueError(
                f"Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: {len(dims)}"
            )
        given, depth = batch_and_depth(dims, data_format)
        return formatted(merged_dims(given, batch), spatial(dims, data_format), depth, data_format)


@conv3d_backprop_input_v2_op.shape
def _(input_sizes: InputShape, filter: InputShape, out_backprop: InputShape) -> TensorShape:
    """In three dimensions what the filter and the gradient are says nothing."""
    with_rank(input_sizes, 1)
    return with_rank(input_sizes.value_as_shape, 5)


def _filter_gradient_shape(op: Op, rank: int) -> None:
    @op.shape
    def _(input: InputShape, filter_sizes: InputShape, out_backprop: InputShape) -> TensorShape:
        with_rank(filter_sizes, 1)
        return with_rank(filter_sizes.value_as_shape, rank)


_forward_shape(conv2d_op, 4)
_forward_shape(conv3d_op, 5)
_input_gradient_shape_2d(conv2d_backprop_input_op)
_filter_gradient_shape(conv2d_backprop_filter_op, 4)
_filter_gradient_shape(conv3d_backprop_filter_v2_op, 5)


# --- kernels ----------------------------------------------------------------------------------------------------------


def _lay(dims: Sequence[int], filters: Sequence[int], attrs: dict[str, Any]) -> Windows:
    """The windows over an input of these dimensions; ValueError where a stride or dilation is not of space."""
    data_format = _format(attrs, len(dims))
    for name in ("strides", "dilations"):
        if batch_and_depth(attrs[name], data_format) != (1, 1):
            raise ValueError(f"Current implementation does not yet support {name} in the batch and depth dimensions.")
    return lay_windows(
        spatial(dims, data_format),
        filters[:-2],
        spatial(attrs["strides"], data_format),
        spatial(attrs["dilations"], data_format),
        attrs["padding"],
        explicit_space(attrs.get("explicit_paddings", ()), data_format),
    )


def _checked_forward(x: Sequence[int], filters: Sequence[int], rank: int, attrs: dict[str, Any]) -> Windows:
    for what, dims in (("input", x), ("filter", filters)):
        if len(dims) != rank:
            raise ValueError(f"convolution {what} must be {rank}-dimensional: {dims_text(dims)}")
    depth = batch_and_depth(x, _format(attrs, rank))[1]
    if filters[-2] <= 0:
        raise ValueError(f"filter depth must be stricly positive, got {filters[-2]}")
    if depth % filters[-2]:
        raise ValueError(f"input depth must be evenly divisible by filter depth: {depth} vs {filters[-2]}")
    groups = depth // filters[-2]
    if groups and filters[-1] % groups:
        raise ValueError(f"output depth must be evenly divisible by number of groups: {filters[-1]} vs {groups}")
    return _lay(x, filters, attrs)


# How errors call the kernels, by the rank of inputs.
_GRADIENT_NAMES = {
    ("Input", 4): "Conv2DCustomBackpropInput",
    ("Input", 5): "Conv3DBackpropInputOp",
    ("Filter", 4): "Conv2DCustomBackpropFilter",
    ("Filter", 5): "Conv3DBackpropFilterOp",
}


def _checked_backward(
    name: str, x: Sequence[int], filters: Sequence[int], grad: Sequence[int], rank: int, attrs: dict[str, Any]
) -> Windows:
    for what, dims in (("input", x), ("filter", filters), ("out_backprop", grad)):
        if len(dims) != rank:
            raise ValueError(f"{name}: {what} must be {rank}-dimensional")
    data_format = _format(attrs, rank)
    (batch, depth), (grad_batch, out_depth) = batch_and_depth(x, data_format), batch_and_depth(grad, data_format)
    if batch != grad_batch:
        raise ValueError(
            f"{name}: input and out_backprop must have the same batch size"
            f"input batch: {batch}outbackprop batch: {grad_batch} batch_dim: 0"
        )
    if filters[-2] <= 0 or depth % filters[-2]:
        raise ValueError(f"{name}: input depth must be evenly divisible by filter depth")
    if filters[-1] != out_depth:
        raise ValueError(f"{name}: filter and out_backprop must have the same out_depth")
    lay = _lay(x, filters, attrs)
    for i, (actual, wanted) in enumerate(zip(spatial(grad, data_format), lay.outputs, strict=True)):
        if actual != wanted:
            raise ValueError(
                f"{name}: Size of out_backprop doesn't match computed: actual = {actual}, computed = {wanted} spatial_dim: "
                f"{i + (2 if data_format.startswith('NC') else 1)} input: {lay.inputs[i]} filter: {lay.sizes[i]} output: "
                f"{actual} stride: {lay.strides[i]} dilation: {lay.dilations[i]}"
            )
    return lay


def _filter_dims(name: str, sizes: Array) -> tuple[int, ...]:
    if sizes.ndim != 1:
        raise ValueError(f"{name}: filter_sizes input must be 1-dim, not {sizes.ndim}")
    return tuple(int(d) for d in sizes)


def _input_dims(sizes: Array, filters: Sequence[int], grad: Sequence[int], rank: int, data_format: str) -> list[int]:
    """What `input_sizes` says, which in 2-d may be rows and columns alone."""
    if sizes.ndim != 1:
        raise ValueError(
            f"Conv{rank - 2}DBackpropInput: input_sizes must be 1-dimensional, not of shape {dims_text(sizes.shape)}"
        )
    dims = [int(d) for d in sizes]
    if rank == 4 and len(dims) == 2:
        return in_format(grad[0], dims, filters[-2], data_format)
    if rank == 4 != len(dims):
        raise ValueError(f"Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: {len(dims)}")
    if min(dims) < 0:
        raise ValueError(f"Dimension {min(dims)} must be >= 0")
    return dims


def _attach_forward(op: Op, rank: int) -> None:
    @op.kernel("CPU", shares=True)
    def _(ctx: Any, input: Array, filter: Array, **attrs: Any) -> Array:
        data_format = _format(attrs, rank)
        lay = _checked_forward(input.shape, filter.shape, rank, attrs)
        return from_last(conv_kernels.convolve(to_last(input, data_format), filter, lay), data_format)

    @op.kernel("XLA")
    def _(jax: Any, input: Any, filter: Any, **attrs: Any) -> Any:
        data_format = _format(attrs, rank)
        lay = _checked_forward(input.shape, filter.shape, rank, attrs)
        result = windows_xla.convolve(jax, traced_last(input, data_format), filter.traced, lay)
        return compiled_from_last(jax, result, data_format)

    def laid(node: BindRequest) -> Windows | None:
        if _format(node.attrs, rank).startswith("NC") or not shapes_known(node):
            return None
        x, filters = (tuple(s.as_list()) for s in node.input_shapes)
        try:
            return _checked_forward(x, filters, rank, node.attrs)  # type: ignore[arg-type]  # known
        except ValueError:
            return None  # which is the kernel's to say

    @op.bind
    def _(node: BindRequest) -> Call | None:
        lay = laid(node)
        if lay is None:
            return None
        return Call(lambda input, filter, out=None: conv_kernels.convolve(input, filter, lay, out), out=True)

    @op.bind_with("onednn")
    def _(onednn: Any, node: BindRequest) -> Call | None:
        lay = laid(node)
        if lay is None or not is_float32(node):
            return None
        return onednn.convolve(*_extents(*(s.as_list() for s in node.input_shapes)), lay)  # type: ignore[no-any-return]


def _attach_input_gradient(op: Op, rank: int) -> None:
    name = _GRADIENT_NAMES["Input", rank]

    @op.kernel("CPU", shares=True)
    def _(ctx: Any, input_sizes: Array, filter: Array, out_backprop: Array, **attrs: Any) -> Array:
        data_format = _format(attrs, rank)
        dims = _input_dims(input_sizes, filter.shape, out_backprop.shape, rank, data_format)
        lay = _checked_backward(name, dims, filter.shape, out_backprop.shape, rank, attrs)
        depth = batch_and_depth(dims, data_format)[1]
        return from_last(conv_kernels.input_gradient(to_last(out_backprop, data_format), filter, lay, depth), data_format)

    @op.kernel("XLA", static=("input_sizes",))
    def _(jax: Any, input_sizes: Array, filter: Any, out_backprop: Any, **attrs: Any) -> Any:
        data_format = _format(attrs, rank)
        dims = _input_dims(input_sizes, filter.shape, out_backprop.shape, rank, data_format)
        lay = _checked_backward(name, dims, filter.shape, out_backprop.shape, rank, attrs)
        batch, depth = batch_and_depth(dims, data_format)
        grad, last = traced_last(out_backprop, data_format), (batch, *lay.inputs, depth)
        return compiled_from_last(jax, windows_xla.input_gradient(jax, grad, filter.traced, lay, last), data_format)

    def laid(node: BindRequest) -> tuple[list[int], Windows] | None:
        sizes = node.input_values[0]
        if _format(node.attrs, rank).startswith("NC") or sizes is None or not shapes_known(node):
            return None
        filters, grads = (tuple(s.as_list()) for s in node.input_shapes[1:])
        try:
            dims = _input_dims(sizes, filters, grads, rank, _format(node.attrs, rank))  # type: ignore[arg-type]  # known
            return dims, _checked_backward(name, dims, filters, grads, rank, node.attrs)  # type: ignore[arg-type]
        except ValueError:
            return None

    @op.bind
    def _(node: BindRequest) -> Call | None:
        if (found := laid(node)) is None:
            return None
        dims, lay = found
        return Call(
            lambda sizes, filter, grad, out=None: conv_kernels.input_gradient(grad, filter, lay, dims[-1], out), out=True
        )

    @op.bind_with("onednn")
    def _(onednn: Any, node: BindRequest) -> Call | None:
        if (found := laid(node)) is None or not is_float32(node):
            return None
        dims, lay = found
        return onednn.input_gradient(*_extents(dims, node.input_shapes[1].as_list()), lay)  # type: ignore[no-any-return]


def _attach_filter_gradient(op: Op, rank: int) -> None:
    name = _GRADIENT_NAMES["Filter", rank]

    @op.kernel("CPU", shares=True)
    def _(ctx: Any, input: Array, filter_sizes: Array, out_backprop: Array, **attrs: Any) -> Array:
        data_format = _format(attrs, rank)
        dims = _filter_dims(name, filter_sizes)
        lay = _checked_backward(name, input.shape, dims, out_backprop.shape, rank, attrs)
        x, grad = to_last(input, data_format), to_last(out_backprop, data_format)
        return conv_kernels.filter_gradient(x, grad, dims, lay)

    @op.kernel("XLA", static=("filter_sizes",))
    def _(jax: Any, input: Any, filter_sizes: Array, out_backprop: Any, **attrs: Any) -> Any:
        data_format = _format(attrs, rank)
        dims = _filter_dims(name, filter_sizes)
        lay = _checked_backward(name, input.shape, dims, out_backprop.shape, rank, attrs)
        x, grad = traced_last(input, data_format), traced_last(out_backprop, data_format)
        return windows_xla.filter_gradient(jax, x, grad, dims, lay)

    @op.bind_with("onednn")
    def _(onednn: Any, node: BindRequest) -> Call | None:
        sizes = node.input_values[1]
        if _format(node.attrs, rank).startswith("NC") or sizes is None or not shapes_known(node) or not is_float32(node):
            return None
        x, filters, grads = node.input_shapes[0].as_list(), sizes.tolist(), node.input_shapes[2].as_list()
        lay = _checked_backward(name, x, filters, grads, rank, node.attrs)  # type: ignore[arg-type]  # known
        return onednn.filter_gradient(*_extents(x, filters), lay, tuple(filters))  # type: ignore[no-any-return]


def _extents(x: Sequence[Any], filters: Sequence[Any]) -> tuple[int, int, int, int]:
    """Batch, depth, out depth, groups of known shapes, channels last."""
    return x[0], x[-1], filters[-1], x[-1] // filters[-2]


def is_float32(node: BindRequest) -> bool:
    """Whether the node's one output is."""
    return node.output_dtypes[0].name == "float32"


def shapes_known(node: BindRequest) -> bool:
    """Whether all shapes of the node are, inputs and outputs."""
    return all(s.is_fully_defined() for s in (*node.input_shapes, *node.output_shapes))


_attach_forward(conv2d_op, 4)
_attach_forward(conv3d_op, 5)
_attach_input_gradient(conv2d_backprop_input_op, 4)
_attach_input_gradient(conv3d_backprop_input_v2_op, 5)
_attach_filter_gradient(conv2d_backprop_filter_op, 4)
_attach_filter_gradient(conv3d_backprop_filter_v2_op, 5)


# --- gradients --------------------------------------------------------------------------------------------------------


def same_attrs(op: Operation, *but: str) -> dict[str, Any]:
    """The node's attributes, for the nodes of its gradient: all but the types, and those named."""
    return {
        name: op.attrs[name]
        for name, attr in op._op_def.attrs.items()
        if attr.kind != "type" and name not in but and name in op.attrs
    }


def _attach_gradients(forward: Op, for_input: Op, for_filter: Op) -> None:
    @forward.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor]:
        x, filters = op.inputs
        sizes = shape_n([x, filters])
        attrs = same_attrs(op)
        return [for_input(sizes[0], filters, grad, **attrs), for_filter(x, sizes[1], grad, **attrs)]

    @for_input.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
        filters, upstream = op.inputs[1:]
        attrs = same_attrs(op)
        return [None, for_filter(grad, shape(filters), upstream, **attrs), forward(grad, filters, **attrs)]

    @for_filter.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
        x, upstream = op.inputs[0], op.inputs[2]
        attrs = same_attrs(op)
        return [for_input(shape(x), grad, upstream, **attrs), None, forward(x, grad, **attrs)]


_attach_gradients(conv2d_op, conv2d_backprop_input_op, conv2d_backprop_filter_op)
_attach_gradients(conv3d_op, conv3d_backprop_input_v2_op, conv3d_backprop_filter_v2_op)
