"""Convolutions whose windows are next to each other in the first dimension of space, with a fraction of the copying.

A block of images is laid out row by row: first a row of all of them, then the next. What windows see at one offset in the
first dimension is then one piece of memory, so that only the other dimensions' offsets are copied side by side. Forward
and for the filter, there is one product for each offset in the first dimension, of the rows that are inside of the input:
padding there is never copied nor multiplied. The second dimension is cut into strips whose windows have the same elements
inside, so that it needs no padding either (5x5 over 14x14: a sixth of the multiplications in all).

For the input it is the other way round: the gradient's rows are copied side by side, and the product is added up at each
offset in the other dimensions.

Arrays as in `conv_kernels`; filters are in the dtype to compute in.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tfexp.core.products import add_products
from tfexp.core.workers import scratch, threads
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import Block, blocks_of, padded_rows, row_bytes_of, run_blocks, window_matrix
from tfexp.ops.windows import Windows

_MIN_INNER = 64  # elements of a window's row: below, products of single rows are inefficient
_STRIP = 3 << 19  # multiplications that take as long as one more strip in a block does
_MIN_DEPTH = 16  # channels: adding up shorter pieces costs more than copying does


def fit(lay: Windows, depth: int, groups: int) -> bool:
    """Whether `convolve` and `filter_gradient` can be used here, and are likely to gain something."""
    return (
        groups == 1
        and len(lay.sizes) > 1
        and lay.strides[0] == 1 < lay.sizes[0]
        and math.prod(lay.sizes[1:]) * depth >= _MIN_INNER
    )


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


class _Strip(NamedTuple):
    """Windows first:last of the second dimension, of which only the elements low:high are inside of the input."""

    first: int
    last: int
    low: int
    high: int


@functools.lru_cache(maxsize=256)
def _strips(lay: Windows) -> tuple[_Strip, ...]:
    """The windows of the second dimension, cut where other elements of them are inside."""
    size, stride, dilation, before = lay.inputs[1], lay.strides[1], lay.dilations[1], lay.before[1]
    strips: list[_Strip] = []
    for window in range(lay.outputs[1]):
        start = window * stride - before
        low = min(max(0, -(start // dilation)), lay.sizes[1])
        high = max(low, min(lay.sizes[1], -(-(size - start) // dilation)))
        if strips and strips[-1][2:] == (low, high):
            strips[-1] = strips[-1]._replace(last=window + 1)
        else:
            strips.append(_Strip(window, window + 1, low, high))
    return tuple(strips)


def _places(lay: Windows, block: Block) -> tuple[slice, list[tuple[int, int, int, int]]]:
    """The input's rows that a block's windows see, and for each offset in the first dimension that meets some of them:

    the offset, the first row of the block's output and of these rows, and how many rows.
    """
    size, before, dilation = lay.inputs[0], lay.before[0], lay.dilations[0]
    reach = (lay.sizes[0] - 1) * dilation
    rows = slice(max(block.top - before, 0), max(min(block.bottom + reach - before, size), 0))
    places = []
    for offset in range(lay.sizes[0]):
        shift = offset * dilation - before
        first, last = max(block.top, -shift), min(block.bottom, size - shift)
        if first < last:
            places.append((offset, first - block.top, first + shift - rows.start, last - first))
    return rows, places


@dataclasses.dataclass(frozen=True)
class _Rows:
    """How the rows of blocks are made into matrices: in strips without padding, or (one strip) with it."""

    lay: Windows
    strips: tuple[_Strip, ...]
    is_exact: bool

    def source(self, x: Array, block: Block, rows: slice, dtype: np.dtype[Any]) -> Array:
        """These rows of the block's images: [rows, images, *others, depth], padded where `lay` and strips have it so."""
        images = x[block.first : block.last, rows]
        own = 2 if self.is_exact else 1  # dimensions without padding
        padded = dataclasses.replace(
            self.lay,
            inputs=images.shape[1:-1],
            sizes=(1, *self.lay.sizes[1:]),
            before=(0,) * own + self.lay.before[own:],
            after=(0,) * own + self.lay.after[own:],
        )
        return padded_rows(images, padded, Block(0, len(images), 0, images.shape[1]), dtype, rows_first=True).swapaxes(0, 1)

    def matrix(self, source: Array, strip: _Strip) -> Array:
        """[windows of the strip in each row of all images, elements of a row of a window]"""
        lay, depth = self.lay, source.shape[-1]
        start = strip.first * lay.strides[1] + strip.low * lay.dilations[1] - (lay.before[1] if self.is_exact else 0)
        part = source[:, :, start:]
        steps, (windows, taps) = part.strides[2:-1], self.extents(strip)
        shape = (*part.shape[:2], *windows, *taps, depth)
        strides = (
            *part.strides[:2],
            *(s * n for s, n in zip(steps, lay.strides[1:], strict=True)),
            *(s * d for s, d in zip(steps, lay.dilations[1:], strict=True)),
            part.strides[-1],
        )
        matrix = scratch("columns", shape, source.dtype)
        matrix[...] = as_strided(part, shape, strides, writeable=False)
        return matrix.reshape(-1, math.prod(taps) * depth)

    def extents(self, strip: _Strip) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """How many windows a row of the strip has, and how many elements a row of these, in each dimension but the first."""
        return (strip.last - strip.first, *self.lay.outputs[2:]), (strip.high - strip.low, *self.lay.sizes[2:])


