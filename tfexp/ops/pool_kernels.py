"""Pooling on channels-last arrays of any spatial rank, one dimension after another, the last first.

The maximum of a window is the maximum over rows of the maxima within each row, and of equal elements the first in scan
order is the first of its row in the first such row; so each dimension is a stage of its own, and a window of a x b costs
a + b passes. Sums are made likewise. Blocks of images are shared out to the intra-op threads.

x: [batch, *space, depth]; y: [batch, *windows, depth]. Padding takes part in no maximum and no mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tfexp.core.workers import scratch
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import blocks_of, run_blocks, wide
from tfexp.ops.windows import Windows

Slices = tuple[slice, ...]

_ARRAYS = 4  # how many arrays of about the input's size should stay in cache together


def _reaches(lay: Windows, axis: int) -> Iterator[tuple[Slices, Slices]]:
    """For each offset in a window of one spatial dimension: which outputs it is inside the input for, and where there."""
    size, stride, before = lay.inputs[axis], lay.strides[axis], lay.before[axis]
    ahead = (slice(None),) * (axis + 1)
    for offset in range(lay.sizes[axis]):
        shift = offset - before
        first = max(0, -(shift // stride))  # the least o with o * stride + shift >= 0
        last = min(lay.outputs[axis], -(-(size - shift) // stride))
        if first < last:
            low = first * stride + shift
            inside = slice(low, low + (last - first - 1) * stride + 1, stride)
            yield (*ahead, slice(first, last)), (*ahead, inside)


def _staged(shape: tuple[int, ...], lay: Windows, axis: int) -> tuple[int, ...]:
    """The shape after the stage of a dimension."""
    return (*shape[: axis + 1], lay.outputs[axis], *shape[axis + 2 :])


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _reduce(x: Array, lay: Windows, axis: int, combine: Any, start: Any, out: Array) -> Array:
    """One stage: `combine` over the offsets of a dimension."""
    reaches = list(_reaches(lay, axis))
    if len(reaches) > 1 and all(out[outputs].shape == out.shape for outputs, _ in reaches[:2]):
        # Two offsets that are there for all windows save filling in what to start from.
        combine(x[reaches[0][1]], x[reaches[1][1]], out=out)
        reaches = reaches[2:]
    else:
        out[...] = start
    for outputs, inside in reaches:
        there = out[outputs]
        combine(there, x[inside], out=there)
    return out


def _stages(x: Array, lay: Windows, combine: Any, start: Any, out: Array) -> list[Array]:
    """The input and what each stage makes of it, the last in `out`."""
    made = [x]
    for axis in reversed(range(len(lay.inputs))):
        shape = _staged(made[-1].shape, lay, axis)
        target = out if axis == 0 else scratch(f"stage{axis}", shape, out.dtype)
        made.append(_reduce(made[-1], lay, axis, combine, start, target))
    return made


def _by_images(images: int, image_bytes: int, elements: int, work: Callable[[slice], None]) -> None:
    blocks = blocks_of(images, 1, _ARRAYS * image_bytes)

    def part(number: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            work(slice(block.first, block.last))

    run_blocks(part, len(blocks), elements)


def max_pool(x: Array, lay: Windows, out: Array | None = None) -> Array:
    """The largest element of each window."""
    shape = (x.shape[0], *lay.outputs, x.shape[-1])
    result = np.empty(shape, x.dtype) if out is None else out
    if 0 in shape:
        return result
    lowest = _lowest(x.dtype)

    def work(images: slice) -> None:
        _stages(x[images], lay, np.maximum, lowest, result[images])

    _by_images(x.shape[0], x[0].nbytes, x.size * sum(lay.sizes), work)
    return result


def _first_largest(x: Array, largest: Array, lay: Windows, axis: int) -> Iterator[tuple[Slices, Slices, Array]]:
    """For each offset of one dimension: the windows that it concerns, where it is, and whether it is the first largest."""
    claimed: Array | None = None
    reaches = list(_reaches(lay, axis))
    for number, (outputs, inside) in enumerate(reaches):
        mask = np.equal(x[inside], largest[outputs])
        if claimed is None:
            claimed = np.zeros(largest.shape, np.bool_) if len(reaches) > 1 else mask
        elif number:
            mask &= ~claimed[outputs]
        if number + 1 < len(reaches):
            claimed[outputs] |= mask
        yield outputs, inside, mask


def max_pool_gradient(x: Array, y: Array, grad: Array, lay: Windows, out: Array | None = None) -> Array:
    """grad, for each window, at its first largest element; added up where windows overlap."""
    result = np.empty(x.shape, grad.dtype) if out is None else out
    if 0 in y.shape or 0 in x.shape:
        result[...] = 0
        return result
    lowest = _lowest(x.dtype)
    rank = len(lay.inputs)

    def work(images: slice) -> None:
        stages = _maxima(x[images], y[images], lay, lowest)
        above = grad[images]
        for axis in range(rank):
            source, largest = stages[rank - 1 - axis], stages[rank - axis]
            target = result[images] if axis == rank - 1 else scratch(f"back{axis}", source.shape, grad.dtype)
            _place(source, largest, above, target, lay, axis)
            above = target

    _by_images(x.shape[0], x[0].nbytes, x.size * 2 * sum(lay.sizes), work)
    return result


def _maxima(x: Array, y: Array, lay: Windows, lowest: Any) -> list[Array]:
    """The input, the maxima after each stage but the last, and y."""
    made = [x]
    for axis in reversed(range(1, len(lay.inputs))):
        shape = _staged(made[-1].shape, lay, axis)
        made.append(_reduce(made[-1], lay, axis, np.maximum, lowest, scratch(f"stage{axis}", shape, x.dtype)))
    return [*made, y]


def _place(x: Array, largest: Array, grad: Array, target: Array, lay: Windows, axis: int) -> None:
    """One stage of the gradient: grad goes to the first largest along one dimension."""
    size, stride = lay.sizes[axis], lay.strides[axis]
    if size == stride == 2 and lay.inputs[axis] == 2 * lay.outputs[axis]:
        # Two elements that belong to one window alone: what the first does not get, the second does.
        (outputs, first), (_, second) = _reaches(lay, axis)
        mask = np.equal(x[first], largest)
        np.multiply(grad, mask, target[first], dtype=target.dtype)
        np.logical_not(mask, mask)
        np.multiply(grad, mask, target[second], dtype=target.dtype)
        return
    target[...] = 0
    for outputs, inside, mask in _first_largest(x, largest, lay, axis):
        there = target[inside]
        np.add(there, np.multiply(grad[outputs], mask, dtype=target.dtype), there)


def pick_at_largest(x: Array, y: Array, values: Array, lay: Windows) -> Array:
    """Of `values`, shaped like x, those at each window's first largest element: [batch, *windows, depth]."""
    result = np.zeros(y.shape, values.dtype)
    if 0 in y.shape or 0 in x.shape:
        return result
    stages = _maxima(x, y, lay, _lowest(x.dtype))
    below = values
    for number, axis in enumerate(reversed(range(len(lay.inputs)))):
        source, largest = stages[number], stages[number + 1]
        picked = np.zeros(largest.shape, values.dtype)
        for outputs, inside, mask in _first_largest(source, largest, lay, axis):
            there = picked[outputs]
            np.add(there, np.multiply(below[inside], mask, dtype=values.dtype), there)
        below = picked
    return below


