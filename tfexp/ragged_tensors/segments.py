"""`tf.math.unsorted_segment_*` of ragged tensors: sums and so on of the rows that have one number. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.ops import array_fill, array_gather, array_join, cumulative, segment
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ragged_tensors.arrays import range as ragged_range
from tfexp.ragged_tensors.tensor import RaggedTensor, converted, of_rows


def _segments(label: str, combine: Callable[..., Any]) -> Callable[..., Any]:
    """Elements at one place in the rows of a segment are combined, into a row as long as the longest of these."""

    def combined(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
        with name_scope(name, f"Ragged{label}", [data, segment_ids, num_segments]):
            values, ids = converted(data), converted(segment_ids)
            if not isinstance(ids, RaggedTensor):
                ids = convert_to_tensor(ids, name="segment_ids")
            if ids.dtype not in (dtypes.int32, dtypes.int64):
                raise ValueError("segment_ids must have dtype int32 or int64.")
            return _combined(combine, values, ids, convert_to_tensor(num_segments, name="num_segments"))

    combined.__doc__ = f"Source: `tf.math.{label}`, of ragged tensors."
    return combined


def _combined(combine: Callable[..., Any], data: Any, ids: Any, count: Any) -> Any:
    if not isinstance(data, RaggedTensor):
        if isinstance(ids, RaggedTensor):
            raise ValueError("segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not.")
        return combine(data, ids, count)
    if isinstance(ids, RaggedTensor):
        same = assert_equal(ids.row_splits, data.row_splits, message="segment_ids.shape must be a prefix of data.shape")
        with control_dependencies([same]):
            return _combined(combine, data.values, ids.values, count)
    kind = data.row_splits.dtype
    # The rows of one segment lie on top of each other, in a row that begins where the longest ones before it end.
    longest = segment.unsorted_segment_max(data.row_lengths(), ids, count)
    lengths = maximum(longest, cast(0, kind))
    splits: Any = array_join.concat([cast([0], kind), cumulative.cumsum(lengths)], 0)
    begins = array_gather.gather(splits, ids)
    places = ragged_range(begins, begins + data.row_lengths(), row_splits_dtype=kind).values
    return of_rows(_combined(combine, data.values, places, splits[-1]), splits)


def _mean(data: Any, ids: Any, count: Any) -> Any:
    return _total(data, ids, count) / _number(data, ids, count)


def _sqrt_n(data: Any, ids: Any, count: Any) -> Any:
    return _total(data, ids, count) / sqrt(_number(data, ids, count))


def _total(data: Any, ids: Any, count: Any) -> Any:
    return segment.unsorted_segment_sum(data, ids, count)


def _number(data: Any, ids: Any, count: Any) -> Any:
    return segment.unsorted_segment_sum(array_fill.ones_like(data), ids, count)


segment_sum = _segments("unsorted_segment_sum", segment.unsorted_segment_sum)
segment_prod = _segments("unsorted_segment_prod", segment.unsorted_segment_prod)
segment_min = _segments("unsorted_segment_min", segment.unsorted_segment_min)
segment_max = _segments("unsorted_segment_max", segment.unsorted_segment_max)
segment_mean = _segments("unsorted_segment_mean", _mean)
segment_sqrt_n = _segments("unsorted_segment_sqrt_n", _sqrt_n)
