"""Where rows begin and end: row splits, and the number of the row of each value; and that these make sense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill, array_identity, array_join, check_compare, counting, cumulative, reduce, segment
from tfexp.ops.cast import cast, cast_op
from tfexp.ops.searchsorted import searchsorted

_DIFFERENT = "Inputs must have identical ragged splits"


def as_partition(value: Any, wanted: DType | None, name: str) -> Tensor:
    """What says where rows are as int32 or int64, int64 unless it has a type; of the `wanted` type if there is one."""
    given = getattr(value, "dtype", None)
    kind = dtypes.as_dtype(given).base_dtype if given is not None else None
    if kind is None and np.asarray(value).dtype.kind == "f" and np.size(value):
        raise ValueError(f"{name} must have dtype int32 or int64; got {value!r}")
    if kind is None or (isinstance(value, np.ndarray) and kind not in (dtypes.int32, dtypes.int64)):
        kind = wanted or dtypes.int64
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64; got {kind.name}")
    tensor = convert_to_tensor(value, kind, name=name)
    tensor.shape.assert_has_rank(1)
    return tensor if wanted is None else cast(tensor, wanted)  # type: ignore[no-any-return]


def axis_of(axis: Any, rank: int | None) -> int:
    """`axis` counted from the first dimension of a tensor of that rank (None: unknown).

    TypeError unless it is an int. ValueError outside of the rank, and where it is negative and the rank unknown.
    """
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
    if axis < 0 and rank is None:
        raise ValueError("axis may only be negative if ndims is statically known.")
    return axis + (rank or 0) if axis < 0 else axis


def checked_splits(splits: Tensor, count: Tensor) -> Tensor:
    """`splits`, whose use fails in the run unless they begin with 0, do not decrease and end with `count`."""
    whole: Any = splits
    message = "Arguments to from_row_splits do not form a valid RaggedTensor"
    checks = [
        check_compare.assert_equal(whole[0], cast(0, splits.dtype), message=f"{message}:zero"),
        check_compare.assert_non_negative(whole[1:] - whole[:-1], message=f"{message}:monotonic"),
        check_compare.assert_equal(whole[-1], cast(count, splits.dtype), message=f"{message}:end"),
    ]
    with control_dependencies(checks):
        return array_identity.identity(splits)


def same(splits: Sequence[Sequence[Tensor]], message: str = _DIFFERENT) -> list[Any]:
    """Checks that all have the row splits of the first. ValueError where they have another number of them."""
    first, checks = splits[0], []
    for others in splits[1:]:
        if len(others) != len(first):
            raise ValueError(message)
        for mine, theirs in zip(first, others, strict=True):
            if mine is not theirs:
                checks.append(check_compare.assert_equal(mine, theirs, message=message))
    return checks


def splits_of_ids(ids: Tensor, nrows: Any) -> Tensor:
    """The row splits of values with these (never decreasing) row numbers, of `nrows` rows, or as many as are named."""
    ids_: Any = ids
    last = array_join.concat([cast([-1], ids.dtype), ids], 0)
    count = reduce.reduce_max(last) + 1 if nrows is None else cast(nrows, ids.dtype)  # type: ignore[operator]
    _check_known(ids, nrows)
    monotonic = check_compare.assert_non_negative(
        ids_[1:] - ids_[:-1], message="Arguments to from_value_rowids do not form a valid RaggedTensor:monotonic"
    )
    inside = check_compare.assert_less(
        last, cast(count, ids.dtype), message="Arguments to from_value_rowids do not form a valid RaggedTensor:nrows"
    )
    with control_dependencies([monotonic, inside]):
        lengths = segment.unsorted_segment_sum(array_fill.ones_like(ids), ids, count)
    return array_join.concat([cast([0], ids.dtype), cumulative.cumsum(lengths)], 0)


def _check_known(ids: Tensor, nrows: Any) -> None:
    """ValueError for a number of rows that cannot be, as far as that is known."""
    if not isinstance(nrows, (int, np.integer)):
        return
    if nrows < 0:
        raise ValueError(f"Expected nrows >= 0; got {nrows}")
    known = static_value(ids)
    if known is not None and known.size and nrows < known[-1] + 1:
        raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={nrows}, value_rowids[-1]={known[-1]}")


def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """For each value, the number of its row. Source: `tf.ragged.row_splits_to_segment_ids`."""
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        whole: Any = as_partition(splits, None, "splits")
        if whole.shape[0].value == 0:
            raise ValueError("Invalid row_splits: []")
        kind = whole.dtype if out_type is None else dtypes.as_dtype(out_type)
        # The row of a value is the last that does not begin after it.
        return searchsorted(whole, array_fill.range(whole[-1]), side="right", out_type=kind) - 1  # type: ignore[operator]


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """The row splits of values with these row numbers, by default of the type that the given tensors have, else int64.

    Source: `tf.ragged.segment_ids_to_row_splits`.
    """
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        without_ids = None if isinstance(segment_ids, Tensor) or len(segment_ids) else dtypes.int64
        ids = convert_to_tensor(segment_ids, without_ids, "segment_ids")
        if not ids.dtype.is_integer:
            raise TypeError(f"segment_ids must be an integer tensor; dtype={ids.dtype!r}")
        ids.shape.assert_has_rank(1)
        ids, count = cast_op(ids, DstT=dtypes.int32), None
        if num_segments is not None:
            whole = convert_to_tensor(num_segments, name="num_segments")
            if not whole.dtype.is_integer:
                raise TypeError(f"num_segments must be an integer tensor; dtype={whole.dtype!r}")
            whole.shape.assert_has_rank(0)
            count = cast_op(whole, DstT=dtypes.int32)
        given = [value.dtype.base_dtype for value in (segment_ids, num_segments) if isinstance(value, Tensor)]
        kind = dtypes.as_dtype(out_type) if out_type is not None else next(iter(given), dtypes.int64)
        lengths = counting.bincount(ids, minlength=count, maxlength=count, dtype=kind)
        known = None if count is None else static_value(count)
        if known is not None:
            lengths.set_shape([known])
        return array_join.concat([[0], cumulative.cumsum(lengths)], 0)


def nested(make: Callable[..., Any], values: Any, partitions: Any, what: str, name: str, validate: bool) -> Any:
    """`make(values, partition)`, from the innermost of the partitions to the outermost. TypeError unless they are a list."""
    if isinstance(partitions, Tensor):
        raise TypeError(f"{what} must be a list of Tensors")
    with name_scope(None, name, [values, *partitions]):
        for partition in reversed(partitions):
            values = make(values, partition, validate=validate)
        return values
