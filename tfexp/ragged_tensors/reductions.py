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
    default = f"RaggedReduce{name.removeprefix('reduce_').title()}"

    def reduce_along(x: Any, axis: Any, name: str | None) -> Any:
        if axis is None:
            return whole(converted(x).flat_values, name=name or default)
        with name_scope(name, default, [x]):
            return _along(converted(x), axis, whole, by_segment)

    return _public(name, reduce_along)


def _composed(name: str, reduce_along: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def in_scope(x: Any, axis: Any, scope: str | None) -> Any:
        with name_scope(scope, f"RaggedReduce{name.removeprefix('reduce_').title()}", [x]):
            return reduce_along(converted(x), axis)

    return _public(name, in_scope)


def _public(name: str, reduce_along: Callable[[Any, Any, str | None], Any]) -> Callable[..., Any]:
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
        return reduce_along(input_tensor, reduction_indices if axis is None else axis, name)

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


reduce_sum = _reduction("reduce_sum", reduce.reduce_sum, segment.unsorted_segment_sum)
reduce_prod = _reduction("reduce_prod", reduce.reduce_prod, segment.unsorted_segment_prod)
reduce_max = _reduction("reduce_max", reduce.reduce_max, segment.unsorted_segment_max)
reduce_min = _reduction("reduce_min", reduce.reduce_min, segment.unsorted_segment_min)


def _mean(x: Any, axis: Any) -> Any:
    """Of several axes the mean of all elements, not of means."""
    total = reduce_sum(x, axis)
    count = reduce_sum(x.with_flat_values(array_fill.ones_like(x.flat_values)), axis)
    return total / count


def _all(x: Any, axis: Any) -> Any:
    return cast(reduce_prod(cast(x, dtypes.int32), axis), dtypes.bool)


def _any(x: Any, axis: Any) -> Any:
    return cast(reduce_sum(cast(x, dtypes.int32), axis), dtypes.bool)


reduce_mean = _composed("reduce_mean", _mean)
reduce_all = _composed("reduce_all", _all)
reduce_any = _composed("reduce_any", _any)


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
