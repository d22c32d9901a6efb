"""Depthwise convolution: each channel has filters of its own, so that there is no matrix product in it.

x: [batch, *space, depth]; filter: [*window, depth, multiplier]; y: [batch, *windows, depth * multiplier]. One pass over a
block of images for each offset in the window; the blocks stay in cache and are shared out to the intra-op threads.
"""

from __future__ import annotations

import numpy as np

from tfexp.core.workers import scratch, threads
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import Block, blocks_of, padded_rows, run_blocks, wide
from tfexp.ops.windows import Windows


def depthwise(x: Array, filters: Array, lay: Windows) -> Array:
    depth, multiplier = filters.shape[-2:]
    dtype = wide(x.dtype)
    result = np.zeros((x.shape[0], *lay.outputs, depth, multiplier), dtype)
    shape = (*result.shape[:-2], depth * multiplier)
    if 0 in x.shape or 0 in shape:
        return result.reshape(shape).astype(x.dtype, copy=False)
    weights = filters.astype(dtype, copy=False)
    offsets = list(np.ndindex(*lay.sizes))
    rows = _as_rows(weights, lay)
    blocks = _image_blocks(result, lay)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            source = padded_rows(x, lay, block, dtype)
            target = result[block.first : block.last]
            product = scratch("product", target.shape, dtype)
            for offset in offsets:
                elements = source[(slice(None), *lay.offset_slices(offset))]
                if rows is None:
                    _multiply(elements, weights[offset], product)
                else:
                    np.multiply(_merged(elements), rows[offset], _merged(product[..., 0]))
                np.add(target, product, target)

    run_blocks(work, len(blocks), result.size * len(offsets))
    return result.reshape(shape).astype(x.dtype, copy=False)


def depthwise_filter_gradient(x: Array, grad: Array, filter_shape: tuple[int, ...], lay: Windows) -> Array:
    depth, multiplier = filter_shape[-2:]
    dtype = wide(x.dtype)
    if 0 in x.shape or 0 in grad.shape or 0 in filter_shape:
        return np.zeros(filter_shape, x.dtype)
    gradient = grad.astype(dtype, copy=False).reshape(*grad.shape[:-1], depth, multiplier)
    offsets = list(np.ndindex(*lay.sizes))
    blocks = _image_blocks(gradient, lay)
    sums = np.zeros((threads(), *filter_shape), dtype)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            source = padded_rows(x, lay, block, dtype)
            piece = gradient[block.first : block.last]
            product = scratch("product", piece.shape, dtype)
            flat = product.reshape(-1, depth * multiplier)
            ones = np.ones(len(flat), dtype)
            for offset in offsets:
                _multiply(source[(slice(None), *lay.offset_slices(offset))], piece, product)
                # Column sums by BLAS, as for biases.
                sums[(part, *offset)] += np.dot(ones, flat).reshape(depth, multiplier)

    parts = run_blocks(work, len(blocks), gradient.size * len(offsets))
    return np.add.reduce(sums[:parts], 0).astype(x.dtype, copy=False)


def depthwise_input_gradient(grad: Array, filters: Array, lay: Windows) -> Array:
    depth, multiplier = filters.shape[-2:]
    dtype = wide(grad.dtype)
    result = np.zeros((grad.shape[0], *lay.padded, depth), dtype)
    if 0 not in result.shape and 0 not in grad.shape:
        gradient = grad.astype(dtype, copy=False).reshape(*grad.shape[:-1], depth, multiplier)
        weights = filters.astype(dtype, copy=False)
        offsets = list(np.ndindex(*lay.sizes))
        rows = _as_rows(weights, lay)
        blocks = _image_blocks(gradient, lay)

        def work(part: int, start: int, stop: int) -> None:
            for block in blocks[start:stop]:
                piece = gradient[block.first : block.last]
                product = scratch("product", piece.shape, dtype)
                for offset in offsets:
                    target = result[(slice(block.first, block.last), *lay.offset_slices(offset))]
                    if rows is None:
                        np.multiply(piece, weights[offset], product)
                    else:
                        np.multiply(_merged(piece[..., 0]), rows[offset], _merged(product[..., 0]))
                    for number in range(multiplier):
                        np.add(target, product[..., number], target)

        run_blocks(work, len(blocks), gradient.size * len(offsets))
    inside = tuple(slice(b, b + n) for b, n in zip(lay.before, lay.inputs, strict=True))
    return np.ascontiguousarray(result[(slice(None), *inside)]).astype(grad.dtype, copy=False)


def _as_rows(filters: Array, lay: Windows) -> Array | None:
    """The filters of each offset, once for each column of the output: [*window, columns * depth].

    NumPy's inner loops then run along rows instead of over a few channels. None where columns are apart (strides), or
    where there are several multipliers.
    """
    if filters.shape[-1] > 1 or lay.strides[-1] > 1:
        return None
    return np.tile(filters[..., 0], lay.outputs[-1])


def _merged(x: Array) -> Array:
    """Columns and channels, next to each other in memory, as one dimension; a view."""
    return x.reshape(*x.shape[:-2], -1)


def _multiply(elements: Array, factors: Array, product: Array) -> None:
    """Channels times their multipliers; without that dimension where it is one, as NumPy's inner loops run along it."""
    if factors.shape[-1] == 1:
        np.multiply(elements, factors[..., 0], product[..., 0])
    else:
        np.multiply(elements[..., None], factors, product)


_PASSES_BYTES_FACTOR = 8  # several arrays of a block's size are in use at once, many times


def _image_blocks(values: Array, lay: Windows) -> list[Block]:
    """Blocks of whole images, by the size of what is computed for each."""
    rows = lay.outputs[0]
    size = values[0].nbytes * _PASSES_BYTES_FACTOR
    return [block._replace(top=0, bottom=rows) for block in blocks_of(values.shape[0], 1, size)]
