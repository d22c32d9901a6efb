"""Pooling ops in two and three dimensions, channels last and first: maxima, means, and the ops of their gradients.

`…Grad` gives an input's gradient, `…GradGrad` the gradient of that. Maxima can also be taken over the channels (NHWC).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.merged_shape import merged
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import pool_kernels, windows_xla
from tfexp.ops.array import Array, shape
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.conv import is_float32, same_attrs
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.windows import (
    Windows,
    batch_and_depth,
    channels_second,
    check_length,
    check_strides,
    compiled_from_last,
    formatted,
    from_last,
    lay_windows,
    spatial,
    to_last,
    traced_last,
    window_shape,
)

_MAX_TYPES = "T: type in [half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8] = float"
_REAL = "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]"
_FLOAT = "T: type in [half,bfloat16,float,double]"
_SIZES = "ksize: list(int) >= 4; strides: list(int) >= 4; padding: string in ['SAME','VALID']"
_SIZES_3D = "ksize: list(int) >= 5; strides: list(int) >= 5; padding: string in ['SAME','VALID']"
_FORMAT = "data_format: string in ['NHWC','NCHW'] = 'NHWC'"
_FORMAT_3D = "data_format: string in ['NDHWC','NCDHW'] = 'NDHWC'"
_SMALL = "type in [half,bfloat16,float]"

max_pool_op = define_op(f"MaxPool(input: T) -> (output: T) {{{_MAX_TYPES}; {_SIZES}; {_FORMAT}}}")
avg_pool_op = define_op(f"AvgPool(value: T) -> (output: T) {{{_SIZES}; {_FORMAT}; {_FLOAT}}}")
max_pool3d_op = define_op(f"MaxPool3D(input: T) -> (output: T) {{{_SIZES_3D}; {_FORMAT_3D}; T: {_SMALL}}}")
avg_pool3d_op = define_op(f"AvgPool3D(input: T) -> (output: T) {{{_SIZES_3D}; {_FORMAT_3D}; {_FLOAT}}}")

_GRAD_INPUTS = "orig_input: T, orig_output: T, grad: T"
max_pool_grad_op = define_op(f"MaxPoolGrad({_GRAD_INPUTS}) -> (output: T) {{{_SIZES}; {_FORMAT}; {_REAL} = float}}")
max_pool_grad_grad_op = define_op(f"MaxPoolGradGrad({_GRAD_INPUTS}) -> (output: T) {{{_SIZES}; {_FORMAT}; {_REAL}}}")
max_pool3d_grad_op = define_op(
    f"MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> (output: T) {{{_SIZES_3D}; {_FORMAT_3D}; "
    f"T: {_SMALL} = float; TInput: {_SMALL} = float}}"
)
max_pool3d_grad_grad_op = define_op(
    f"MaxPool3DGradGrad({_GRAD_INPUTS}) -> (output: T) {{{_SIZES_3D}; {_FORMAT_3D}; {_REAL}}}"
)
avg_pool_grad_op = define_op(
    f"AvgPoolGrad(orig_input_shape: int32, grad: T) -> (output: T) {{{_SIZES}; {_FORMAT}; {_FLOAT}}}"
)
avg_pool3d_grad_op = define_op(
    f"AvgPool3DGrad(orig_input_shape: int32, grad: T) -> (output: T) {{{_SIZES_3D}; {_FORMAT_3D}; {_FLOAT}}}"
)


# --- shapes -----------------------------------------------------------------------------------------------------------


def pooled_shape(
    name: str, x: TensorShape, rank: int, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str
) -> TensorShape:
    """The shape of the pooled input; ValueError where no window fits. Only maxima are taken over channels."""
    dims = with_rank(x, rank).as_list()
    check_length(name, "stride", strides, rank)
    check_length(name, "ksize", ksize, rank)
    batch, depth = batch_and_depth(dims, data_format)
    check_strides(strides)
    window, steps = spatial(ksize, data_format), spatial(strides, data_format)
    space = window_shape(spatial(dims, data_format), window, steps, [1] * (rank - 2), padding)
    if name.startswith("MaxPool") and rank == 4:
        depth = window_shape(
            [depth], [batch_and_depth(ksize, data_format)[1]], [batch_and_depth(strides, data_format)[1]], [1], padding
        )[0]
    return formatted(batch, space, depth, data_format)


def _attach_pooled_shape(op: Op, rank: int) -> None:
    @op.shape
    def _(x: InputShape, *, ksize: list[int], strides: list[int], padding: str, data_format: str) -> TensorShape:
        return pooled_shape(op.name, x, rank, ksize, strides, padding, data_format)


for _op, _rank in ((max_pool_op, 4), (avg_pool_op, 4), (max_pool3d_op, 5), (avg_pool3d_op, 5)):
    _attach_pooled_shape(_op, _rank)


def _attach_gradient_shapes(grad_op: Op, rank: int) -> None:
    """A gradient has the input's shape."""

    @grad_op.shape
    def _(orig_input: InputShape, orig_output: InputShape, grad: InputShape) -> TensorShape:
        return with_rank(orig_input, rank)


