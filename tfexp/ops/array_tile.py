"""A tensor repeated along its axes: Tile."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, reshape, shape, size
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_order import transpose
from tfexp.ops.shape_rules import fixed_dims, with_rank
from tfexp.ops.shared_copy import copy_into

tile_op = define_op(
    "Tile(input: T, multiples: Tmultiples) -> (output: T) {T: type; Tmultiples: type in [int32,int64] = int32}"
)


@tile_op.shape
def _(input: InputShape, multiples: InputShape) -> TensorShape:
    with_rank(multiples, 1)
    factors = multiples.value_as_shape.known_dims
    dims = input.known_dims
    if factors is None and dims is None:
        return TensorShape(None)
    count = len(factors) if factors is not None else len(dims)  # type: ignore[arg-type]
    dims = dims if dims is not None else (None,) * count
    factors = factors if factors is not None else (None,) * count
    if len(dims) != len(factors):
        raise ValueError(f"Shape must be rank {len(dims)} but is rank {len(factors)}")
    return TensorShape([_times(d, f) for d, f in zip(dims, factors, strict=True)])


def _times(size: int | None, factor: int | None) -> int | None:
    """Nothing taken any number of times, or anything no times, is nothing."""
    if size == 0 or factor == 0:
        return 0
    return None if size is None or factor is None else size * factor


@tile_op.kernel("CPU", "XLA", static=("multiples",))
def _(ctx: Any, input: Array, multiples: Array) -> Array:
    factors = multiples.tolist()
    if len(factors) != np.ndim(input):
        raise ValueError(
            f"Expected multiples argument to be a vector of length {np.ndim(input)} but got length {len(factors)}"
        )
    for i, factor in enumerate(factors):
        if factor < 0:
            raise ValueError(f"Expected multiples[{i}] >= 0, but got {factor}")
    return np.tile(input, factors)


@tile_op.bind
def _(node: BindRequest) -> Call | None:
    multiples, dtype = node.input_values[1], node.output_dtypes[0].as_numpy_dtype
    dims, result_dims = fixed_dims(node.input_shapes[0]), fixed_dims(node.output_shapes[0])
    if multiples is None or dims is None or result_dims is None or dtype is object:
        return None
    apart = [n for pair in zip(multiples.tolist(), dims, strict=True) for n in pair]
    once = [n for size in dims for n in (1, size)]

    def tiled(input: Array, multiples: Array, out: Array | None = None) -> Array:
        result = np.empty(result_dims, dtype) if out is None else out
        copy_into(result.reshape(apart), input.reshape(once))
        return result

    return Call(tiled, out=True)


@tile_op.gradient
def _(op: Operation, grad: Any) -> list[Tensor | None]:
    multiples = op.inputs[1]
    before = shape(op.inputs[0], out_type=multiples.dtype.base_dtype)
    if isinstance(grad, IndexedSlices):
        first = get_op("GatherV2")(before, 0, 0)
        folded = get_op("FloorMod")(grad.indices, get_op("Cast")(first, DstT=grad.indices.dtype.base_dtype))
        grad = get_op("UnsortedSegmentSum")(grad.values, folded, first)
        multiples = concat([[1], get_op("Slice")(multiples, [1], [-1])], axis=0)
    # [m0, d0, m1, d1, …]: summing over the even axes folds the copies onto each other.
    interleaved = reshape(transpose(stack([multiples, before]), [1, 0]), [-1])
    axes = range_(0, size(interleaved), 2)
    result = get_op("Sum")(reshape(grad, interleaved), axes)
    result.set_shape(op.inputs[0].get_shape())
    return [result, None]


def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """`input` repeated `multiples[i]` times along each axis i. Source: `tf.tile`."""
    result: Tensor = tile_op(input, multiples, name=name)
    return result
