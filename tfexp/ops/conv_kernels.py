"""Convolution as matrix products, on channels-last arrays of any spatial rank.

The windows of a block of images are copied into a matrix (padding is part of that copy), one row for each window, and
multiplied with the filter. Blocks are small enough to stay in a core's cache, and are shared out to the intra-op threads.
The gradient for the input is a convolution with the filter turned around where windows lie next to each other; else one
product for each offset in the window is added up where it came from.

x: [batch, *space, depth]; filter: [*window, depth of a group, out depth], groups = depth // depth of a group;
y: [batch, *windows, out depth]. Half and bfloat16 are computed in float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tfexp.core.workers import Work, scratch, share, threads
from tfexp.ops.array import Array
from tfexp.ops.windows import Windows

_BLOCK_BYTES = 1 << 21  # of the matrix of a block: about a core's second-level cache
_MAX_COPY_RATIO = 4  # how much more may be copied for one product than is added up after many
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
    """The work in pieces of about `_BLOCK_BYTES`: some images, or some rows of one."""
    image_bytes = max(rows * row_bytes, 1)
    # Every thread should get something to do.
    images = max(1, min(_BLOCK_BYTES // image_bytes, -(-batch // threads())))
    if images > 1 or image_bytes <= _BLOCK_BYTES:
        return [Block(i, min(i + images, batch), 0, rows) for i in range(0, batch, images)]
    step = max(1, _BLOCK_BYTES // row_bytes)
    return [Block(i, i + 1, top, min(top + step, rows)) for i in range(batch) for top in range(0, rows, step)]


def run_blocks(work: Work, count: int, multiplications: int) -> int:
    """`share` the work, if it is worth it; returns the number of parts."""
    if multiplications < _WORTH_SHARING:
        work(0, 0, count)
        return 1
    return share(work, count)


def _product(a: Array, b: Array, out: Array | None = None) -> Array:
    return np.matmul(a, b, out=out)


# --- the input's windows as a matrix --------------------------------------------------------------------------------


def padded_rows(x: Array, lay: Windows, block: Block, dtype: np.dtype[Any], fill: Any = 0) -> Array:
    """What the windows of a block reach over, padding included: a view of x where there is none, else a work array."""
    stride, reach = lay.strides[0], (lay.sizes[0] - 1) * lay.dilations[0]
    low, high = block.top * stride, (block.bottom - 1) * stride + reach + 1
    if not lay.is_padded and x.dtype == dtype:
        return x[block.first : block.last, low:high]
    before, size = lay.before[0], lay.inputs[0]
    rows = slice(max(low - before, 0), max(min(high - before, size), 0))
    starts = (max(before - low, 0), *lay.before[1:])
    stops = (starts[0] + max(rows.stop - rows.start, 0), *(b + n for b, n in zip(starts[1:], lay.inputs[1:], strict=True)))
    shape = (block.last - block.first, high - low, *lay.padded[1:], x.shape[-1])
    result = scratch("padded", shape, dtype)
    for axis, (start, stop) in enumerate(zip(starts, stops, strict=True), 1):
        before_it = (slice(None),) * axis
        result[(*before_it, slice(0, start))] = fill
        result[(*before_it, slice(stop, None))] = fill
    inside = tuple(slice(a, b) for a, b in zip(starts, stops, strict=True))
    result[(slice(None), *inside)] = x[block.first : block.last, rows]
    return result


def _columns(x: Array, lay: Windows, block: Block, groups: int, dtype: np.dtype[Any]) -> Array:
    """The windows of a block: [windows, elements of a window], or one such matrix for each group."""
    source = padded_rows(x, lay, block, dtype)
    depth = x.shape[-1]
    outs = (block.last - block.first, block.bottom - block.top, *lay.outputs[1:])
    steps = source.strides[1:-1]
    out_strides = (source.strides[0], *(s * n for s, n in zip(steps, lay.strides, strict=True)))
    window_strides = tuple(s * d for s, d in zip(steps, lay.dilations, strict=True))
    channel = source.strides[-1]
    count, taps = _size(outs), _size(lay.sizes)
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


def _size(dims: tuple[int, ...]) -> int:
    result = 1
    for dim in dims:
        result *= dim
    return result


def _row_bytes(lay: Windows, depth: int, dtype: np.dtype[Any]) -> int:
    """The bytes of the matrix for one row of the output."""
    return _size(lay.outputs[1:]) * _size(lay.sizes) * depth * dtype.itemsize


# --- the three products ---------------------------------------------------------------------------------------------


def convolve(x: Array, filters: Array, lay: Windows, out: Array | None = None) -> Array:
    """y[n, o] = sum over a window's elements and a group's channels of x * filter."""
    depth, out_depth = x.shape[-1], filters.shape[-1]
    shape = (x.shape[0], *lay.outputs, out_depth)
    result = np.empty(shape, x.dtype) if out is None else out
    if 0 in shape or 0 in filters.shape:
        result[...] = 0
        return result
    dtype = wide(x.dtype)
    groups = depth // filters.shape[-2]
    target = result if result.dtype == dtype else np.empty(shape, dtype)
    weights = filters.astype(dtype, copy=False).reshape(-1, out_depth)
    if groups > 1:
        weights = weights.reshape(-1, groups, out_depth // groups).transpose(1, 0, 2)
    if lay.is_pointwise and groups == 1:
        _product(x.astype(dtype, copy=False).reshape(-1, depth), weights, target.reshape(-1, out_depth))
    else:
        blocks = blocks_of(x.shape[0], lay.outputs[0], _row_bytes(lay, depth, dtype))

        def work(part: int, start: int, stop: int) -> None:
            for block in blocks[start:stop]:
                rows = target[block.first : block.last, block.top : block.bottom].reshape(-1, out_depth)
                columns = _columns(x, lay, block, groups, dtype)
                if groups == 1:
                    _product(columns, weights, rows)
                else:
                    rows.reshape(len(rows), groups, -1)[...] = _product(columns, weights).transpose(1, 0, 2)

        run_blocks(work, len(blocks), _size(shape) * weights.shape[-2])
    if target is not result:
        result[...] = target
    return result


def filter_gradient(x: Array, grad: Array, filter_shape: tuple[int, ...], lay: Windows) -> Array:
    """The gradient for the filter: windows' elements times what became of them, over the batch."""
    dtype = wide(x.dtype)
    depth, out_depth = x.shape[-1], filter_shape[-1]
    if 0 in x.shape or 0 in grad.shape or 0 in filter_shape:
        return np.zeros(filter_shape, x.dtype)
    groups = depth // filter_shape[-2]
    if lay.is_pointwise and groups == 1:
        rows, columns = (a.astype(dtype, copy=False).reshape(-1, a.shape[-1]) for a in (grad, x))
        return _product(columns.T, rows).reshape(filter_shape).astype(x.dtype, copy=False)
    blocks = blocks_of(x.shape[0], lay.outputs[0], _row_bytes(lay, depth, dtype))
    per_group = out_depth // groups
    taps = _size(filter_shape[:-1])
    sums = np.zeros((threads(), taps, out_depth) if groups == 1 else (threads(), groups, taps, per_group), dtype)

    def work(part: int, start: int, stop: int) -> None:
        total = sums[part]
        product = np.empty_like(total)
        for block in blocks[start:stop]:
            columns = _columns(x, lay, block, groups, dtype)
            rows = grad[block.first : block.last, block.top : block.bottom].astype(dtype, copy=False).reshape(-1, out_depth)
            if groups > 1:
                rows = rows.reshape(len(rows), groups, per_group).transpose(1, 0, 2)
            _product(np.swapaxes(columns, -1, -2), rows, product)
            total += product

    parts = run_blocks(work, len(blocks), grad.size * taps)
    total = sums[0] if parts == 1 else np.add.reduce(sums[:parts], 0)
    if groups > 1:
        total = total.transpose(1, 0, 2)
    return total.reshape(filter_shape).astype(x.dtype, copy=False)


