"""Max-pooling with sizes as inputs (V2), and with the places of the maxima (WithArgmax)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import pool_kernels
from tfexp.ops.array import Array
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.conv import same_attrs
from tfexp.ops.pool import (
    check_alike,
    check_pooled,
    max_pool_gradient,
    max_pool_second,
    pool_depth,
    pool_windows,
    pooled_shape,
)
from tfexp.ops.shape_rules import required_dim, with_rank
from tfexp.ops.windows import from_last, to_last

_MAX_TYPES = "T: type in [half,bfloat16,float,double,int32,int64,uint8,int16,int8,uint16,qint8] = float"
_REAL = "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]"
_PADDED = "padding: string in ['SAME','VALID']; data_format: string in ['NHWC','NCHW'"

# --- sizes as inputs --------------------------------------------------------------------------------------------------

max_pool_v2_op = define_op(
    f"MaxPoolV2(input: T, ksize: int32, strides: int32) -> (output: T) {{{_MAX_TYPES}; {_PADDED},'NCHW_VECT_C'] = 'NHWC'}}"
)
_GRAD_INPUTS = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32"
max_pool_grad_v2_op = define_op(f"MaxPoolGradV2({_GRAD_INPUTS}) -> (output: T) {{{_PADDED}] = 'NHWC'; {_REAL} = float}}")
max_pool_grad_grad_v2_op = define_op(f"MaxPoolGradGradV2({_GRAD_INPUTS}) -> (output: T) {{{_PADDED}] = 'NHWC'; {_REAL}}}")


def _known_sizes(ksize: InputShape, strides: InputShape) -> tuple[list[int], list[int]] | None:
    """The values of both, if they are known; ValueError for a vector of another length than 4."""
    for vector in (ksize, strides):
        length = with_rank(vector, 1).as_list()[0]
        required_dim(length, 4)
    if ksize.value is None or strides.value is None:
        return None
    return [int(n) for n in ksize.value], [int(n) for n in strides.value]


@max_pool_v2_op.shape
def _(input: InputShape, ksize: InputShape, strides: InputShape, *, padding: str, data_format: str) -> TensorShape:
    with_rank(input, 4)
    sizes = _known_sizes(ksize, strides)
    if sizes is None:
        return TensorShape(None)
    return pooled_shape("MaxPool", input, 4, *sizes, padding, data_format)


@max_pool_grad_v2_op.shape
def _(x: InputShape, y: InputShape, grad: InputShape, ksize: InputShape, strides: InputShape) -> TensorShape:
    return with_rank(x, 4)


@max_pool_grad_grad_v2_op.shape
def _(
    x: InputShape,
    y: InputShape,
    grad: InputShape,
    ksize: InputShape,
    strides: InputShape,
    *,
    padding: str,
    data_format: str,
) -> TensorShape:
    with_rank(x, 4)
    sizes = _known_sizes(ksize, strides)
    merged(x, grad)
    if sizes is None:
        return TensorShape(None)
    pooled = pooled_shape("MaxPoolGradGradV2", x, 4, *sizes, padding, data_format)
    merged(y, pooled)
    return pooled


def _sizes(ksize: Array, strides: Array) -> tuple[list[int], list[int]]:
    for name, vector in (("ksize", ksize), ("strides", strides)):
        if vector.shape != (4,):
            raise ValueError(f"{name} must be a vector of 4 numbers, not of shape {dims_text(vector.shape)}")
    return ksize.tolist(), strides.tolist()


@max_pool_v2_op.kernel("CPU", shares=True)
def _(ctx: Any, x: Array, ksize: Array, strides: Array, *, padding: str, data_format: str) -> Array:
    sizes, steps = _sizes(ksize, strides)
    over_depth = pool_depth(x, sizes, steps, data_format)
    if over_depth is not None:
        return over_depth
    lay = pool_windows(x.shape, 4, sizes, steps, padding, data_format)
    return from_last(pool_kernels.max_pool(to_last(x, data_format), lay), data_format)


@max_pool_grad_v2_op.kernel("CPU", shares=True)
def _(ctx: Any, x: Array, y: Array, grad: Array, ksize: Array, strides: Array, *, padding: str, data_format: str) -> Array:
    lay = pool_windows(x.shape, 4, *_sizes(ksize, strides), padding, data_format)
    return max_pool_gradient(x, y, grad, lay, data_format)


@max_pool_grad_grad_v2_op.kernel("CPU", shares=True)
def _(ctx: Any, x: Array, y: Array, grad: Array, ksize: Array, strides: Array, *, padding: str, data_format: str) -> Array:
    lay = pool_windows(x.shape, 4, *_sizes(ksize, strides), padding, data_format)
    return max_pool_second(x, y, grad, lay, data_format)


@max_pool_v2_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, ksize, strides = op.inputs
    return [max_pool_grad_v2_op(x, op.outputs[0], grad, ksize, strides, **same_attrs(op)), None, None]


@max_pool_grad_v2_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y, _, ksize, strides = op.inputs
    zeros = [zeros_like(x), zeros_like(y)]
    return [*zeros, max_pool_grad_grad_v2_op(x, y, grad, ksize, strides, **same_attrs(op)), None, None]


@max_pool_grad_grad_v2_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y, _, ksize, strides = op.inputs
    zeros = [zeros_like(x), zeros_like(y)]
    return [*zeros, max_pool_grad_v2_op(x, y, grad, ksize, strides, **same_attrs(op)), None, None]


# --- places of the maxima ---------------------------------------------------------------------------------------------

_ARGMAX = (
    "ksize: list(int) >= 4; strides: list(int) >= 4; padding: string in ['SAME','VALID']; include_batch_in_index: bool = "
    f"false; Targmax: type in [int32,int64]; {_REAL}"
)
max_pool_with_argmax_op = define_op(
    "MaxPoolWithArgmax(input: T) -> (output: T, argmax: Targmax) {ksize: list(int) >= 4; strides: list(int) >= 4; Targmax: "
    "type in [int32,int64] = int64; padding: string in ['SAME','VALID']; include_batch_in_index: bool = false; "
    f"{_REAL}}}"
)
max_pool_grad_with_argmax_op = define_op(
    f"MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T) {{{_ARGMAX}}}"
)
max_pool_grad_grad_with_argmax_op = define_op(
    f"MaxPoolGradGradWithArgmax(input: T, grad: T, argmax: Targmax) -> (output: T) {{{_ARGMAX}}}"
)


@max_pool_with_argmax_op.shape
def _(input: InputShape, *, ksize: list[int], strides: list[int], padding: str) -> list[TensorShape]:
    return [pooled_shape("MaxPoolWithArgmax", input, 4, ksize, strides, padding, "NHWC")] * 2


@max_pool_grad_with_argmax_op.shape
def _(input: InputShape, grad: InputShape, argmax: InputShape) -> TensorShape:
    return with_rank(input, 4)


@max_pool_grad_grad_with_argmax_op.shape
def _(
    input: InputShape, grad: InputShape, argmax: InputShape, *, ksize: list[int], strides: list[int], padding: str
) -> TensorShape:
    pooled = pooled_shape("MaxPoolGradGradWithArgmax", input, 4, ksize, strides, padding, "NHWC")
    return merged(pooled, with_rank(argmax, 4))


@max_pool_with_argmax_op.kernel("CPU", shares=True)
def _(
    ctx: Any,
    x: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    Targmax: DType,
    include_batch_in_index: bool,
) -> tuple[Array, Array]:
    lay = pool_windows(x.shape, 4, ksize, strides, padding, "NHWC")
    y = pool_kernels.max_pool(x, lay)
    places = pool_kernels.arg_largest(x, y, lay, include_batch_in_index)
    if x.dtype.kind not in "iu":  # no comparison with NaN holds, so that one which comes first stays
        pool_kernels.keep_first_nan(x, y, places, lay, include_batch_in_index)
    return y, places.astype(Targmax.as_numpy_dtype, copy=False)


def _flat_places(x: Array, argmax: Array, with_batch: bool) -> Array:
    """`argmax` as indices into the whole of x; ValueError where they point out of it."""
    places = argmax.astype(np.int64)
    limit = x.size if with_batch else x[:1].size
    if places.size and not (places.min() >= 0 and places.max() < limit):
        raise ValueError(f"argmax must be in [0, {limit}), but reaches from {places.min()} to {places.max()}")
    if not with_batch:
        places += (np.arange(len(x), dtype=np.int64) * limit).reshape(-1, 1, 1, 1)
    return places


@max_pool_grad_with_argmax_op.kernel("CPU", shares=True)
def _(
    ctx: Any,
    x: Array,
    grad: Array,
    argmax: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
) -> Array:
    lay = pool_windows(x.shape, 4, ksize, strides, padding, "NHWC")
    check_pooled(x, lay, "NHWC", grad=grad, argmax=argmax)
    result = np.zeros(x.shape, grad.dtype)
    np.add.at(result.reshape(-1), _flat_places(x, argmax, include_batch_in_index).reshape(-1), grad.reshape(-1))
    return result


@max_pool_grad_grad_with_argmax_op.kernel("CPU", shares=True)
def _(
    ctx: Any,
    x: Array,
    grad: Array,
    argmax: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    include_batch_in_index: bool,
) -> Array:
    lay = pool_windows(x.shape, 4, ksize, strides, padding, "NHWC")
    check_pooled(x, lay, "NHWC", argmax=argmax)
    check_alike("grad", grad.shape, x.shape)
    return grad.reshape(-1)[_flat_places(x, argmax, include_batch_in_index)]


@max_pool_with_argmax_op.gradient
def _(op: Operation, grad: Tensor, argmax_grad: Tensor | None) -> Tensor:
    result: Tensor = max_pool_grad_with_argmax_op(op.inputs[0], grad, op.outputs[1], **same_attrs(op))
    return result