def _attach_second_shapes(op: Op, rank: int) -> None:
    """The gradient of a gradient has the output's."""

    @op.shape
    def _(
        orig_input: InputShape,
        orig_output: InputShape,
        grad: InputShape,
        *,
        ksize: list[int],
        strides: list[int],
        padding: str,
        data_format: str,
    ) -> TensorShape:
        pooled = pooled_shape(op.name, orig_input, rank, ksize, strides, padding, data_format)
        merged(orig_output, pooled)
        merged(orig_input, grad)
        return pooled


def _attach_mean_gradient_shape(op: Op, rank: int) -> None:
    @op.shape
    def _(orig_input_shape: InputShape, grad: InputShape) -> TensorShape:
        with_rank(orig_input_shape, 1)
        return with_rank(orig_input_shape.value_as_shape, rank)


_attach_gradient_shapes(max_pool_grad_op, 4)
_attach_gradient_shapes(max_pool3d_grad_op, 5)
_attach_second_shapes(max_pool_grad_grad_op, 4)
_attach_second_shapes(max_pool3d_grad_grad_op, 5)
_attach_mean_gradient_shape(avg_pool_grad_op, 4)
_attach_mean_gradient_shape(avg_pool3d_grad_op, 5)


# --- windows, checked -------------------------------------------------------------------------------------------------


def pool_windows(
    dims: Sequence[int], rank: int, ksize: Sequence[int], strides: Sequence[int], padding: str, data_format: str
) -> Windows:
    """The windows over an input of these dimensions; the errors of TensorFlow's kernels for what cannot be."""
    if len(dims) != rank:
        raise ValueError(f"tensor_in must be {rank}-dimensional: {dims_text(dims)}")
    for values in (ksize, strides):
        if len(values) != rank:
            raise ValueError(f"Sliding window ksize and strides fields must specify {rank} dimensions")
        if min(values) <= 0:
            raise ValueError(f"Sliding window ksize and strides must be positive, got {list(values)}")
    (batch, depth), (batch_stride, depth_stride) = (batch_and_depth(v, data_format) for v in (ksize, strides))
    if batch != 1 or batch_stride != 1:
        raise NotImplementedError("Pooling is not yet supported on the batch dimension.")
    if depth != 1 or depth_stride != 1:
        raise NotImplementedError("Pooling is not yet supported on the depth dimension.")
    space = spatial(dims, data_format)
    return lay_windows(space, spatial(ksize, data_format), spatial(strides, data_format), (1,) * len(space), padding)


def _windows(dims: Sequence[int], rank: int, attrs: dict[str, Any]) -> Windows:
    return pool_windows(dims, rank, attrs["ksize"], attrs["strides"], attrs["padding"], attrs["data_format"])


def _bound_windows(node: BindRequest, dims: Any, rank: int) -> Windows | None:
    """The windows of a node whose shapes are known and channels last; None where its kernel has to look."""
    known = all(s.is_fully_defined() for s in (*node.input_shapes, *node.output_shapes))
    if not known or dims is None or channels_second(node.attrs["data_format"]):
        return None
    try:
        return _windows(dims, rank, node.attrs)
    except (ValueError, NotImplementedError):
        return None


