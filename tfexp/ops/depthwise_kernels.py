"""Depthwise convolution: each channel has filters of its own, so that there is no matrix product in it.

x: [batch, *space, depth]; filter: [*window, depth, multiplier]; y: [batch, *windows, depth * multiplier]; two dimensions of
space. Several multipliers are as many copies of each channel, with one filter each.

NumPy's `einsum` multiplies and adds in one pass over the last dimension, which is as long as memory allows: where windows
are next to each other, a row of columns and channels is one piece of memory at every offset in the window, and the filter
is laid out along it. Blocks of images stay in cache and are shared out to the intra-op threads.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tfexp.core.workers import scratch, threads
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import Block, blocks_of, padded_rows, run_blocks, wide
from tfexp.ops.windows import Windows


def depthwise(x: Array, filters: Array, lay: Windows, out: Array | None = None) -> Array:
    depth, multiplier = filters.shape[-2:]
    shape = (x.shape[0], *lay.outputs, depth * multiplier)
    result = np.empty(shape, x.dtype) if out is None else out
    if 0 in x.shape or 0 in shape or 0 in filters.shape:
        result[...] = 0
        return result
    _multiply_add(x, filters.reshape(*lay.sizes, -1), lay, multiplier, result)
    return result


def _multiply_add(x: Array, filters: Array, lay: Windows, copies: int, result: Array) -> None:
    """`depthwise` with filters of shape [*window, depth * copies]."""
    dtype = wide(x.dtype)
    weights = filters.astype(dtype, copy=False)
    along = weights if lay.strides[-1] > 1 else np.tile(weights, lay.outputs[-1])
    blocks = _image_blocks(result)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            windows = _windows(x, lay, block, copies, dtype)
            target = result[block.first : block.last]
            sums = target if target.dtype == dtype else scratch("sums", target.shape, dtype)
            np.einsum("nhijwc,ijc->nhwc", windows, along, out=_in_runs(sums, lay))
            if sums is not target:
                target[...] = sums

    run_blocks(work, len(blocks), result.size * math.prod(lay.sizes))


def depthwise_filter_gradient(x: Array, grad: Array, filter_shape: tuple[int, ...], lay: Windows) -> Array:
    depth, multiplier = filter_shape[-2:]
    dtype = wide(x.dtype)
    if 0 in x.shape or 0 in grad.shape or 0 in filter_shape:
        return np.zeros(filter_shape, x.dtype)
    blocks = _image_blocks(grad)
    run = _in_runs(grad[:1], lay).shape[-1]
    sums = np.zeros((threads(), *lay.sizes, run), dtype)

    def work(part: int, start: int, stop: int) -> None:
        added = np.empty(sums.shape[2:], dtype)
        for block in blocks[start:stop]:
            windows = _windows(x, lay, block, multiplier, dtype)
            above = _in_runs(np.ascontiguousarray(grad[block.first : block.last], dtype), lay)
            # One image and one row of the window at a time: so much stays in a core's first cache.
            for image, gradient in zip(windows, above, strict=True):
                for number, total in enumerate(sums[part]):
                    np.einsum("hjwc,hwc->jc", image[:, number], gradient, out=added)
                    np.add(total, added, total)

    parts = run_blocks(work, len(blocks), grad.size * math.prod(lay.sizes))
    total = np.add.reduce(sums[:parts], 0).reshape(*lay.sizes, -1, depth * multiplier).sum(-2)
    return total.reshape(filter_shape).astype(x.dtype, copy=False)


def depthwise_input_gradient(grad: Array, filters: Array, lay: Windows, out: Array | None = None) -> Array:
    depth, multiplier = filters.shape[-2:]
    dtype = wide(grad.dtype)
    result = np.empty((grad.shape[0], *lay.inputs, depth), grad.dtype) if out is None else out
    if 0 in result.shape or 0 in grad.shape or 0 in filters.shape:
        result[...] = 0
        return result
    flat, turned = filters.reshape(*lay.sizes, -1), lay.turned()
    if turned is None:
        _spread(grad, flat.astype(dtype, copy=False), lay, multiplier, result)
    elif multiplier == 1:
        _multiply_add(grad, flat[::-1, ::-1], turned, 1, result)
    else:
        copies = np.empty((*result.shape[:-1], depth * multiplier), dtype)
        _multiply_add(grad, flat[::-1, ::-1], turned, 1, copies)
        _add_copies(copies, multiplier, result)
    return result


def _spread(grad: Array, weights: Array, lay: Windows, copies: int, result: Array) -> None:
    """The input's gradient where windows are apart: each offset's products are added where they came from."""
    dtype = weights.dtype
    blocks = _image_blocks(grad)
    inside = tuple(slice(b, b + n) for b, n in zip(lay.before, lay.inputs, strict=True))

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            piece = grad[block.first : block.last].astype(dtype, copy=False)
            product = scratch("product", piece.shape, dtype)
            total = scratch("spread", (len(piece), *lay.padded, piece.shape[-1]), dtype)
            total[...] = 0
            for offset in np.ndindex(*lay.sizes):
                target = total[(slice(None), *lay.offset_slices(offset))]
                np.multiply(piece, weights[offset], product)
                np.add(target, product, target)
            _add_copies(total[(slice(None), *inside)], copies, result[block.first : block.last])

    run_blocks(work, len(blocks), grad.size * math.prod(lay.sizes))


def _add_copies(values: Array, copies: int, out: Array) -> None:
    """[..., depth * copies] to [..., depth]."""
    first, *others = np.moveaxis(values.reshape(*values.shape[:-1], -1, copies), -1, 0)
    if not others:
        out[...] = first
        return
    total = np.add(first, others[0])
    for other in others[1:]:
        np.add(total, other, total)
    out[...] = total


def _windows(x: Array, lay: Windows, block: Block, copies: int, dtype: np.dtype) -> Array:
    """What the windows of a block see, as a view: [images, rows, *window, runs, elements of a run], as `_in_runs` has it."""
    source = padded_rows(x, lay, block, dtype)
    source = np.repeat(source, copies, -1) if copies > 1 else np.ascontiguousarray(source)
    image, row, column, element = source.strides
    runs, run = _runs(lay, source.shape[-1])
    shape = (len(source), lay.outputs[0], *lay.sizes, runs, run)
    (down, across), (below, beside) = lay.strides, lay.dilations
    strides = (image, row * down, row * below, column * beside, column * across, element)
    return as_strided(source, shape, strides, writeable=False)


def _runs(lay: Windows, depth: int) -> tuple[int, int]:
    """How many pieces of memory a row of windows is at one offset, and their length."""
    columns = lay.outputs[-1]
    return (1, columns * depth) if lay.strides[-1] == 1 else (columns, depth)


def _in_runs(values: Array, lay: Windows) -> Array:
    """[images, rows, columns, depth] as [images, rows, runs, elements of a run]; a view of contiguous arrays."""
    return values.reshape(*values.shape[:2], *_runs(lay, values.shape[-1]))


_ARRAYS = 2  # how many arrays of the size of what is computed a block has; fewer, larger blocks hand the lock on less often


def _image_blocks(values: Array) -> list[Block]:
    """Blocks of whole images, by the size of what is computed for each."""
    rows = values.shape[1]
    return [block._replace(top=0, bottom=rows) for block in blocks_of(values.shape[0], 1, values[0].nbytes * _ARRAYS)]
