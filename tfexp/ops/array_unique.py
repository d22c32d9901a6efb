"""Distinct values of vectors: Unique, UniqueWithCounts."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
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
