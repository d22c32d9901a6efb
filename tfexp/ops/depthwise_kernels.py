"""Depthwise convolution: each channel has filters of its own, so that there is no matrix product in it.

x: [batch, *space, depth]; filter: [*window, depth, multiplier]; y: [batch, *windows, depth * multiplier]. One pass over a
block of images for each offset in the window; the blocks stay in cache and are shared out to the intra-op threads.
"""

from __future__ import annotations

import numpy as np

from tfexp.core.workers import scratch, threads
from tfexp.ops.array import Array
from tfexp.ops.conv_kernels import blocks_of, padded_rows, run_blocks, wide
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
    blocks = _image_blocks(result, lay)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            source = padded_rows(x, lay, block, dtype)
            target = result[block.first : block.last]
            product = scratch("product", target.shape, dtype)
            for offset in offsets:
                elements = source[(slice(None), *lay.offset_slices(offset))]
                np.multiply(elements[..., None], weights[offset], product)
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
                np.multiply(source[(slice(None), *lay.offset_slices(offset))][..., None], piece, product)
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
        blocks = _image_blocks(gradient, lay)

        def work(part: int, start: int, stop: int) -> None:
            for block in blocks[start:stop]:
                piece = gradient[block.first : block.last]
                for offset in offsets:
                    target = result[(slice(block.first, block.last), *lay.offset_slices(offset))]
                    np.add(target, np.einsum("...cm,cm->...c", piece, weights[offset]), target)

        run_blocks(work, len(blocks), gradient.size * len(offsets))
    inside = tuple(slice(b, b + n) for b, n in zip(lay.before, lay.inputs, strict=True))
    return np.ascontiguousarray(result[(slice(None), *inside)]).astype(grad.dtype, copy=False)


def _image_blocks(values: Array, lay: Windows) -> list:  # type: ignore[type-arg]  # of conv_kernels.Block
    """Blocks of whole images, by the size of what is computed for each."""
    rows = lay.outputs[0]
    return [block._replace(top=0, bottom=rows) for block in blocks_of(values.shape[0], 1, values[0].nbytes)]
