"""Distinct values of vectors, and distinct slices along an axis: Unique, UniqueWithCounts and their second versions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank

_DENSE = 8
"""Integers that span at most so many times their number have a table of all that they could be."""


def _distinct(x: Array) -> tuple[Array, Array, int]:
    """Values in order of first occurrence, for each element the position of its value, and how many values there are.

    Each NaN is a value of its own, as nothing is equal to it.
    """
    if np.ndim(x) != 1:
        raise ValueError("unique expects a 1D vector.")
    x = np.asarray(x)
    if not len(x):
        return x, np.zeros(0, np.intp), 0
    if x.dtype.kind == "O":
        return _hashed(x)
    group, first = _tabled(x) if _is_dense(x) else _sorted(x)
    is_first = np.zeros(len(x), np.bool_)
    is_first[first] = True
    rank = np.cumsum(is_first)[first] - 1
    return x[is_first], rank[group], len(first)


def _hashed(x: Array) -> tuple[Array, Array, int]:
    texts = x.tolist()
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    values = np.fromiter(places, object, len(places))
    return values, np.fromiter(map(places.__getitem__, texts), np.intp, len(texts)), len(places)


def _is_dense(x: Array) -> bool:
    return x.dtype.kind in "iub" and int(x.max()) - int(x.min()) <= _DENSE * len(x)


def _tabled(x: Array) -> tuple[Array, Array]:
    """For each element the number of its group of equal ones, and where each group occurs first."""
    # What is unsigned may not fit into a signed number before the least of them is taken off; what is signed, not after.
    cell = (x - x.min()).astype(np.intp) if x.dtype.kind == "u" else x.astype(np.intp) - int(x.min())
    first = np.full(int(cell.max()) + 1, -1, np.intp)
    first[cell[::-1]] = np.arange(len(x))[::-1]  # the last that is written is the first of its kind
    used = first >= 0
    return (np.cumsum(used) - 1)[cell], first[used]


def _sorted(x: Array) -> tuple[Array, Array]:
    """The same, by sorting: not in a stable way, which takes several times as long."""
    order = np.argsort(x)
    ordered = x[order]
    begins = np.ones(len(x), np.bool_)
    begins[1:] = ordered[1:] != ordered[:-1]
    group = np.empty(len(x), np.intp)
    group[order] = np.cumsum(begins) - 1
    return group, np.minimum.reduceat(order, np.flatnonzero(begins))


def _counts(positions: Array, number: int, out_idx: DType) -> Array:
    """How often each of `number` values occurs."""
    return np.bincount(positions, minlength=number).astype(out_idx.as_numpy_dtype)


unique_op = define_op("Unique(x: T) -> (y: T, idx: out_idx) {T: type; out_idx: type in [int32,int64] = int32}")


@unique_op.shape
def _(x: InputShape) -> list[TensorShape]:
    with_rank(x, 1)
    return [TensorShape([None]), x]


@unique_op.kernel("CPU")
def _(ctx: Any, x: Array, *, out_idx: DType) -> list[Array]:
    values, positions, _ = _distinct(x)
    return [values, positions.astype(out_idx.as_numpy_dtype)]


def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """(y, idx): the distinct elements of a vector, in order, and where each element of `x` is in them. `tf.unique`."""
    return unique_op(x, out_idx=out_idx, name=name)


unique_with_counts_op = define_op(
    "UniqueWithCounts(x: T) -> (y: T, idx: out_idx, count: out_idx) {T: type; out_idx: type in [int32,int64] = int32}"
)


@unique_with_counts_op.shape
def _(x: InputShape) -> list[TensorShape]:
    with_rank(x, 1)
    return [TensorShape([None]), x, TensorShape([None])]


@unique_with_counts_op.kernel("CPU")
def _(ctx: Any, x: Array, *, out_idx: DType) -> list[Array]:
    values, positions, number = _distinct(x)
    return [values, positions.astype(out_idx.as_numpy_dtype), _counts(positions, number, out_idx)]


def unique_with_counts(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Any:
    """(y, idx, count): as `tf.unique`, and how often each element occurs. Source: `tf.unique_with_counts`."""
    return unique_with_counts_op(x, out_idx=out_idx, name=name)


_ALONG_AXIS = "T: type; Taxis: type in [int32,int64] = int64; out_idx: type in [int32,int64] = int32"
unique_v2_op = define_op(f"UniqueV2(x: T, axis: Taxis) -> (y: T, idx: out_idx) {{{_ALONG_AXIS}}}")
unique_with_counts_v2_op = define_op(
    f"UniqueWithCountsV2(x: T, axis: Taxis) -> (y: T, idx: out_idx, count: out_idx) {{{_ALONG_AXIS}}}"
)


def _distinct_slices(x: Array, axis: Array) -> tuple[Array, Array, int]:
    """As `_distinct`, of the slices along an axis: `axis` holds its number, or nothing, for a vector."""
    if np.ndim(axis) != 1:
        raise ValueError(f"axis expects a 1D vector, not one of shape {dims_text(np.shape(axis))}.")
    if np.size(axis) > 1:
        raise ValueError("axis does not support input tensors larger than 1 elements")
    if not np.size(axis):
        return _distinct(x)
    along = int(axis[0])
    if not -np.ndim(x) <= along < np.ndim(x):
        raise ValueError(f"axis has to be between [0, {np.ndim(x)}), got {along}")
    rows = np.moveaxis(x, along, 0)
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    # Each slice is one value: its number among the slices' sorted forms, column by column.
    keys = np.zeros(len(rows), np.intp)
    for column in flat.T:
        keys = _distinct(keys * len(rows) + _distinct(column)[1])[1]
    _, positions, number = _distinct(keys)
    first = np.zeros(number, np.intp)
    first[positions[::-1]] = np.arange(len(rows))[::-1]
    return np.moveaxis(rows[first], 0, along), positions, number


def _shapes_along(x: InputShape, axis: InputShape) -> list[TensorShape]:
    """Those of y and idx: of the first its rank is told, of the second its length."""
    dims, count = x.known_dims, None
    if dims is None:
        return [TensorShape(None), TensorShape([None])]
    if axis.value is not None:
        along = int(np.ravel(axis.value)[0]) if np.size(axis.value) else 0
        count = dims[along] if -len(dims) <= along < len(dims) else None
    return [TensorShape([None] * len(dims)), TensorShape([count])]


@unique_v2_op.shape
def _(x: InputShape, axis: InputShape) -> list[TensorShape]:
    return _shapes_along(x, axis)


@unique_with_counts_v2_op.shape
def _(x: InputShape, axis: InputShape) -> list[TensorShape]:
    return [*_shapes_along(x, axis), TensorShape([None])]


@unique_v2_op.kernel("CPU")
def _(ctx: Any, x: Array, axis: Array, *, out_idx: DType) -> list[Array]:
    values, positions, _ = _distinct_slices(x, axis)
    return [values, positions.astype(out_idx.as_numpy_dtype)]


@unique_with_counts_v2_op.kernel("CPU")
def _(ctx: Any, x: Array, axis: Array, *, out_idx: DType) -> list[Array]:
    values, positions, number = _distinct_slices(x, axis)
    return [values, positions.astype(out_idx.as_numpy_dtype), _counts(positions, number, out_idx)]
