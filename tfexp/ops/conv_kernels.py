"""Convolution as matrix products, on channels-last arrays of any spatial rank.

The windows of a block of images are copied into a matrix (padding is part of that copy), one row for each window, and
multiplied with the filter. Blocks are small enough to stay in a core's cache, and are shared out to the intra-op threads.
The gradient for the input is a convolution with the filter turned around where windows lie next to each other; else one
product for each offset in the window is added up where it came from. `conv_rows` does the common case, rows of windows next
to each other and enough channels, with less copying.

x: [batch, *space, depth]; filter: [*window, depth of a group, out depth], groups = depth // depth of a group;
y: [batch, *windows, out depth]. Half and bfloat16 are computed in float32.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core.workers import scratch, threads
from tfexp.ops import conv_rows
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import blocks_of, row_bytes_of, rows_in_block, run_blocks, wide, window_matrix
from tfexp.ops.windows import Windows

_SMALL_WINDOW = 3  # elements in each dimension
_MAX_COPY_RATIO = 4  # how much more may be copied for one product than is added up after many


# --- where windows are single elements --------------------------------------------------------------------------------


def _product(rows: Array, weights: Array, out: Array) -> None:
    """rows @ weights, by all threads: a step with convolutions leaves BLAS one."""

    def work(part: int, start: int, stop: int) -> None:
        np.matmul(rows[start:stop], weights, out[start:stop])

    run_blocks(work, len(rows), out.size * len(weights))


def _product_over_rows(left: Array, right: Array) -> Array:
    """left.T @ right; each thread adds up some of the rows."""
    sums = np.empty((threads(), left.shape[1], right.shape[1]), right.dtype)

    def work(part: int, start: int, stop: int) -> None:
        np.matmul(left[start:stop].T, right[start:stop], sums[part])

    parts = run_blocks(work, len(left), sums[0].size * len(left))
    return sums[0] if parts == 1 else np.add.reduce(sums[:parts], 0)


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
    if conv_rows.fit(lay, depth, groups):
        conv_rows.convolve(x, filters.astype(dtype, copy=False), lay, result)
        return result
    weights: Array = filters.astype(dtype, copy=False).reshape(-1, out_depth)
    if groups > 1:
        weights = weights.reshape(-1, groups, out_depth // groups).transpose(1, 0, 2)
    target = result if result.dtype == dtype else np.empty(shape, dtype)
    if lay.is_pointwise and groups == 1:
        _product(x.astype(dtype, copy=False).reshape(-1, depth), weights, target.reshape(-1, out_depth))
    else:
        blocks = blocks_of(x.shape[0], lay.outputs[0], row_bytes_of(lay, depth, dtype))

        def work(part: int, start: int, stop: int) -> None:
            for block in blocks[start:stop]:
                rows = target[block.first : block.last, block.top : block.bottom].reshape(-1, out_depth)
                columns = window_matrix(x, lay, block, groups, dtype)
                if groups == 1:
                    np.matmul(columns, weights, rows)
                else:
                    rows.reshape(len(rows), groups, -1)[...] = np.matmul(columns, weights).transpose(1, 0, 2)

        run_blocks(work, len(blocks), math.prod(shape) * weights.shape[-2])
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
        return _product_over_rows(columns, rows).reshape(filter_shape).astype(x.dtype, copy=False)
    if conv_rows.fit(lay, depth, groups):
        return conv_rows.filter_gradient(x, grad, filter_shape, lay, dtype).astype(x.dtype, copy=False)
    blocks = blocks_of(x.shape[0], lay.outputs[0], row_bytes_of(lay, depth, dtype))
    per_group = out_depth // groups
    taps = math.prod(filter_shape[:-1])
    sums = np.zeros((threads(), taps, out_depth) if groups == 1 else (threads(), groups, taps, per_group), dtype)

    def work(part: int, start: int, stop: int) -> None:
        total = sums[part]
        product = np.empty_like(total)
        for block in blocks[start:stop]:
            columns = window_matrix(x, lay, block, groups, dtype)
            piece = grad[block.first : block.last, block.top : block.bottom]
            rows: Array = piece.astype(dtype, copy=False).reshape(-1, out_depth)
            if groups > 1:
                rows = rows.reshape(len(rows), groups, per_group).transpose(1, 0, 2)
            np.matmul(np.swapaxes(columns, -1, -2), rows, product)
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
    groups, taps = depth // group_depth, math.prod(lay.sizes)
    weights = filters.astype(dtype, copy=False).reshape(taps, group_depth, groups, out_depth // groups)
    offsets = list(np.ndindex(*lay.sizes))
    if lay.is_pointwise and groups == 1:
        rows = grad.astype(dtype, copy=False).reshape(-1, out_depth)
        target = result if result.dtype == dtype else np.empty(shape, dtype)
        _product(rows, weights.reshape(group_depth, out_depth).T, target.reshape(-1, depth))
        if target is not result:
            result[...] = target
        return result
    turned = lay.turned()
    # Gradients no deeper than x, in small windows, are sooner copied than their products are added up.
    sooner_copied = turned is not None and out_depth <= depth and max(lay.sizes) <= _SMALL_WINDOW
    if not sooner_copied and conv_rows.fit_backward(lay, depth, groups):
        conv_rows.input_gradient(grad, filters.astype(dtype, copy=False), lay, result)
        return result
    if turned is not None and out_depth <= _MAX_COPY_RATIO * depth:
        flipped = np.flip(weights.reshape(*lay.sizes, *weights.shape[1:]), tuple(range(len(lay.sizes))))
        around = np.swapaxes(flipped, -1, -3).reshape(*lay.sizes, out_depth // groups, depth)
        return convolve(grad, around, turned, result)
    # One product for each group and offset: [groups, offsets, out depth of a group, depth of a group].
    weights = np.ascontiguousarray(weights.transpose(2, 0, 3, 1))
    images = blocks_of(batch, 1, math.prod(lay.outputs) * taps * depth * dtype.itemsize)
    row_bytes = math.prod(lay.outputs[1:]) * taps * depth * dtype.itemsize
    direct = not lay.is_padded and result.dtype == dtype

    def work(part: int, start: int, stop: int) -> None:
        for first, last, _, _ in images[start:stop]:
            total = result[first:last] if direct else scratch("spread", (last - first, *lay.padded, depth), dtype)
            total[...] = 0
            step = rows_in_block((last - first) * row_bytes)
            for top in range(0, lay.outputs[0], step):
                bottom = min(top + step, lay.outputs[0])
                rows = grad[first:last, top:bottom].astype(dtype, copy=False).reshape(-1, groups, out_depth // groups)
                products = scratch("products", (groups, taps, len(rows), group_depth), dtype)
                np.matmul(rows.transpose(1, 0, 2)[:, None], weights, products)
                spread = products.reshape(groups, taps, last - first, bottom - top, *lay.outputs[1:], group_depth)
                _spread(total, spread, offsets, lay, top, bottom)
            if not direct:
                inside = tuple(slice(b, b + n) for b, n in zip(lay.before, lay.inputs, strict=True))
                result[first:last] = total[(slice(None), *inside)]

    run_blocks(work, len(images), grad.size * taps * group_depth)
    return result


def _spread(total: Array, products: Array, offsets: list[Any], lay: Windows, top: int, bottom: int) -> None:
    """Add the product of each offset to the elements at that offset in the windows of the rows top:bottom."""
    grouped = total if len(products) == 1 else total.reshape(*total.shape[:-1], len(products), -1)
    stride, dilation = lay.strides[0], lay.dilations[0]
    for tap, offset in enumerate(offsets):
        low = offset[0] * dilation + top * stride
        rows = slice(low, low + (bottom - top - 1) * stride + 1, stride)
        target = grouped[(slice(None), rows, *lay.offset_slices(offset)[1:])]
        np.add(target, products[0, tap] if len(products) == 1 else np.moveaxis(products[:, tap], 0, -2), target)
