"""Rows of a tensor replaced, added to or subtracted from: InplaceUpdate and its relatives, Empty, DeepCopy.

TensorFlow writes to its input's buffer; here the result is a tensor of its own, and the input stays what it was. Source:
`tensorflow.python.ops.inplace_ops`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import Op, define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims, reshape, shape
from tfexp.ops.shape_rules import with_rank


def _define(name: str, change: Callable[[Array, Array, Array], Any]) -> Op:
    op = define_op(f"{name}(x: T, i: int32, v: T) -> (y: T) {{T: type}}")
    op.shape(lambda x, i, v: x)

    @op.kernel("CPU")
    def _(ctx: Any, x: Array, i: Array, v: Array) -> Array:
        if i.ndim != 1:
            raise ValueError(f"i must be a vector. {dims_text(i.shape)}")
        if x.ndim != v.ndim or x.shape[1:] != v.shape[1:]:
            raise ValueError(f"x and v shape doesn't match (ranks differ or sizes after the first do): {_sizes(x, v)}")
        if len(i) != len(v):
            raise ValueError(f"i and x shape doesn't match at index 0: {_sizes(i, v)}")
        y = np.array(x)
        rows = i % max(len(x), 1)  # TensorFlow wraps what is outside
        change(y, rows, v)
        return y

    return op


def _sizes(a: Array, b: Array) -> str:
    return f"{dims_text(a.shape)} vs. {dims_text(b.shape)}"


def _replace(y: Array, rows: Array, v: Array) -> None:
    y[rows] = v


inplace_update_op = _define("InplaceUpdate", _replace)
inplace_add_op = _define("InplaceAdd", np.add.at)
inplace_sub_op = _define("InplaceSub", np.subtract.at)

deep_copy_op = define_op("DeepCopy(x: T) -> (y: T) {T: type} #stateful")
deep_copy_op.shape(lambda x: x)


@deep_copy_op.kernel("CPU")
def _(ctx: Any, x: Array) -> Array:
    return np.array(x)


empty_op = define_op("Empty(shape: int32) -> (output: dtype) {dtype: type; init: bool = false} #stateful")


@empty_op.shape
def _(shape: InputShape) -> TensorShape:
    with_rank(shape, 1)
    return shape.value_as_shape


@empty_op.kernel("CPU")
def _(ctx: Any, shape: Array, *, dtype: DType, init: bool) -> Array:
    """Zeros, whether they are asked for or not: nothing is read that nobody wrote."""
    if dtype is dtypes.string:
        texts = np.empty(shape.tolist(), object)
        texts.fill(b"")
        return texts
    return np.zeros(shape.tolist(), dtype.as_numpy_dtype)


# --- functions ----------------------------------------------------------------------------------------------------------


def _changed(op: Op, x: Any, i: Any, v: Any) -> Tensor:
    """The op on the rows `i`: a vector of numbers, one number (`v` is one row then), or None for all of x."""
    x = convert_to_tensor(x)
    v = convert_to_tensor(v, x.dtype)
    if i is None:
        whole = op(reshape(x, [1, -1]), [0], reshape(v, [1, -1]))
        return reshape(whole, shape(x))
    i = get_op("Cast")(convert_to_tensor(i), DstT=dtypes.int32)
    if i.shape.rank == 0:
        i, v = reshape(i, [1]), expand_dims(v, 0)
    result: Tensor = op(x, i, v)
    return result


def alias_inplace_update(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `x[i] = v`."""
    return _changed(inplace_update_op, x, i, v)


def alias_inplace_add(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `x[i] += v`."""
    return _changed(inplace_add_op, x, i, v)


def alias_inplace_sub(x: Any, i: Any, v: Any) -> Tensor:
    """`x` with `x[i] -= v`."""
    return _changed(inplace_sub_op, x, i, v)


def inplace_update(x: Any, i: Any, v: Any) -> Tensor:
    """A copy of `x` with `x[i] = v`."""
    return alias_inplace_update(deep_copy_op(x), i, v)


def inplace_add(x: Any, i: Any, v: Any) -> Tensor:
    """A copy of `x` with `x[i] += v`."""
    return alias_inplace_add(deep_copy_op(x), i, v)


def inplace_sub(x: Any, i: Any, v: Any) -> Tensor:
    """A copy of `x` with `x[i] -= v`."""
    return alias_inplace_sub(deep_copy_op(x), i, v)


def empty(shape: Any, dtype: Any, init: bool = False, name: str | None = None) -> Tensor:
    result: Tensor = empty_op(shape, dtype=dtype, init=init, name=name)
    return result


def empty_like(x: Any, init: bool | None = None) -> Tensor:
    x = convert_to_tensor(x)
    return empty(shape(x), x.dtype, bool(init))