def _rows_of(lay: Windows, block: Block, elements: int) -> _Rows:
    """Strips where they save more than they cost; `elements`: of the filter, at one offset in the second dimension."""
    strips = _strips(lay)
    outside = sum((strip.last - strip.first) * (lay.sizes[1] - strip.high + strip.low) for strip in strips)
    saved = outside * (block.last - block.first) * (block.bottom - block.top) * math.prod(lay.outputs[2:]) * elements
    if saved > (len(strips) - 1) * _STRIP:
        return _Rows(lay, strips, True)
    return _Rows(lay, (_Strip(0, lay.outputs[1], 0, lay.sizes[1]),), False)


def _row_blocks(batch: int, lay: Windows, depth: int, out_depth: int, dtype: np.dtype[Any]) -> list[Block]:
    inner = math.prod(lay.sizes[1:]) * depth + 2 * out_depth
    return blocks_of(batch, lay.outputs[0], math.prod(lay.outputs[1:]) * inner * dtype.itemsize)


def convolve(x: Array, filters: Array, lay: Windows, out: Array) -> None:
    dtype, out_depth = filters.dtype, filters.shape[-1]
    weights = filters.reshape(-1, out_depth)
    blocks = _row_blocks(x.shape[0], lay, x.shape[-1], out_depth, dtype)
    tap = math.prod(filters.shape[2:-1])  # rows of the weights
    rows = _rows_of(lay, blocks[0], lay.sizes[0] * tap * out_depth)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            seen, places = _places(lay, block)
            source = rows.source(x, block, seen, dtype)
            for strip in rows.strips:
                target = out[block.first : block.last, block.top : block.bottom, strip.first : strip.last].swapaxes(0, 1)
                total = scratch("total", target.shape, dtype)
                total[...] = 0
                if strip.low < strip.high and places:
                    matrix, each = rows.matrix(source, strip), math.prod(target.shape[1:-1])
                    terms = [
                        (to * each, at * each, (offset * lay.sizes[1] + strip.low) * tap, count * each, matrix.shape[1])
                        for offset, to, at, count in places
                    ]
                    add_products(total.reshape(-1, out_depth), matrix, weights, terms)
                np.copyto(target, total, casting="same_kind")

    run_blocks(work, len(blocks), out.size * math.prod(filters.shape[:-1]))


def filter_gradient(x: Array, grad: Array, filter_shape: tuple[int, ...], lay: Windows, dtype: np.dtype[Any]) -> Array:
    out_depth = filter_shape[-1]
    blocks = _row_blocks(x.shape[0], lay, x.shape[-1], out_depth, dtype)
    sums = np.zeros((threads(), math.prod(filter_shape[:-1]), out_depth), dtype)
    tap = math.prod(filter_shape[2:-1])
    rows = _rows_of(lay, blocks[0], lay.sizes[0] * tap * out_depth)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            seen, places = _places(lay, block)
            if not places:
                continue
            source = rows.source(x, block, seen, dtype)
            for strip in rows.strips:
                if strip.low == strip.high:
                    continue
                piece = grad[block.first : block.last, block.top : block.bottom, strip.first : strip.last].swapaxes(0, 1)
                above = scratch("above", piece.shape, dtype)
                above[...] = piece
                matrix, each = rows.matrix(source, strip), math.prod(piece.shape[1:-1])
                terms = [
                    ((offset * lay.sizes[1] + strip.low) * tap, at * each, to * each, matrix.shape[1], count * each)
                    for offset, to, at, count in places
                ]
                add_products(sums[part], matrix, above.reshape(-1, out_depth), terms, transposed=True)

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
