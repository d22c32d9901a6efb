"""Blocks of images: small enough to stay in a core's cache, shared out to the intra-op threads, windows as matrices."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tfexp.core.workers import Work, scratch, share, short_buffers, threads
from tfexp.ops.array import Array
from tfexp.ops.windows import Windows

BLOCK_BYTES = 1 << 21  # of the matrix of a block: about a core's second-level cache
_WORTH_SHARING = 1 << 21  # multiplications: below, the other threads wake up too late to help


def wide(dtype: Any) -> np.dtype[Any]:
    """The dtype to compute in."""
    kind = np.dtype(dtype)
    return np.dtype(np.float32) if kind.itemsize < 4 and kind.kind in "fV" else kind


class Block(NamedTuple):
    """Images first:last of the batch; of one image also rows top:bottom of the output."""

    first: int
    last: int
    top: int
    bottom: int


def blocks_of(batch: int, rows: int, row_bytes: int) -> list[Block]:
    """The work in pieces of about `BLOCK_BYTES`: some images, or some rows of one."""
    image_bytes = max(rows * row_bytes, 1)
    # Every thread should get something to do.
    images = max(1, min(BLOCK_BYTES // image_bytes, -(-batch // threads())))
    if images > 1 or image_bytes <= BLOCK_BYTES:
        return [Block(i, min(i + images, batch), 0, rows) for i in range(0, batch, images)]
    step = rows_in_block(row_bytes)
    return [Block(i, i + 1, top, min(top + step, rows)) for i in range(batch) for top in range(0, rows, step)]


def rows_in_block(row_bytes: int) -> int:
    return max(1, BLOCK_BYTES // row_bytes)


def run_blocks(work: Work, count: int, multiplications: int) -> int:
    """`share` the work, if it is worth it; returns the number of parts."""
    if multiplications < _WORTH_SHARING:
        work(0, 0, count)
        return 1
    with short_buffers():
        return share(work, count)


# --- the input's windows as a matrix --------------------------------------------------------------------------------


def padded_rows(
    x: Array, lay: Windows, block: Block, dtype: np.dtype[Any], fill: Any = 0, rows_first: bool = False
) -> Array:
    """What the windows of a block reach over, padding included: a view of x where there is none, else a work array.

    `rows_first`: in memory, a row of all images comes before the next row. The axes stay.
    """
    stride, reach = lay.strides[0], (lay.sizes[0] - 1) * lay.dilations[0]
    low, high = block.top * stride, (block.bottom - 1) * stride + reach + 1
    if not lay.is_padded and x.dtype == dtype:
        return x[block.first : block.last, low:high]
    before, size = lay.before[0], lay.inputs[0]
    rows = slice(max(low - before, 0), max(min(high - before, size), 0))
    starts = (max(before - low, 0), *lay.before[1:])
    stops = (starts[0] + max(rows.stop - rows.start, 0), *(b + n for b, n in zip(starts[1:], lay.inputs[1:], strict=True)))
    shape = (block.last - block.first, high - low, *lay.padded[1:], x.shape[-1])
    if rows_first:
        result = scratch("padded", (shape[1], shape[0], *shape[2:]), dtype).swapaxes(0, 1)
    else:
        result = scratch("padded", shape, dtype)
    for axis, (start, stop) in enumerate(zip(starts, stops, strict=True), 1):
        before_it = (slice(None),) * axis
        result[(*before_it, slice(0, start))] = fill
        result[(*before_it, slice(stop, None))] = fill
    inside = tuple(slice(a, b) for a, b in zip(starts, stops, strict=True))
    result[(slice(None), *inside)] = x[block.first : block.last, rows]
    return result


def window_matrix(x: Array, lay: Windows, block: Block, groups: int, dtype: np.dtype[Any]) -> Array:
    """The windows of a block: [windows, elements of a window], or one such matrix for each group."""
    source = padded_rows(x, lay, block, dtype)
    depth = x.shape[-1]
    outs = (block.last - block.first, block.bottom - block.top, *lay.outputs[1:])
    steps = source.strides[1:-1]
    out_strides = (source.strides[0], *(s * n for s, n in zip(steps, lay.strides, strict=True)))
    window_strides = tuple(s * d for s, d in zip(steps, lay.dilations, strict=True))
    channel = source.strides[-1]
    count, taps = math.prod(outs), math.prod(lay.sizes)
    if groups > 1:
        shape = (groups, *outs, *lay.sizes, depth // groups)
        strides = (channel * (depth // groups), *out_strides, *window_strides, channel)
        matrix = scratch("columns", shape, dtype)
        matrix[...] = as_strided(source, shape, strides, writeable=False)
        return matrix.reshape(groups, count, -1)
    if depth == 1:
        # A window's elements are far apart; its neighbours' are not: the matrix is made the other way round.
        shape = (*lay.sizes, *outs)
        matrix = scratch("columns", shape, dtype)
        matrix[...] = as_strided(source, shape, (*window_strides, *out_strides), writeable=False)
        return matrix.reshape(taps, count).T
    shape = (*outs, *lay.sizes, depth)
    matrix = scratch("columns", shape, dtype)
    matrix[...] = as_strided(source, shape, (*out_strides, *window_strides, channel), writeable=False)
    return matrix.reshape(count, taps * depth)


def row_bytes_of(lay: Windows, depth: int, dtype: np.dtype[Any]) -> int:
    """The bytes of the matrix for one row of the output."""
    return math.prod(lay.outputs[1:]) * math.prod(lay.sizes) * depth * dtype.itemsize