def pool_depth(x: Array, ksize: Sequence[int], strides: Sequence[int], data_format: str) -> Array | None:
    """Maxima over neighbouring channels, where that is what is asked for; None for windows in space."""
    size, step = batch_and_depth(ksize, data_format)[1], batch_and_depth(strides, data_format)[1]
    if size == 1 or x.ndim != len(ksize):
        return None
    if any(n != 1 for n in (*spatial(ksize, data_format), *spatial(strides, data_format))):
        raise NotImplementedError("MaxPooling supports exactly one of pooling across depth or pooling across width/height.")
    if size != step:
        raise NotImplementedError("Depthwise max pooling requires the depth window to equal the depth stride")
    channels_last = to_last(x, data_format)
    if channels_last.shape[-1] % size:
        raise NotImplementedError("Depthwise max pooling requires the depth window to evenly divide the input depth")
    return from_last(channels_last.reshape(*channels_last.shape[:-1], -1, size).max(-1), data_format)


def check_alike(what: str, actual: Sequence[int], wanted: Sequence[int]) -> None:
    if list(actual) != list(wanted):
        raise ValueError(f"Expected {what} shape to be {dims_text(wanted)}, but got {dims_text(actual)}")


def check_pooled(x: Array, lay: Windows, data_format: str, **pooled: Array) -> None:
    """ValueError unless each of `pooled` is shaped like the pooled x."""
    batch, depth = batch_and_depth(x.shape, data_format)
    wanted = formatted(batch, lay.outputs, depth, data_format).as_list()
    for what, array in pooled.items():
        check_alike(what, array.shape, wanted)  # type: ignore[arg-type]  # known


# --- kernels ----------------------------------------------------------------------------------------------------------


def _attach_pool(op: Op, rank: int, function: Any) -> None:
    @op.kernel("CPU", shares=True)
    def _(ctx: Any, x: Array, **attrs: Any) -> Array:
        data_format = attrs["data_format"]
        if function is pool_kernels.max_pool and rank == 4:
            over_depth = pool_depth(x, attrs["ksize"], attrs["strides"], data_format)
            if over_depth is not None:
                return over_depth
        return from_last(function(to_last(x, data_format), _windows(x.shape, rank, attrs)), data_format)

    @op.bind
    def _(node: BindRequest) -> Call | None:
        lay = _bound_windows(node, node.input_shapes[0].known_dims, rank)
        return None if lay is None else Call(lambda x, out=None: function(x, lay, out), out=True)

    @op.bind_with("numba")
    def _(numba: Any, node: BindRequest) -> Call | None:
        lay = _bound_windows(node, node.input_shapes[0].known_dims, rank)
        return None if lay is None else getattr(numba, function.__name__)(node.name, node.output_dtypes[0].name, lay)

    @op.bind_with("onednn")
    def _(onednn: Any, node: BindRequest) -> Call | None:
        x = node.input_shapes[0].known_dims
        if (lay := _bound_windows(node, x, rank)) is None or not is_float32(node):
            return None
        if function is pool_kernels.avg_pool:
            return onednn.avg_pool(x[0], x[-1], lay)  # type: ignore[no-any-return,index]  # known
        return onednn.max_pool(x[0], x[-1], lay, lambda x, out: function(x, lay, out))  # type: ignore[no-any-return,index]


_attach_pool(max_pool_op, 4, pool_kernels.max_pool)
_attach_pool(avg_pool_op, 4, pool_kernels.avg_pool)
_attach_pool(max_pool3d_op, 5, pool_kernels.max_pool)
_attach_pool(avg_pool3d_op, 5, pool_kernels.avg_pool)


def _attach_compiled_pool(op: Op, rank: int, function: Any) -> None:
    @op.kernel("XLA")
    def _(jax: Any, x: Any, **attrs: Any) -> Any:
        data_format = attrs["data_format"]
        over_depth = pool_depth(x, attrs["ksize"], attrs["strides"], data_format) if op is max_pool_op else None
        if over_depth is not None:
            return over_depth
        lay = _windows(x.shape, rank, attrs)
        return compiled_from_last(jax, function(jax, traced_last(x, data_format), lay), data_format)


_attach_compiled_pool(max_pool_op, 4, windows_xla.max_pool)
_attach_compiled_pool(avg_pool_op, 4, windows_xla.avg_pool)
_attach_compiled_pool(max_pool3d_op, 5, windows_xla.max_pool)
_attach_compiled_pool(avg_pool3d_op, 5, windows_xla.avg_pool)


