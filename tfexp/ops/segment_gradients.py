"""Gradients of the segment reductions, and the public forms that are made of several nodes."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_join,
    cast,
    comparison,
    elementwise_binary,
    elementwise_unary,
    logical,
    segment,
)
from tfexp.ops.array import shape_as_tensor
from tfexp.ops.elementwise_division import truediv


def _gather(params: Tensor, indices: Tensor) -> Tensor:
    return get_op("GatherV2")(params, indices, 0)


# --- sorted ids -----------------------------------------------------------------------------------------------------


@segment.segment_sum.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_gather(grad, op.inputs[1]), None]


@segment.segment_mean.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    data, ids = op.inputs
    rank = array.rank(data)
    ones_shape = array_join.concat(
        [array.shape(ids), array_fill.ones(array.expand_dims(rank - 1, 0), dtype=dtypes.int32)], 0
    )
    sizes = segment.segment_sum(array_fill.ones(ones_shape, dtype=grad.dtype), ids)
    return [_gather(truediv(grad, sizes), ids), None]


def _extreme(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """Divided evenly among the rows that are the extreme of their segment."""
    data, ids = op.inputs
    zeros = array_fill.zeros_like(data, dtype=data.dtype)
    is_chosen = comparison.equal(data, _gather(op.outputs[0], ids))
    counts = segment.segment_sum(cast.cast(is_chosen, grad.dtype), ids)
    shares = _gather(truediv(grad, counts), ids)
    return [get_op("SelectV2")(is_chosen, shares, zeros), None]


segment.segment_max.gradient(_extreme)
segment.segment_min.gradient(_extreme)


@segment.segment_prod.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # The product of the others: product / x, and where x is the only zero, the product without it.
    data, ids = op.inputs
    is_zero = comparison.equal(data, 0)
    zeros = segment.segment_sum(cast.cast(is_zero, dtypes.int32), ids)
    grad = get_op("SelectV2")(comparison.greater(zeros, 1), array_fill.zeros_like(grad), grad)
    nonzero = get_op("SelectV2")(is_zero, array_fill.ones_like(data), data)
    nonzero_product = segment.segment_prod(nonzero, ids)
    product = _gather(op.outputs[0], ids)
    nonzero_product = _gather(nonzero_product, ids)
    partial = get_op("SelectV2")(is_zero, nonzero_product, truediv(product, nonzero))
    return [_gather(grad, ids) * partial, None]


# --- unsorted ids ---------------------------------------------------------------------------------------------------


def _gather_dropping_negatives(
    params: Tensor, ids: Tensor, clipped: Tensor | None = None, is_positive: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The rows of `params` by id, zeros for negative ids; with the ids from 0 on, and which were not negative."""
    if clipped is None:
        clipped = elementwise_binary.maximum(ids, array_fill.zeros_like(ids))
    gathered = _gather(params, clipped)
    if is_positive is None:
        is_positive = comparison.greater_equal(ids, 0)
        shape = array.shape(is_positive)
        ones = array_fill.ones([array.rank(gathered) - array.rank(is_positive)], dtype=dtypes.int32)
        shape = array_join.concat([shape, ones], 0)
        is_positive = array.reshape(is_positive, shape) & array_fill.ones_like(gathered, dtype=dtypes.bool)
    result = get_op("SelectV2")(is_positive, gathered, array_fill.zeros_like(gathered))
    return result, clipped, is_positive


@segment.unsorted_segment_sum.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_gather_dropping_negatives(grad, op.inputs[1])[0], None, None]


def _unsorted_extreme(op: Operation, grad: Tensor) -> list[Tensor | None]:
    data, ids, count = op.inputs
    extremes, clipped, is_positive = _gather_dropping_negatives(op.outputs[0], ids)
    is_chosen = logical.logical_and(comparison.equal(data, extremes), is_positive)
    counts = segment.unsorted_segment_sum(cast.cast(is_chosen, grad.dtype), ids, count)
    shares, _, _ = _gather_dropping_negatives(truediv(grad, counts), ids, clipped, is_positive)
    return [get_op("SelectV2")(is_chosen, shares, array_fill.zeros_like(shares)), None, None]


segment.unsorted_segment_max.gradient(_unsorted_extreme)
segment.unsorted_segment_min.gradient(_unsorted_extreme)


@segment.unsorted_segment_prod.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    data, ids, count = op.inputs
    is_zero = comparison.equal(data, 0)
    zeros = segment.unsorted_segment_sum(cast.cast(is_zero, dtypes.int32), ids, count)
    grad = get_op("SelectV2")(comparison.greater(zeros, 1), array_fill.zeros_like(grad), grad)
    nonzero = get_op("SelectV2")(is_zero, array_fill.ones_like(data), data)
    nonzero_product = segment.unsorted_segment_prod(nonzero, ids, count)
    clipped = elementwise_binary.maximum(ids, array_fill.zeros_like(ids))
    product = _gather(op.outputs[0], clipped)
    nonzero_product = _gather(nonzero_product, clipped)
    partial = get_op("SelectV2")(is_zero, nonzero_product, truediv(product, data))
    gathered, _, _ = _gather_dropping_negatives(grad, ids, clipped)
    return [gathered * partial, None, None]


def _sizes(data: Tensor, ids: Tensor, num_segments: Any) -> Tensor:
    """How many rows each segment has, at least 1, shaped to divide a segment sum of `data`."""
    num_segments = convert_to_tensor(num_segments)
    ids = convert_to_tensor(ids)
    ones = array_fill.ones(shape_as_tensor(ids), dtype=data.dtype)
    counts = segment.unsorted_segment_sum(ones, ids, num_segments)
    rows = num_segments[None]
    tail = array_fill.ones([array.rank(data) - array.rank(ids)], dtype=num_segments.dtype)
    counts = array.reshape(counts, array_join.concat([rows, tail], axis=0))
    return elementwise_binary.maximum(counts, 1)


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The mean of the rows of each segment, 0 for none. `tf.unsorted_segment_mean`."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        sizes = _sizes(data, segment_ids, num_segments)
        return segment.unsorted_segment_sum(data, segment_ids, num_segments) / sizes


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Tensor:
    """The sum of the rows of each segment divided by the root of their number. `tf.unsorted_segment_sqrt_n`."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        sizes = _sizes(data, segment_ids, num_segments)
        return segment.unsorted_segment_sum(data, segment_ids, num_segments) / elementwise_unary.sqrt(sizes)
