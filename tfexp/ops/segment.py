"""Reductions over segments: rows of the first dimension(s) that share an id.

Sorted ids (`segment_*`) count their segments themselves; unsorted ones (`unsorted_segment_*`) are told how many there are,
and rows with a negative id are dropped. A segment without rows gets the neutral element. Gradients: `segment_gradients`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import as_dtype
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.shape_rules import check_begins_with, with_rank, with_rank_at_least

# --- sorted ids -----------------------------------------------------------------------------------------------------

segment_sum = define_op(
    "SegmentSum(data: T, segment_ids: Tindices) -> (output: T) {T: type in [float,double,int32,uint8,int16,int8,"
    "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: "
    "type in [int32,int64]}"
)
segment_mean = define_op(
    "SegmentMean(data: T, segment_ids: Tindices) -> (output: T) {T: type in [float,double,int32,uint8,int16,int8,"
    "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: "
    "type in [int32,int64]}"
)
segment_prod = define_op(
    "SegmentProd(data: T, segment_ids: Tindices) -> (output: T) {T: type in [float,double,int32,uint8,int16,int8,"
    "complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; Tindices: "
    "type in [int32,int64]}"
)
segment_max = define_op(
    "SegmentMax(data: T, segment_ids: Tindices) -> (output: T) {T: type in [float,double,int32,uint8,int16,int8,"
    "int64,bfloat16,uint16,half,uint32,uint64]; Tindices: type in [int32,int64]}"
)
segment_min = define_op(
    "SegmentMin(data: T, segment_ids: Tindices) -> (output: T) {T: type in [float,double,int32,uint8,int16,int8,"
    "int64,bfloat16,uint16,half,uint32,uint64]; Tindices: type in [int32,int64]}"
)


def _sorted_shape(data: InputShape, ids: InputShape) -> TensorShape:
    with_rank_at_least(data, 1)
    with_rank(ids, 1)
    if data.known_dims is None:
        return TensorShape(None)
    # How many segments there are is the last id's to tell.
    return TensorShape([None, *data.known_dims[1:]])


def _check_sorted(data: np.ndarray, ids: np.ndarray) -> None:
    if np.ndim(ids) != 1:
        raise InvalidArgumentError(None, None, "segment_ids should be a vector.")
    if np.ndim(data) < 1 or ids.shape[0] != data.shape[0]:
        raise InvalidArgumentError(None, None, "segment_ids should be the same size as dimension 0 of input.")
    check_increasing(ids)


def check_increasing(ids: np.ndarray, count: int | None = None) -> None:
    """InvalidArgumentError unless the ids increase from 0 to less than `count`, by default one more than the last.

    It is about the first run of equal ids that breaks this, as runs are what TensorFlow goes through.
    """
    if not ids.size:
        return
    if count is None:
        if ids[-1] < 0:
            raise InvalidArgumentError(None, None, "segment ids must be >= 0")
        count = int(ids[-1]) + 1
    runs = ids[np.flatnonzero(np.diff(ids, append=ids[-1] + 1))]
    falls = np.diff(runs, append=runs[-1] + 1) < 0
    wrong = np.flatnonzero(falls | (runs < 0) | (runs >= count))
    if not wrong.size:
        return
    if falls[wrong[0]]:
        raise InvalidArgumentError(None, None, "segment ids are not increasing")
    raise InvalidArgumentError(
        None,
        None,
        f"Segment id {runs[wrong[0]]} out of range [0, {count}), possibly because 'segment_ids' input is not sorted.",
    )


def reduced_segments(ufunc: np.ufunc, data: np.ndarray, ids: np.ndarray, count: int, empty: Any) -> np.ndarray:
    """`ufunc` over the rows of each id below `count`; negative ids are left out, segments without rows are `empty`."""
    result = np.full((count, *data.shape[ids.ndim :]), empty, data.dtype)
    rows = data.reshape(ids.size, *data.shape[ids.ndim :])
    flat = ids.ravel()
    if flat.size == 0 or (flat < 0).any():
        rows, flat = rows[flat >= 0], flat[flat >= 0]
    if flat.size == 0:
        return result
    if (np.diff(flat) < 0).any():
        order = np.argsort(flat, kind="stable")
        rows, flat = rows[order], flat[order]
    starts = np.flatnonzero(np.diff(flat, prepend=flat[0] - 1))
    result[flat[starts]] = ufunc.reduceat(rows, starts, axis=0, dtype=data.dtype)
    return result


def _without_nan(data: np.ndarray, ids: np.ndarray, limit: float) -> np.ndarray:
    """`data` with `limit` for every nan that is not alone in its segment: the least of several numbers is a number."""
    nan = np.isnan(data)
    if not nan.any():
        return data
    alone = np.bincount(ids)[ids] == 1
    return np.where(nan & ~alone.reshape(-1, *[1] * (data.ndim - 1)), np.asarray(limit, data.dtype), data)


def _attach_sorted(op: Op, ufunc: np.ufunc, empty: Any, limit: float | None) -> None:
    op.shape(_sorted_shape)

    @op.kernel("CPU")
    def _(ctx: Any, data: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
        _check_sorted(data, segment_ids)
        count = int(segment_ids[-1]) + 1 if segment_ids.size else 0
        if limit is not None and data.dtype.kind not in "iu":
            data = _without_nan(data, segment_ids, limit)
        return reduced_segments(ufunc, data, segment_ids, count, empty)


# Gaps between sorted ids are 0 for every one of them but the product.
for _op, _ufunc, _empty, _limit in (
    (segment_sum, np.add, 0, None),
    (segment_prod, np.multiply, 1, None),
    (segment_max, np.maximum, 0, -np.inf),
    (segment_min, np.minimum, 0, np.inf),
):
    _attach_sorted(_op, _ufunc, _empty, _limit)

segment_mean.shape(_sorted_shape)


@segment_mean.kernel("CPU")
def _(ctx: Any, data: np.ndarray, segment_ids: np.ndarray) -> np.ndarray:
    _check_sorted(data, segment_ids)
    count = int(segment_ids[-1]) + 1 if segment_ids.size else 0
    sums = reduced_segments(np.add, data, segment_ids, count, 0)
    sizes = np.maximum(np.bincount(segment_ids, minlength=count), 1).reshape(-1, *[1] * (data.ndim - 1))
    if data.dtype.kind in "iu":
        return np.trunc(sums / sizes).astype(data.dtype)
    return np.divide(sums, sizes.astype(data.dtype))


# --- unsorted ids ---------------------------------------------------------------------------------------------------

unsorted_segment_sum = define_op(
    "UnsortedSegmentSum(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) {T: type in "
    "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
    "complex128,half,uint32,uint64]; Tindices: type in [int16,int32,int64]; Tnumsegments: type in [int32,int64] = "
    "int32}"
)
unsorted_segment_prod = define_op(
    "UnsortedSegmentProd(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) {T: type in "
    "[float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
    "complex128,half,uint32,uint64]; Tindices: type in [int32,int64]; Tnumsegments: type in [int32,int64] = int32}"
)
unsorted_segment_max = define_op(
    "UnsortedSegmentMax(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) {T: type in "
    "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; Tindices: type in [int32,int64];"
    " Tnumsegments: type in [int32,int64] = int32}"
)
unsorted_segment_min = define_op(
    "UnsortedSegmentMin(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> (output: T) {T: type in "
    "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; Tindices: type in [int32,int64];"
    " Tnumsegments: type in [int32,int64] = int32}"
)


def _unsorted_shape(data: InputShape, ids: InputShape, count: InputShape) -> TensorShape:
    if count.rank not in (None, 0):
        raise ValueError(f"Shape must be rank 0 but is rank {count.rank}")
    if data.known_dims is None or ids.known_dims is None:
        return TensorShape(None)
    check_begins_with(data, ids)
    segments = None if count.value is None else int(count.value)
    if segments is not None and segments < 0:
        raise ValueError(f"Dimension size, given by scalar input 2, must be non-negative but is {segments}")
    return TensorShape([segments, *data.known_dims[len(ids.known_dims) :]])


def _attach_unsorted(op: Op, ufunc: np.ufunc, empty: Any) -> None:
    op.shape(_unsorted_shape)

    @op.kernel("CPU")
    def _(ctx: Any, data: np.ndarray, segment_ids: np.ndarray, num_segments: np.ndarray) -> np.ndarray:
        ids, count = np.asarray(segment_ids), int(num_segments)
        if count < 0:
            raise InvalidArgumentError(None, None, f"Input num_segments == {count} must not be negative.")
        if data.shape[: ids.ndim] != ids.shape:
            raise InvalidArgumentError(
                None,
                None,
                f"data.shape = {list(data.shape)} does not start with segment_ids.shape = {list(ids.shape)}",
            )
        beyond = np.argwhere(ids >= count)
        if beyond.size:
            where = ",".join(map(str, beyond[0]))
            raise InvalidArgumentError(
                None, None, f"segment_ids[{where}] = {ids[tuple(beyond[0])]} is out of range [0, {count})"
            )
        neutral = empty(data.dtype) if callable(empty) else empty
        found = reduced_segments(ufunc, data, ids, count, neutral)
        if ufunc in (np.maximum, np.minimum) and data.dtype.kind == "f" and np.isnan(found).any():
            return _extremes_after_nan(ufunc, data, ids, count, neutral)
        return found


def _extremes_after_nan(ufunc: np.ufunc, data: np.ndarray, ids: np.ndarray, count: int, neutral: Any) -> np.ndarray:
    """What TensorFlow's comparison with the largest so far leaves: NaN wins, and then loses to whatever comes next."""
    rows = np.arange(ids.size).reshape(*ids.shape, *[1] * (data.ndim - ids.ndim))
    last_nan = reduced_segments(np.maximum, np.where(np.isnan(data), rows, -1), ids, count, -1)
    found = reduced_segments(ufunc, np.where(rows > last_nan[ids], data, data.dtype.type(neutral)), ids, count, neutral)
    ends = reduced_segments(np.maximum, np.broadcast_to(rows, data.shape), ids, count, -1)
    return np.where((last_nan == ends) & (ends >= 0), data.dtype.type(np.nan), found)


def _lowest(dtype: np.dtype[Any]) -> Any:
    return as_dtype(dtype).min


def _highest(dtype: np.dtype[Any]) -> Any:
    return as_dtype(dtype).max


for _op, _ufunc, _neutral in (
    (unsorted_segment_sum, np.add, 0),
    (unsorted_segment_prod, np.multiply, 1),
    (unsorted_segment_max, np.maximum, _lowest),
    (unsorted_segment_min, np.minimum, _highest),
):
    _attach_unsorted(_op, _ufunc, _neutral)
