"""Max-pooling with the places of the maxima (WithArgmax)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import pool_kernels
from tfexp.ops.array import Array
from tfexp.ops.conv import same_attrs
from tfexp.ops.pool import (
    check_pooled,
    pool_windows,
    pooled_shape,
)
from tfexp.ops.shape_rules import with_rank

_REAL = "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]"

# --- sizes as inputs --------------------------------------------------------------------------------------------------


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


@max_pool_with_argmax_op.shape
def _(input: InputShape, *, ksize: list[int], strides: list[int], padding: str) -> list[TensorShape]:
    return [pooled_shape("MaxPoolWithArgmax", input, 4, ksize, strides, padding, "NHWC")] * 2


@max_pool_grad_with_argmax_op.shape
def _(input: InputShape, grad: InputShape, argmax: InputShape) -> TensorShape:
    return with_rank(input, 4)


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


@max_pool_with_argmax_op.gradient
def _(op: Operation, grad: Tensor, argmax_grad: Tensor | None) -> Tensor:
    result: Tensor = max_pool_grad_with_argmax_op(op.inputs[0], grad, op.outputs[1], **same_attrs(op))
    return result