def _max_pool_gradient(x: Array, y: Array, grad: Array, lay: Windows, out: Array | None = None) -> Array:
    """To the first of equal elements, but in three dimensions of float32 to all of them, as TensorFlow's kernels pass it."""
    to_all = x.ndim == 5 and x.dtype == np.float32
    function = pool_kernels.max_pool_gradient_of_equals if to_all else pool_kernels.max_pool_gradient
    return function(x, y, grad, lay, out)


def max_pool_gradient(x: Array, y: Array, grad: Array, lay: Windows, data_format: str) -> Array:
    """`pool_kernels.max_pool_gradient` in any data format, with the shapes checked."""
    check_pooled(x, lay, data_format, orig_output=y, grad=grad)
    x, y, grad = (to_last(a, data_format) for a in (x, y, grad))
    return from_last(_max_pool_gradient(x, y, grad, lay), data_format)


def max_pool_second(x: Array, y: Array, grad: Array, lay: Windows, data_format: str) -> Array:
    """`pool_kernels.pick_at_largest` in any data format, with the shapes checked."""
    check_pooled(x, lay, data_format, orig_output=y)
    check_alike("grad", grad.shape, x.shape)
    x, y, grad = (to_last(a, data_format) for a in (x, y, grad))
    return from_last(pool_kernels.pick_at_largest(x, y, grad, lay), data_format)


def _attach_max_gradients(grad_op: Op, second_op: Op, rank: int) -> None:
    @grad_op.kernel("CPU", shares=True)
    def _(ctx: Any, x: Array, y: Array, grad: Array, **attrs: Any) -> Array:
        return max_pool_gradient(x, y, grad, _windows(x.shape, rank, attrs), attrs["data_format"])

    @grad_op.kernel("XLA")
    def _(jax: Any, x: Any, y: Any, grad: Any, **attrs: Any) -> Any:
        data_format, lay = attrs["data_format"], _windows(x.shape, rank, attrs)
        last, grad_last = traced_last(x, data_format), traced_last(grad, data_format)
        return compiled_from_last(jax, windows_xla.max_pool_gradient(jax, last, grad_last, lay), data_format)

    def laid(node: BindRequest) -> Windows | None:
        lay = _bound_windows(node, node.input_shapes[0].known_dims, rank)
        pooled = [s.known_dims for s in node.input_shapes[1:]]
        fit = lay is not None and all(s is not None and s[1:-1] == lay.outputs for s in pooled) and pooled[0] == pooled[1]
        return lay if fit else None

    @grad_op.bind
    def _(node: BindRequest) -> Call | None:
        if (lay := laid(node)) is None:
            return None
        return Call(lambda x, y, grad, out=None: _max_pool_gradient(x, y, grad, lay, out), out=True)

    @grad_op.bind_with("numba")
    def _(numba: Any, node: BindRequest) -> Call | None:
        if rank != 4 or (lay := laid(node)) is None:
            return None
        return numba.max_pool_gradient(node.name, node.output_dtypes[0].name, lay)  # type: ignore[no-any-return]

    @grad_op.bind_with("onednn")
    def _(onednn: Any, node: BindRequest) -> Call | None:
        floats = all(dtype.name == "float32" for dtype in node.input_dtypes)
        if rank != 4 or not floats or (lay := laid(node)) is None:
            return None
        batch, *_, depth = node.input_shapes[0].as_list()

        def otherwise(x: Array, y: Array, grad: Array, out: Array) -> None:
            pool_kernels.max_pool_gradient(x, y, grad, lay, out)

        return onednn.max_pool_gradient(batch, depth, lay, otherwise)  # type: ignore[no-any-return]

    @second_op.kernel("CPU", shares=True)
    def _(ctx: Any, x: Array, y: Array, grad: Array, **attrs: Any) -> Array:
        return max_pool_second(x, y, grad, _windows(x.shape, rank, attrs), attrs["data_format"])


_attach_max_gradients(max_pool_grad_op, max_pool_grad_grad_op, 4)
_attach_max_gradients(max_pool3d_grad_op, max_pool3d_grad_grad_op, 5)