def input_gradient(grad: Array, filters: Array, lay: Windows, depth: int, out: Array | None = None) -> Array:
    """The gradient for an input of that depth: each window's gradient, spread over the elements that it saw."""
    dtype = wide(grad.dtype)
    batch, out_depth = grad.shape[0], filters.shape[-1]
    shape = (batch, *lay.inputs, depth)
    result = np.empty(shape, grad.dtype) if out is None else out
    if 0 in shape or 0 in grad.shape or 0 in filters.shape:
        result[...] = 0
        return result
    group_depth = filters.shape[-2]
    groups, taps = depth // group_depth, _size(lay.sizes)
    weights = filters.astype(dtype, copy=False).reshape(taps, group_depth, groups, out_depth // groups)
    offsets = list(np.ndindex(*lay.sizes))
    if lay.is_pointwise and groups == 1:
        rows = grad.astype(dtype, copy=False).reshape(-1, out_depth)
        result[...] = _product(rows, weights.reshape(group_depth, out_depth).T).reshape(shape)
        return result
    turned = _turned(lay)
    if turned is not None and out_depth <= _MAX_COPY_RATIO * depth:
        flipped = np.flip(weights.reshape(*lay.sizes, *weights.shape[1:]), tuple(range(len(lay.sizes))))
        around = np.swapaxes(flipped, -1, -3).reshape(*lay.sizes, out_depth // groups, depth)
        return convolve(grad, around, turned, result)
    # One product for each group and offset: [groups, offsets, out depth of a group, depth of a group].
    weights = np.ascontiguousarray(weights.transpose(2, 0, 3, 1))
    images = blocks_of(batch, 1, _size(lay.outputs) * taps * depth * dtype.itemsize)
    row_bytes = _size(lay.outputs[1:]) * taps * depth * dtype.itemsize
    direct = not lay.is_padded and result.dtype == dtype

    def work(part: int, start: int, stop: int) -> None:
        for first, last, _, _ in images[start:stop]:
            total = result[first:last] if direct else scratch("spread", (last - first, *lay.padded, depth), dtype)
            total[...] = 0
            step = max(1, _BLOCK_BYTES // ((last - first) * row_bytes))
            for top in range(0, lay.outputs[0], step):
                bottom = min(top + step, lay.outputs[0])
                rows = grad[first:last, top:bottom].astype(dtype, copy=False).reshape(-1, groups, out_depth // groups)
                products = scratch("products", (groups, taps, len(rows), group_depth), dtype)
                _product(rows.transpose(1, 0, 2)[:, None], weights, products)
                spread = products.reshape(groups, taps, last - first, bottom - top, *lay.outputs[1:], group_depth)
                _spread(total, spread, offsets, lay, top, bottom)
            if not direct:
                inside = tuple(slice(b, b + n) for b, n in zip(lay.before, lay.inputs, strict=True))
                result[first:last] = total[(slice(None), *inside)]

    run_blocks(work, len(images), grad.size * taps * group_depth)
    return result


def _turned(lay: Windows) -> Windows | None:
    """The windows over the outputs that make up the inputs again; None where strides leave gaps, or padding is too wide."""
    reaches = [(n - 1) * d for n, d in zip(lay.sizes, lay.dilations, strict=True)]
    before = tuple(reach - b for reach, b in zip(reaches, lay.before, strict=True))
    after = tuple(n - m + reach - b for n, m, reach, b in zip(lay.inputs, lay.outputs, reaches, before, strict=True))
    if max(lay.strides) > 1 or min(*before, *after) < 0:
        return None
    return Windows(lay.outputs, lay.sizes, lay.strides, lay.dilations, before, after, lay.inputs)


def _spread(total: Array, products: Array, offsets: list[Any], lay: Windows, top: int, bottom: int) -> None:
    """Add the product of each offset to the elements at that offset in the windows of the rows top:bottom."""
    grouped = total if len(products) == 1 else total.reshape(*total.shape[:-1], len(products), -1)
    stride, dilation = lay.strides[0], lay.dilations[0]
    for tap, offset in enumerate(offsets):
        low = offset[0] * dilation + top * stride
        rows = slice(low, low + (bottom - top - 1) * stride + 1, stride)
        target = grouped[(slice(None), rows, *lay.offset_slices(offset)[1:])]
        np.add(target, products[0, tap] if len(products) == 1 else np.moveaxis(products[:, tap], 0, -2), target)
