"""Blocks of space moved to the batch and back, for dilated convolutions: SpaceToBatchND, BatchToSpaceND."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import stack

_INDEX = "type in [int32,int64] = int32"
_ND = f"T: type; Tblock_shape: {_INDEX}"

space_to_batch_nd_op = define_op(
    f"SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> (output: T) {{{_ND}; Tpaddings: {_INDEX}}}"
)
batch_to_space_nd_op = define_op(
    f"BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> (output: T) {{{_ND}; Tcrops: {_INDEX}}}"
)

# --- batch: shapes ----------------------------------------------------------------------------------------------------


def _checked_block(dims: Sequence[int | None] | None, block: InputShape, margins: InputShape, name: str) -> int:
    """The number of blocked dimensions, which has to be known."""
    known = block.known_dims
    if known is None or len(known) != 1:
        raise ValueError("block_shape must have rank 1.")
    count = known[0]
    if count is None:
        raise ValueError("block_shape must have known size.")
    if dims is not None and len(dims) < count + 1:
        raise ValueError(f"Shape must be at least rank {count + 1} but is rank {len(dims)}")
    merged(margins, TensorShape([count, 2]))
    if block.value is not None and (block.value < 1).any():
        raise ValueError("block_shape must be positive")
    if margins.value is not None and (margins.value < 0).any():
        raise ValueError(f"{name} cannot be negative")
    return count


def _to_batch(input: TensorShape, block: Any, pads: Any, count: int) -> TensorShape:
    dims = input.known_dims
    if dims is None:
        return TensorShape(None)
    space: list[int | None] = []
    for i in range(count):
        size = dims[i + 1]
        if size is None or block is None or pads is None:
            space.append(None)
            continue
        size += int(pads[i].sum())
        if size % int(block[i]):
            raise ValueError(f"Dimension size must be evenly divisible by {int(block[i])} but is {size}")
        space.append(size // int(block[i]))
    batch = None if dims[0] is None or block is None else dims[0] * int(np.prod(block))
    return TensorShape([batch, *space, *dims[count + 1 :]])


def _to_space(input: TensorShape, block: Any, crops: Any, count: int) -> TensorShape:
    dims = input.known_dims
    if dims is None:
        return TensorShape(None)
    space: list[int | None] = []
    for i in range(count):
        size = dims[i + 1]
        if size is None or block is None or crops is None:
            space.append(None)
            continue
        full, cut = size * int(block[i]), int(crops[i].sum())
        if cut > full:
            raise ValueError(f"Negative dimension size caused by subtracting {cut} from {full}")
        space.append(full - cut)
    batch = None
    if dims[0] is not None and block is not None:
        if dims[0] % int(np.prod(block)):
            raise ValueError(f"Dimension size must be evenly divisible by {int(np.prod(block))} but is {dims[0]}")
        batch = dims[0] // int(np.prod(block))
    return TensorShape([batch, *space, *dims[count + 1 :]])


@space_to_batch_nd_op.shape
def _(input: InputShape, block_shape: InputShape, paddings: InputShape) -> TensorShape:
    count = _checked_block(input.known_dims, block_shape, paddings, "paddings")
    return _to_batch(input, block_shape.value, paddings.value, count)


@batch_to_space_nd_op.shape
def _(input: InputShape, block_shape: InputShape, crops: InputShape) -> TensorShape:
    count = _checked_block(input.known_dims, block_shape, crops, "crops")
    return _to_space(input, block_shape.value, crops.value, count)


# --- batch: kernels ---------------------------------------------------------------------------------------------------


def _check(x: Array, block: Array, margins: Array, name: str) -> None:
    if block.ndim != 1:
        raise ValueError(f"block_shape must be one-dimensional, got shape {dims_text(block.shape)}")
    count = len(block)
    if x.ndim < count + 1:
        raise ValueError(f"input rank should be >= {count + 1} instead of {x.ndim}")
    if margins.shape != (count, 2):
        raise ValueError(f"{name} should have shape [{count}, 2] instead of {dims_text(margins.shape)}")
    for i, size in enumerate(block):
        if size < 1:
            raise ValueError(f"block_shape must be positive, but block_shape[{i}] is {size}")
    if (margins < 0).any():
        raise ValueError(f"{name} must be non-negative")


def _space_to_batch(x: Array, block: Array, pads: Array) -> Array:
    _check(x, block, pads, "paddings")
    count = len(block)
    rest = x.shape[count + 1 :]
    if pads.any():
        fill = b"" if x.dtype == object else np.zeros((), x.dtype)
        padded = np.full(
            (x.shape[0], *(n + int(p.sum()) for n, p in zip(x.shape[1:], pads, strict=False)), *rest), fill, x.dtype
        )
        inside = tuple(slice(int(p[0]), int(p[0]) + n) for n, p in zip(x.shape[1:], pads, strict=False))
        padded[(slice(None), *inside)] = x
        x = padded
    split: list[int] = [x.shape[0]]
    for i, (size, step) in enumerate(zip(x.shape[1:], block.tolist(), strict=False)):
        if size % step:
            raise ValueError(f"padded_shape[{i}]={size} is not divisible by block_shape[{i}]={step}")
        split += [size // step, step]
    # [batch, s1, b1, s2, b2, …, rest] -> [b1, b2, …, batch, s1, s2, …, rest]
    inner, outer = range(2, 2 * count + 1, 2), range(1, 2 * count + 1, 2)
    order = (*inner, 0, *outer, *range(2 * count + 1, 2 * count + 1 + len(rest)))
    batch = x.shape[0] * int(np.prod(block))
    return x.reshape(*split, *rest).transpose(order).reshape(batch, *split[1::2], *rest)


def _batch_to_space(x: Array, block: Array, crops: Array) -> Array:
    _check(x, block, crops, "crops")
    count, blocks = len(block), int(np.prod(block))
    if x.shape[0] % blocks:
        raise ValueError(f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes ({blocks})")
    space, rest = x.shape[1 : count + 1], x.shape[count + 1 :]
    parts = x.reshape(*block.tolist(), x.shape[0] // blocks, *space, *rest)
    # [b1, b2, …, batch, s1, s2, …, rest] -> [batch, s1, b1, s2, b2, …, rest]
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    order += range(2 * count + 1, 2 * count + 1 + len(rest))
    full = [n * int(b) for n, b in zip(space, block, strict=True)]
    kept = []
    for size, (start, end) in zip(full, crops.tolist(), strict=True):
        if start + end > size:
            raise ValueError(f"cropped size {size} - {start} - {end} must be non-negative")
        kept.append(slice(start, size - end))
    whole = parts.transpose(order).reshape(x.shape[0] // blocks, *full, *rest)
    return np.ascontiguousarray(whole[(slice(None), *kept)])


@space_to_batch_nd_op.kernel("CPU", view=True)
def _(ctx: Any, input: Array, block_shape: Array, paddings: Array) -> Array:
    return _space_to_batch(input, block_shape, paddings)


@batch_to_space_nd_op.kernel("CPU", view=True)
def _(ctx: Any, input: Array, block_shape: Array, crops: Array) -> Array:
    return _batch_to_space(input, block_shape, crops)


@space_to_batch_nd_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [batch_to_space_nd_op(grad, op.inputs[1], op.inputs[2]), None, None]


@batch_to_space_nd_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [space_to_batch_nd_op(grad, op.inputs[1], op.inputs[2]), None, None]


# --- depth ------------------------------------------------------------------------------------------------------------


# --- functions --------------------------------------------------------------------------------------------------------

space_to_batch_nd = space_to_batch_nd_op
batch_to_space_nd = batch_to_space_nd_op


def required_space_to_batch_paddings(
    input_shape: Any, block_shape: Any, base_paddings: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(paddings, crops) with which blocks divide the padded input and give it back. TF symbol of this name.

    All are int32: `input_shape` and `block_shape` [N], `base_paddings`, what is wanted anyway, [N, 2].
    """
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        sizes: Any = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        blocks: Any = convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        blocks.get_shape().assert_is_fully_defined()
        blocks.get_shape().assert_has_rank(1)
        count = blocks.get_shape().as_list()[0]
        if count == 0:
            nothing = zeros([0, 2], dtypes.int32)
            return nothing, nothing
        sizes.get_shape().assert_is_compatible_with([count])
        if base_paddings is None:
            base: Any = zeros([count, 2], dtypes.int32)
        else:
            base = convert_to_tensor(base_paddings, dtype=dtypes.int32, name="base_paddings")
            base.get_shape().assert_is_compatible_with([count, 2])
        known = [static_value(t) for t in (sizes, blocks, base)]
        if all(value is not None for value in known):
            return _known_paddings(*known)
        starts, ends = base[:, 0], base[:, 1]
        full = sizes + starts + ends
        missing = (blocks - full % blocks) % blocks
        ends = ends + missing
        paddings = stack([[starts[i], ends[i]] for i in range(count)], name="paddings")
        crops = stack([[0, missing[i]] for i in range(count)], name="crops")
        return paddings, crops


def _known_paddings(sizes: Any, blocks: Any, base: Any) -> tuple[Tensor, Tensor]:
    missing = -(sizes + base[:, 0] + base[:, 1]) % blocks
    paddings = np.stack([base[:, 0], base[:, 1] + missing], 1)
    crops = np.stack([np.zeros_like(missing), missing], 1)
    return convert_to_tensor(paddings, name="paddings"), convert_to_tensor(crops, name="crops")
