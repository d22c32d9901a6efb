"""Sums, means and so on of ragged tensors: over rows, within rows, over both. Source: `tf.reduce_*`, TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_gather, array_join, cumulative, reduce, segment, string_join
from tfexp.ops.cast import cast
from tfexp.ragged_tensors import rows
from tfexp.ragged_tensors.tensor import RaggedTensor, converted, of_rows


def _reduction(name: str, whole: Callable[..., Any], by_segment: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        if keepdims or keep_dims:
            raise ValueError("keepdims=True is not supported for RaggedTensors.")
        axis = reduction_indices if axis is None else axis
        with name_scope(name, f"RaggedReduce{kind.title()}", [input_tensor]):
            return _along(converted(input_tensor), axis, whole, by_segment)

    kind = name.removeprefix("reduce_")
    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = f"`tf.{name}` of a ragged tensor. `keepdims` is not possible (ValueError)."
    return reduced


def _along(x: Any, axis: Any, whole: Callable[..., Any], by_segment: Callable[..., Any]) -> Any:
    """`x` reduced along an axis or several: `whole` is of tensors, `by_segment` of rows by the numbers of their segments."""
    if not isinstance(x, RaggedTensor):
        return whole(x, axis)
    if axis is None:
        return whole(x.flat_values)
    if isinstance(axis, Tensor):
        axis = static_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
    given = np.ravel(axis).tolist() if not isinstance(axis, str) else [axis]
    axes = sorted({rows.axis_of(a, x.shape.rank) for a in given})
    if not axes:
        return x
    if len(axes) == x.shape.rank:
        return whole(x.flat_values)
    if len(axes) > 1:
        # From the innermost on, so that what is left to do has the same number.
        last = max(axes)
        return _along(_along(x, last, whole, by_segment), sorted(a for a in axes if a != last), whole, by_segment)
    (only,) = axes
    if only > 1:
        return x.with_values(_along(x.values, only - 1, whole, by_segment))
    if only == 1:
        return _segmented(x.values, x.value_rowids(), x.nrows(), by_segment)
    lengths: Any = x.row_lengths()
    within = _places(x)
    return _segmented(x.values, within, reduce.reduce_max(lengths), by_segment)


def _segmented(values: Any, ids: Tensor, count: Any, by_segment: Callable[..., Any]) -> Any:
    if not isinstance(values, RaggedTensor):
        return by_segment(values, ids, count)
    # Rows of rows: the rows of one segment are added place by place.
    inner = _places(values)
    outer = cast(array_gather.gather(ids, values.value_rowids()), inner.dtype)
    widths: Any = segment.unsorted_segment_max(values.row_lengths(), ids, count)
    # A segment without rows has a width of "nothing", which is below 0.
    widths = widths * cast(widths > 0, widths.dtype)
    splits: Any = array_join.concat([cast([0], widths.dtype), cumulative.cumsum(widths)], 0)
    flat_ids = array_gather.gather(splits, outer) + inner
    return of_rows(_segmented(values.values, flat_ids, splits[-1], by_segment), splits)


def _places(x: RaggedTensor) -> Any:
    """For each of the values, its place in its row."""
    ids: Any = rows.row_splits_to_segment_ids(x.row_splits)
    places: Any = array_fill.range(array.shape(ids, out_type=ids.dtype)[0])  # type: ignore[index]
    return places - array_gather.gather(x.row_splits, ids)


def _mean(values: Any, ids: Any, count: Any) -> Any:
    total: Any = segment.unsorted_segment_sum(values, ids, count)
    number = segment.unsorted_segment_sum(array_fill.ones_like(values), ids, count)
    return total / number


def _all(values: Any, ids: Any, count: Any) -> Any:
    return cast(segment.unsorted_segment_prod(cast(values, dtypes.int32), ids, count), dtypes.bool)


def _any(values: Any, ids: Any, count: Any) -> Any:
    found: Any = segment.unsorted_segment_sum(cast(values, dtypes.int32), ids, count)
    return cast(found, dtypes.bool)


reduce_sum = _reduction("reduce_sum", reduce.reduce_sum, segment.unsorted_segment_sum)
reduce_prod = _reduction("reduce_prod", reduce.reduce_prod, segment.unsorted_segment_prod)
reduce_max = _reduction("reduce_max", reduce.reduce_max, segment.unsorted_segment_max)
reduce_min = _reduction("reduce_min", reduce.reduce_min, segment.unsorted_segment_min)
reduce_all = _reduction("reduce_all", reduce.reduce_all, _all)
reduce_any = _reduction("reduce_any", reduce.reduce_any, _any)
_mean_of_values = _reduction("reduce_mean", reduce.reduce_mean, _mean)


def reduce_mean(input_tensor: Any, axis: Any = None, *args: Any, **kwargs: Any) -> Any:
    """`tf.reduce_mean` of a ragged tensor: of several axes, the mean of all elements, not of means."""
    if axis is None or np.ndim(axis) == 0 or len(np.ravel(axis)) < 2:
        return _mean_of_values(input_tensor, axis, *args, **kwargs)
    x = converted(input_tensor)
    total: Any = reduce_sum(x, axis)
    count: Any = reduce_sum(x.with_flat_values(array_fill.ones_like(x.flat_values)), axis)
    return total / count


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: Any = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: Any = None,
) -> Any:
    """`tf.strings.reduce_join` of a ragged tensor. `keepdims` is not possible (ValueError)."""
    if keepdims or keep_dims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    with name_scope(name, "RaggedReduceJoin", [inputs]):
        whole = functools.partial(string_join.reduce_join, separator=separator)
        by_segment = functools.partial(string_join.unsorted_segment_join, separator=separator)
        return _along(converted(inputs), reduction_indices if axis is None else axis, whole, by_segment)
