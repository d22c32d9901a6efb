"""Gradients of the reductions: what was summed up is spread out again.

Where the static shape and the axes tell everything, TensorFlow writes constants and a `Tile`; otherwise it computes the
kept shape in the graph and uses `BroadcastTo`. Both forms are made here as TensorFlow makes them.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import colocate_with, device, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    cast,
    comparison,
    complex_numbers,
    cumulative,
    elementwise_binary,
    elementwise_division,
    reduce,
)

# Per graph: (input shape, axes) -> (kept shape, multiples). TensorFlow computes each pair once in a graph, with nodes.
_Known = dict[tuple[Any, tuple[int, ...]], tuple[list[int], list[int]]]
_SPREADS: weakref.WeakKeyDictionary[Any, _Known] = weakref.WeakKeyDictionary()


def kept_shape(input_shape: Any, axes: Any) -> Any:
    """The shape of a reduction that keeps its axes: an array where both arguments are constant, else a tensor."""
    shape_value, axes_value = constant_value(input_shape), constant_value(axes)
    if shape_value is not None and axes_value is not None:
        kept = np.array(shape_value)
        kept[np.ravel(axes_value).astype(np.int64)] = 1  # axes that are [] are a float32 tensor
        return kept
    rank = array.size(input_shape)
    axes = (cast.cast(axes, dtypes.int32) + rank) % rank
    axes_shape = array.shape(axes)
    return get_op("DynamicStitch")(
        [array_fill.range(rank), axes], [input_shape, array_fill.ones(axes_shape, dtype=input_shape.dtype)]
    )


def spread(op: Operation, grad: Tensor) -> Tensor:
    """The gradient of a sum: `grad` repeated along the axes that the reduction `op` removed."""
    x, axes = op.inputs
    dims, axes_value = x.shape.known_dims, constant_value(axes)
    if dims is not None and axes_value is not None:
        if np.array_equal(axes_value, np.arange(len(dims))):
            grad = array.reshape(grad, [1] * len(dims))
            multiples = constant(list(dims), dtype=dtypes.int32) if None not in dims else array.shape(x)
            return get_op("Tile")(grad, multiples)
        if None not in dims:
            kept, times = _static_spread(dims, tuple(np.ravel(axes_value).tolist()))
            return get_op("Tile")(array.reshape(grad, kept), times)
    input_shape = array.shape(x)
    if not op.get_attr("keep_dims"):
        with colocate_with(input_shape):
            kept_dims = kept_shape(input_shape, axes)
        grad = array.reshape(grad, kept_dims)
    return array_fill.broadcast_to(grad, input_shape)


def _static_spread(dims: Any, axes: tuple[int, ...]) -> tuple[list[int], list[int]]:
    known = _SPREADS.setdefault(get_default_graph(), {})
    if (dims, axes) not in known:
        kept = np.array(dims, np.int32)
        kept[list(axes)] = 1
        # TensorFlow divides in the graph and reads the quotient back; the nodes stay, though nothing uses them.
        _ = np.array(dims, np.int32) // elementwise_binary.maximum(kept, 1)
        known[dims, axes] = kept.tolist(), (np.array(dims) // np.maximum(kept, 1)).tolist()
    return known[dims, axes]


@reduce.sum_.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [spread(op, grad), None]


@reduce.mean_.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    total = spread(op, grad)
    before, after = op.inputs[0].shape.num_elements(), op.outputs[0].shape.num_elements()
    if before is not None and after is not None:
        count = constant(before // max(after, 1), dtype=total.dtype)
    else:
        input_shape = array.shape(op.inputs[0])
        rank = array.size(input_shape)
        axes = (cast.cast(op.inputs[1], dtypes.int32) + rank) % rank
        count = reduce.reduce_prod(get_op("GatherV2")(input_shape, axes, 0))
    return [elementwise_division.truediv(total, cast.cast(count, total.dtype)), None]


def _extreme(op: Operation, grad: Tensor) -> list[Tensor | None]:
    """The gradient of a maximum or minimum, divided evenly among the elements that are it."""
    x, y = op.inputs[0], op.outputs[0]
    input_shape = array.shape(x)
    if not op.get_attr("keep_dims"):
        kept = kept_shape(input_shape, op.inputs[1])
        y = array.reshape(y, kept)
        grad = array.reshape(grad, kept)
    else:
        kept = array.shape(y)
    chosen = cast.cast(comparison.equal(y, x), grad.dtype)
    count = array.reshape(reduce.reduce_sum(chosen, op.inputs[1]), kept)
    return [elementwise_division.truediv(chosen, count) * grad, None]


reduce.max_.gradient(_extreme)
reduce.min_.gradient(_extreme)


@reduce.prod_.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # The product of all others, for each element: exclusive products from the left and from the right, so that zeros
    # need no division. The reduced axes are first moved to the front and joined into one.
    x, axes = op.inputs
    input_shape = array.shape(x)
    flat_axes = array.reshape(axes, [-1])
    if not op.get_attr("keep_dims"):
        grad = array.reshape(grad, kept_shape(input_shape, axes))
    grad = array_fill.broadcast_to(grad, input_shape)
    with device("/cpu:0"):
        rank = array.rank(x)
        reduced = (cast.cast(flat_axes, dtypes.int32) + rank) % rank
        others, _ = get_op("ListDiff")(array_fill.range(0, rank), reduced)
        order = get_op("ConcatV2")([reduced, others], 0, name="concat")
        reduced_count = reduce.reduce_prod(get_op("GatherV2")(input_shape, reduced, 0))
        other_count = reduce.reduce_prod(get_op("GatherV2")(input_shape, others, 0))
    moved = get_op("Transpose")(x, order, name="transpose")
    moved_shape = array.shape(moved)
    joined = array.reshape(moved, (reduced_count, other_count))
    left = cumulative.cumprod(joined, axis=0, exclusive=True)
    right = cumulative.cumprod(joined, axis=0, exclusive=True, reverse=True)
    products = array.reshape(complex_numbers.conj(left) * complex_numbers.conj(right), moved_shape)
    result = grad * get_op("Transpose")(products, get_op("InvertPermutation")(order), name="transpose")
    return [array.reshape(result, input_shape), None]
