"""Convolutions whose windows are next to each other in the first dimension of space, with a fraction of the copying.

A block of images is laid out row by row: first a row of all of them, then the next. What windows see at one offset in the
first dimension is then one piece of memory, so that only the other dimensions' offsets are copied side by side. Forward
and for the filter, there is one product for each offset in the first dimension. For the input it is the other way round:
the gradient's rows are copied side by side, and the product is added up at each offset in the other dimensions.

Arrays as in `conv_kernels`; filters are in the dtype to compute in.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tfexp.core.workers import scratch, threads
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import Block, blocks_of, padded_rows, row_bytes_of, run_blocks, window_matrix
from tfexp.ops.windows import Windows

_MIN_INNER = 64  # elements of a window's row: below, products of single rows are inefficient
_MIN_DEPTH = 16  # channels: adding up shorter pieces costs more than copying does


def fit(lay: Windows, depth: int, groups: int) -> bool:
    """Whether `convolve` and `filter_gradient` can be used here, and are likely to gain something."""
    return groups == 1 and lay.strides[0] == 1 < lay.sizes[0] and math.prod(lay.sizes[1:]) * depth >= _MIN_INNER


def fit_backward(lay: Windows, depth: int, groups: int) -> bool:
    """Whether `input_gradient` can be used here, and is likely to gain something."""
    reach = (lay.sizes[0] - 1) * lay.dilations[0]
    lacks_rows = lay.inputs[0] + reach - lay.before[0] < lay.outputs[0]
    return (
        groups == 1
        and lay.strides[0] == 1
        and math.prod(lay.sizes) > 1
        and depth >= _MIN_DEPTH
        and lay.before[0] <= reach
        and not lacks_rows
    )


def _row_matrix(x: Array, lay: Windows, block: Block, dtype: np.dtype[Any]) -> Array:
    """[rows that the block's windows reach over, windows of a row of all images, elements of a row of a window]."""
    source = padded_rows(x, lay, block, dtype, rows_first=True).swapaxes(0, 1)
    rows, images, depth = source.shape[0], source.shape[1], source.shape[-1]
    steps = source.strides[2:-1]
    shape = (rows, images, *lay.outputs[1:], *lay.sizes[1:], depth)
    strides = (
        *source.strides[:2],
        *(s * n for s, n in zip(steps, lay.strides[1:], strict=True)),
        *(s * d for s, d in zip(steps, lay.dilations[1:], strict=True)),
        source.strides[-1],
    )
    matrix = scratch("columns", shape, dtype)
    matrix[...] = as_strided(source, shape, strides, writeable=False)
    return matrix.reshape(rows, -1, math.prod(lay.sizes[1:]) * depth)


def _row_blocks(batch: int, lay: Windows, depth: int, out_depth: int, dtype: np.dtype[Any]) -> list[Block]:
    inner = math.prod(lay.sizes[1:]) * depth + 2 * out_depth
    return blocks_of(batch, lay.outputs[0], math.prod(lay.outputs[1:]) * inner * dtype.itemsize)


def convolve(x: Array, filters: Array, lay: Windows, out: Array) -> None:
    dtype, out_depth = filters.dtype, filters.shape[-1]
    weights = filters.reshape(lay.sizes[0], -1, out_depth)
    blocks = _row_blocks(x.shape[0], lay, x.shape[-1], out_depth, dtype)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            matrix, height = _row_matrix(x, lay, block, dtype), block.bottom - block.top
            total = scratch("total", (height * matrix.shape[1], out_depth), dtype)
            added = scratch("added", total.shape, dtype)
            for number, row_weights in enumerate(weights):
                low = number * lay.dilations[0]
                rows = matrix[low : low + height].reshape(len(total), -1)
                if number == 0:
                    np.matmul(rows, row_weights, out=total)
                    continue
                np.matmul(rows, row_weights, out=added)
                if number + 1 < len(weights):
                    np.add(total, added, total)
            shape = (height, block.last - block.first, *lay.outputs[1:], out_depth)
            target = out[block.first : block.last, block.top : block.bottom].swapaxes(0, 1)
            np.add(total.reshape(shape), added.reshape(shape), target, casting="same_kind")

    run_blocks(work, len(blocks), out.size * math.prod(filters.shape[:-1]))


def filter_gradient(x: Array, grad: Array, filter_shape: tuple[int, ...], lay: Windows, dtype: np.dtype[Any]) -> Array:
    out_depth = filter_shape[-1]
    blocks = _row_blocks(x.shape[0], lay, x.shape[-1], out_depth, dtype)
    sums = np.zeros((threads(), lay.sizes[0], math.prod(filter_shape[1:-1]), out_depth), dtype)

    def work(part: int, start: int, stop: int) -> None:
        added = np.empty(sums.shape[2:], dtype)
        for block in blocks[start:stop]:
            matrix, height = _row_matrix(x, lay, block, dtype), block.bottom - block.top
            piece = grad[block.first : block.last, block.top : block.bottom].swapaxes(0, 1)
            above = scratch("above", piece.shape, dtype)
            above[...] = piece
            flat = above.reshape(-1, out_depth)
            for number, total in enumerate(sums[part]):
                low = number * lay.dilations[0]
                rows = matrix[low : low + height].reshape(len(flat), -1)
                np.matmul(rows.T, flat, out=added)
                np.add(total, added, total)

    parts = run_blocks(work, len(blocks), grad.size * math.prod(filter_shape[:-1]))
    return np.add.reduce(sums[:parts], 0).reshape(filter_shape)


def input_gradient(grad: Array, filters: Array, lay: Windows, out: Array) -> None:
    dtype, (depth, out_depth) = filters.dtype, filters.shape[-2:]
    rows = _rows_of_gradient(lay)
    offsets = [_inside(lay, offset) for offset in np.ndindex(*lay.sizes[1:])]
    # [offset in the first dimension, from the last; out depth] x [offset in the others; depth]
    weights = filters.reshape(lay.sizes[0], len(offsets), depth, out_depth)[::-1].transpose(0, 3, 1, 2)
    weights = np.ascontiguousarray(weights).reshape(lay.sizes[0] * out_depth, -1)
    row_bytes = row_bytes_of(rows, out_depth, dtype) + math.prod(lay.outputs[1:]) * weights.shape[1] * dtype.itemsize
    blocks = blocks_of(grad.shape[0], rows.outputs[0], row_bytes)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            matrix = window_matrix(grad, rows, block, 1, dtype)
            products = scratch("products", (len(matrix), weights.shape[1]), dtype)
            np.matmul(matrix, weights, out=products)
            target = out[block.first : block.last, block.top : block.bottom]
            total = target if out.dtype == dtype else scratch("spread", target.shape, dtype)
            total[...] = 0
            spread = products.reshape(*target.shape[:2], *lay.outputs[1:], len(offsets), depth)
            for number, (windows, elements) in enumerate(offsets):
                there = total[elements]
                np.add(there, spread[..., number, :][windows], there)
            if total is not target:
                target[...] = total

    run_blocks(work, len(blocks), grad.size * math.prod(filters.shape[:-1]))


def _rows_of_gradient(lay: Windows) -> Windows:
    """The windows over the gradient's first dimension that make up the input's rows; the others as they are."""
    reach = (lay.sizes[0] - 1) * lay.dilations[0]
    before = reach - lay.before[0]
    after = lay.inputs[0] - lay.outputs[0] + reach - before
    others = lay.outputs[1:]
    ones, nothing = (1,) * len(others), (0,) * len(others)
    return dataclasses.replace(
        lay,
        inputs=lay.outputs,
        sizes=(lay.sizes[0], *ones),
        strides=(1, *ones),
        dilations=(lay.dilations[0], *ones),
        before=(before, *nothing),
        after=(after, *nothing),
        outputs=(lay.inputs[0], *others),
    )


def _inside(lay: Windows, offset: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """For an offset in all dimensions but the first: which windows have it inside of the input, and where there.

    Both are for arrays that begin with images and rows.
    """
    windows, elements = [slice(None)] * 2, [slice(None)] * 2
    for axis, position in enumerate(offset, 1):
        stride, shift = lay.strides[axis], position * lay.dilations[axis] - lay.before[axis]
        first = max(0, -(shift // stride))  # the least o with o * stride + shift >= 0
        last = max(first, min(lay.outputs[axis], -(-(lay.inputs[axis] - shift) // stride)))
        windows.append(slice(first, last))
        low = first * stride + shift
        elements.append(slice(low, low + max(0, (last - first - 1) * stride + 1), stride) if first < last else slice(0, 0))
    return tuple(windows), tuple(elements)