def arg_largest(x: Array, y: Array, lay: Windows, with_batch: bool) -> Array:
    """The flat index of each window's first largest element, within its image or (`with_batch`) the whole of x; int64."""
    per_image = x[:1].size
    numbers = np.arange(per_image, dtype=np.int64).reshape(1, *x.shape[1:])
    indices = pick_at_largest(x, y, np.broadcast_to(numbers, x.shape), lay)
    if with_batch:
        indices += (np.arange(x.shape[0], dtype=np.int64) * per_image).reshape(-1, *(1,) * (x.ndim - 1))
    return indices


# --- means ----------------------------------------------------------------------------------------------------------


def _counts(lay: Windows, dtype: np.dtype[Any]) -> Array:
    """How many elements each window has, padding left out: [1, *windows, 1], or one number where all have as many."""
    result = np.ones((1,) * (len(lay.inputs) + 2), dtype)
    for axis in range(len(lay.inputs)):
        along = np.zeros(lay.outputs[axis], dtype)
        for outputs, _ in _reaches(lay, axis):
            along[outputs[-1]] += 1
        result = result * along.reshape((1,) * (axis + 1) + (-1,) + (1,) * (len(lay.inputs) - axis))
    return result if lay.is_padded or not result.size else result.reshape(-1)[:1].reshape(())


def avg_pool(x: Array, lay: Windows, out: Array | None = None) -> Array:
    """The mean of each window."""
    shape = (x.shape[0], *lay.outputs, x.shape[-1])
    result = np.empty(shape, x.dtype) if out is None else out
    if 0 in shape:
        return result
    dtype = wide(x.dtype)
    counts = _counts(lay, dtype)
    # Multiplying is quicker, and by a power of two the same.
    is_exact = counts.ndim == 0 and float(counts).is_integer() and int(counts) & (int(counts) - 1) == 0

    def work(images: slice) -> None:
        target = result[images]
        sums = target if target.dtype == dtype else scratch("sums", target.shape, dtype)
        _stages(x[images].astype(dtype, copy=False), lay, np.add, 0, sums)
        np.multiply(sums, 1 / counts, sums) if is_exact else np.divide(sums, counts, sums)
        if sums is not target:
            target[...] = sums

    _by_images(x.shape[0], x[0].nbytes, x.size * sum(lay.sizes), work)
    return result


def avg_pool_gradient(grad: Array, lay: Windows, out: Array | None = None) -> Array:
    """grad, for each window, shared equally among its elements: [batch, *space, depth]."""
    shape = (grad.shape[0], *lay.inputs, grad.shape[-1])
    result = np.empty(shape, grad.dtype) if out is None else out
    if 0 in shape or 0 in grad.shape:
        result[...] = 0
        return result
    dtype = wide(grad.dtype)
    counts = _counts(lay, dtype)
    rank = len(lay.inputs)

    def work(images: slice) -> None:
        above = np.divide(grad[images], counts, dtype=dtype)
        for axis in range(rank):
            below = (*above.shape[: axis + 1], lay.inputs[axis], *above.shape[axis + 2 :])
            last = axis == rank - 1 and result.dtype == dtype
            target = result[images] if last else scratch(f"back{axis}", below, dtype)
            target[...] = 0
            for outputs, inside in _reaches(lay, axis):
                there = target[inside]
                np.add(there, above[outputs], there)
            above = target
        if result.dtype != dtype:
            result[images] = above

    _by_images(grad.shape[0], result[0].nbytes, result.size * sum(lay.sizes), work)
    return result
