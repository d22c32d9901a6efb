"""Distinct values of vectors, and distinct slices along an axis: Unique, UniqueWithCounts and their second versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array, dims_text
from tfexp.ops.shape_rules import with_rank


def _distinct(x: Array) -> tuple[Array, Array, Array]:
    """Values in order of first occurrence, for each element the position of its value, and how often each occurs."""
    if np.ndim(x) != 1:
        raise ValueError("unique expects a 1D vector.")
    sorted_values, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return sorted_values[order], place[inverse.reshape(-1)], counts[order]


unique_op = define_op(
    "Unique(x: T) -> (y: T, idx: out_idx) {T: type; out_idx: type in [int32,int64] = int32}"
).not_differentiable()


@unique_op.shape
def _(x: InputShape) -> list[TensorShape]:
    return [TensorShape([None]), with_rank(x, 1)]


@unique_op.kernel("CPU")
def _(ctx: Any, x: Array, *, out_idx: DType) -> list[Array]:
    values, positions, _ = _distinct(x)
    return [values, positions.astype(out_idx.as_numpy_dtype)]


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """(y, idx): the distinct elements of a vector, in order, and where each element of `x` is in them. `tf.unique`."""
    return unique_op(x, out_idx=out_idx, name=name)


unique_with_counts_op = define_op(
    "UniqueWithCounts(x: T) -> (y: T, idx: out_idx, count: out_idx) {T: type; out_idx: type in [int32,int64] = int32}"
).not_differentiable()


@unique_with_counts_op.shape
def _(x: InputShape) -> list[TensorShape]:
    return [TensorShape([None]), with_rank(x, 1), TensorShape([None])]


@unique_with_counts_op.kernel("CPU")
def _(ctx: Any, x: Array, *, out_idx: DType) -> list[Array]:
    values, positions, counts = _distinct(x)
    return [values, positions.astype(out_idx.as_numpy_dtype), counts.astype(out_idx.as_numpy_dtype)]


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """(y, idx, count): as `tf.unique`, and how often each element occurs. Source: `tf.unique_with_counts`."""
    return unique_with_counts_op(x, out_idx=out_idx, name=name)


_ALONG_AXIS = "T: type; Taxis: type in [int32,int64] = int64; out_idx: type in [int32,int64] = int32"
unique_v2_op = define_op(f"UniqueV2(x: T, axis: Taxis) -> (y: T, idx: out_idx) {{{_ALONG_AXIS}}}").not_differentiable()
unique_with_counts_v2_op = define_op(
    f"UniqueWithCountsV2(x: T, axis: Taxis) -> (y: T, idx: out_idx, count: out_idx) {{{_ALONG_AXIS}}}"
).not_differentiable()


def _distinct_slices(x: Array, axis: Array) -> tuple[Array, Array, Array]:
    """As `_distinct`, of the slices along an axis: `axis` holds its number, or nothing, for a vector."""
    if np.ndim(axis) != 1 or np.size(axis) > 1:
        raise ValueError(f"axis expects a 1D vector of at most one number, not one of shape {dims_text(np.shape(axis))}.")
    if not np.size(axis):
        return _distinct(x)
    along = int(axis[0])
    if not -np.ndim(x) <= along < np.ndim(x):
        raise ValueError(f"axis expects to be in the range [-{np.ndim(x)}, {np.ndim(x)}), got {along}")
    rows = np.moveaxis(x, along, 0)
    flat = rows.reshape(len(rows), -1)
    # Each slice is one value: its number among the slices' sorted forms, column by column.
    keys = np.zeros(len(rows), np.intp)
    for column in flat.T:
        places = np.unique(column, return_inverse=True)[1].reshape(-1)
        keys = np.unique(keys * len(rows) + places, return_inverse=True)[1].reshape(-1)
    _, positions, counts = _distinct(keys)
    first = np.zeros(len(counts), np.intp)
    first[positions[::-1]] = np.arange(len(rows))[::-1]
    return np.moveaxis(rows[first], 0, along), positions, counts


def _shape_along(x: InputShape, axis: InputShape) -> TensorShape:
    dims = x.known_dims
    if dims is None or axis.value is None:
        return TensorShape(None if dims is None else [None] * len(dims))
    if not np.size(axis.value):
        return TensorShape([None])
    along = int(np.ravel(axis.value)[0])
    return TensorShape([None if i == along % len(dims) else d for i, d in enumerate(dims)])


@unique_v2_op.shape
def _(x: InputShape, axis: InputShape) -> list[TensorShape]:
    return [_shape_along(x, axis), TensorShape([None])]


@unique_with_counts_v2_op.shape
def _(x: InputShape, axis: InputShape) -> list[TensorShape]:
    return [_shape_along(x, axis), TensorShape([None]), TensorShape([None])]


@unique_v2_op.kernel("CPU")
def _(ctx: Any, x: Array, axis: Array, *, out_idx: DType) -> list[Array]:
    values, positions, _ = _distinct_slices(x, axis)
    return [values, positions.astype(out_idx.as_numpy_dtype)]


@unique_with_counts_v2_op.kernel("CPU")
def _(ctx: Any, x: Array, axis: Array, *, out_idx: DType) -> list[Array]:
    values, positions, counts = _distinct_slices(x, axis)
    return [values, positions.astype(out_idx.as_numpy_dtype), counts.astype(out_idx.as_numpy_dtype)]