def _attach_mean_gradient(op: Op, rank: int) -> None:
    @op.kernel("CPU", shares=True)
    def _(ctx: Any, orig_input_shape: Array, grad: Array, **attrs: Any) -> Array:
        if orig_input_shape.shape != (rank,):
            raise ValueError(f"out_backprop must be 1-dimensional and {rank} elements")
        if grad.ndim != rank:
            raise ValueError(f"out_backprop must be {rank}-dimensional")
        data_format = attrs["data_format"]
        dims = [int(d) for d in orig_input_shape]
        lay = _windows(dims, rank, attrs)
        batch, depth = batch_and_depth(dims, data_format)
        check_alike("grad", grad.shape, formatted(batch, lay.outputs, depth, data_format).as_list())  # type: ignore[arg-type]
        return from_last(pool_kernels.avg_pool_gradient(to_last(grad, data_format), lay), data_format)

    @op.kernel("XLA", static=("orig_input_shape",))
    def _(jax: Any, orig_input_shape: Array, grad: Any, **attrs: Any) -> Any:
        data_format = attrs["data_format"]
        dims = [int(d) for d in orig_input_shape]
        lay, (batch, depth) = _windows(dims, rank, attrs), batch_and_depth(dims, data_format)
        gradient = windows_xla.avg_pool_gradient(jax, traced_last(grad, data_format), lay, (batch, *lay.inputs, depth))
        return compiled_from_last(jax, gradient, data_format)

    def laid(node: BindRequest) -> Windows | None:
        sizes = node.input_values[0]
        lay = None if sizes is None else _bound_windows(node, tuple(int(d) for d in sizes), rank)
        if lay is None or sizes is None:
            return None
        return lay if node.input_shapes[1].known_dims == (int(sizes[0]), *lay.outputs, int(sizes[-1])) else None

    @op.bind
    def _(node: BindRequest) -> Call | None:
        if (lay := laid(node)) is None:
            return None
        return Call(lambda sizes, grad, out=None: pool_kernels.avg_pool_gradient(grad, lay, out), out=True)

    @op.bind_with("onednn")
    def _(onednn: Any, node: BindRequest) -> Call | None:
        if (lay := laid(node)) is None or not is_float32(node):
            return None
        batch, *_, depth = node.output_shapes[0].as_list()
        return onednn.avg_pool_gradient(batch, depth, lay)  # type: ignore[no-any-return]

    @op.bind_with("numba")
    def _(numba: Any, node: BindRequest) -> Call | None:
        if (lay := laid(node)) is None:
            return None
        return numba.avg_pool_gradient(node.name, node.output_dtypes[0].name, lay)  # type: ignore[no-any-return]


_attach_mean_gradient(avg_pool_grad_op, 4)
_attach_mean_gradient(avg_pool3d_grad_op, 5)


# --- gradients --------------------------------------------------------------------------------------------------------


def _attach_max_pool_rules(forward: Op, grad_op: Op, second_op: Op) -> None:
    @forward.gradient
    def _(op: Operation, grad: Tensor) -> Tensor:
        result: Tensor = grad_op(op.inputs[0], op.outputs[0], grad, **same_attrs(op))
        return result

    @grad_op.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor]:
        x, y = op.inputs[:2]
        return [zeros_like(x), zeros_like(y), second_op(x, y, grad, **same_attrs(op))]

    @second_op.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor]:
        x, y = op.inputs[:2]
        return [zeros_like(x), zeros_like(y), grad_op(x, y, grad, **same_attrs(op))]


_attach_max_pool_rules(max_pool_op, max_pool_grad_op, max_pool_grad_grad_op)
_attach_max_pool_rules(max_pool3d_op, max_pool3d_grad_op, max_pool3d_grad_grad_op)


def _attach_avg_pool_rules(forward: Op, grad_op: Op) -> None:
    @forward.gradient
    def _(op: Operation, grad: Tensor) -> Tensor:
        result: Tensor = grad_op(shape(op.inputs[0]), grad, **same_attrs(op))
        return result

    @grad_op.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor]:
        return [stop_gradient(op.inputs[0]), forward(grad, **same_attrs(op))]


_attach_avg_pool_rules(avg_pool_op, avg_pool_grad_op)
_attach_avg_pool_rules(avg_pool3d_op, avg_pool3d_grad_op)
