"""Pooling on channels-last arrays of any spatial rank.

The maximum of a window is the maximum of its columns' maxima: each dimension is a stage of its own, and a window of a x b
costs a + b passes. Sums are made likewise. Which element a maximum was, the first of equal ones in scan order, is looked for
offset by offset, dimension by dimension where that takes less; its bits are multiplied by 0 or 1, so that infinite
gradients stay where they belong. Blocks of images are shared out to the intra-op threads.

x: [batch, *space, depth]; y: [batch, *windows, depth]. Padding takes part in no maximum and no mean.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core.workers import scratch
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import blocks_of, run_blocks, wide
from tfexp.ops.windows import Windows

Slices = tuple[slice, ...]

_ARRAYS = 2  # how many arrays of about the input's size a block has; fewer, larger blocks hand the lock on less often


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


def _neutral(dtype: np.dtype[Any]) -> Any:
    """What is in no window the largest, if anything else is there; NaN gives way to every number (`np.fmax`)."""
    return np.iinfo(dtype).min if dtype.kind in "iu" else np.nan


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


def _stages(x: Array, lay: Windows, combine: Any, start: Any, out: Array) -> None:
    """`combine` over the windows, in `out`; the first dimension goes first, whose rows are long pieces of memory."""
    made, last = x, len(lay.inputs) - 1
    for axis in range(last + 1):
        shape = _staged(made.shape, lay, axis)
        target = out if axis == last else scratch(f"stage{axis}", shape, out.dtype)
        made = _reduce(made, lay, axis, combine, start, target)


def _by_images(images: int, image_bytes: int, elements: int, work: Callable[[slice], None]) -> None:
    blocks = blocks_of(images, 1, _ARRAYS * image_bytes)

    def part(number: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            work(slice(block.first, block.last))

    run_blocks(part, len(blocks), elements)


def max_pool(x: Array, lay: Windows, out: Array | None = None) -> Array:
    """The largest element of each window; NaN only where it has nothing else."""
    shape = (x.shape[0], *lay.outputs, x.shape[-1])
    result = np.empty(shape, x.dtype) if out is None else out
    if 0 in shape:
        return result
    neutral = _neutral(x.dtype)

    def work(images: slice) -> None:
        _stages(x[images], lay, np.fmax, neutral, result[images])

    _by_images(x.shape[0], x[0].nbytes, x.size * sum(lay.sizes), work)
    return result


def _first_largest(x: Array, largest: Array, lay: Windows, axes: Sequence[int]) -> Iterator[tuple[Slices, Slices, Array]]:
    """For each offset in a window, in scan order: which windows have it, where it is, and whether it is the first largest.

    The latter is valid until the next offset. `axes`: the dimensions of space that windows extend in; in the others x and
    `largest` are alike.
    """
    free = scratch("free", largest.shape, np.bool_)  # windows whose largest element was not seen yet
    free[...] = True
    for outputs, inside in _offsets(lay, axes):
        below = largest[outputs]
        mask = np.equal(x[inside], below, out=scratch("mask", below.shape, np.bool_))
        left = free[outputs]
        np.logical_and(mask, left, mask)
        np.logical_xor(left, mask, left)
        yield outputs, inside, mask


def _merged(slices: Sequence[Slices]) -> Slices:
    """Slices of one dimension each, after whole ones (`_reaches`), as one index."""
    index = list(slices[-1])
    for one in slices[:-1]:
        index[len(one) - 1] = one[-1]
    return tuple(index)


def _integers(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(f"i{dtype.itemsize}")


def max_pool_gradient(x: Array, y: Array, grad: Array, lay: Windows, out: Array | None = None) -> Array:
    """grad, for each window, at its first largest element; added up where windows overlap."""
    result = np.empty(x.shape, grad.dtype) if out is None else out
    if 0 in y.shape or 0 in x.shape:
        result[...] = 0
        return result
    neutral, rank, whole = _neutral(x.dtype), len(lay.inputs), _sooner_whole(lay)

    def work(images: slice) -> None:
        if whole:
            _place(x[images], y[images], grad[images], result[images], lay, range(rank))
            return
        # Of equal elements, the first in scan order is the first of its row in the first such row.
        stages, above = _row_maxima(x[images], y[images], lay, neutral), grad[images]
        for axis in range(rank):
            source, largest = stages[rank - 1 - axis], stages[rank - axis]
            target = result[images] if axis == rank - 1 else scratch(f"back{axis}", source.shape, grad.dtype)
            _place(source, largest, above, target, lay, (axis,))
            above = target

    _by_images(x.shape[0], x[0].nbytes + 2 * y[0].nbytes, x.size * 2 * sum(lay.sizes), work)
    return result


def _sooner_whole(lay: Windows) -> bool:
    """Whether the offsets of whole windows take less than those of each dimension, as for 3x3 windows two elements apart.

    Of whole windows, each offset is one pass over them. Of a dimension it is half a pass more, for the maxima, and over as
    many times more as the dimensions before have elements between windows.
    """
    passes, apart = 0, 1
    for size, stride in zip(lay.sizes, lay.strides, strict=True):
        passes += size * apart
        apart *= stride
    return 2 * math.prod(lay.sizes) < 3 * passes


def _row_maxima(x: Array, y: Array, lay: Windows, neutral: Any) -> list[Array]:
    """x, the maxima after each dimension but the first, the last dimension being the first to go, and y."""
    made = [x]
    for axis in reversed(range(1, len(lay.inputs))):
        shape = _staged(made[-1].shape, lay, axis)
        made.append(_reduce(made[-1], lay, axis, np.fmax, neutral, scratch(f"stage{axis}", shape, x.dtype)))
    return [*made, y]


def _place(x: Array, largest: Array, grad: Array, target: Array, lay: Windows, axes: Sequence[int]) -> None:
    """grad goes to the first largest element along these dimensions.

    What is left of it is handed on from offset to offset: as bits, so that nothing is computed with it. Where windows share
    the elements out among them, the last offset takes what is left.
    """
    integers, overlap, covers = _integers(grad.dtype), lay.overlap(axes), lay.covers(axes)
    left = scratch("left", grad.shape, integers)
    left[...] = grad.view(integers)
    if not covers:
        target[...] = 0
    reaches = list(_offsets(lay, axes))
    for number, (outputs, inside) in enumerate(reaches, 1):
        rest, there = left[outputs], target[inside]
        if covers and number == len(reaches):
            there[...] = rest.view(grad.dtype)
            return
        mask = np.equal(x[inside], largest[outputs], out=scratch("mask", rest.shape, np.bool_))
        bits = scratch("bits", rest.shape, integers)
        bits[...] = mask
        np.multiply(rest, bits, bits)
        np.bitwise_xor(rest, bits, rest)
        given = bits.view(grad.dtype)
        if overlap:
            np.add(there, given, there)
        else:
            there[...] = given


def _offsets(lay: Windows, axes: Sequence[int]) -> Iterator[tuple[Slices, Slices]]:
    """For each offset in a window of these dimensions, in scan order: which windows have it, and where it is."""
    for reaches in itertools.product(*(list(_reaches(lay, axis)) for axis in axes)):
        yield _merged([outputs for outputs, _ in reaches]), _merged([inside for _, inside in reaches])


def max_pool_gradient_of_equals(x: Array, y: Array, grad: Array, lay: Windows, out: Array | None = None) -> Array:
    """grad, for each window, at every element that is as large as its largest; added up where windows overlap."""
    result = np.empty(x.shape, grad.dtype) if out is None else out
    result[...] = 0
    is_disjoint = all(size <= stride for size, stride in zip(lay.sizes, lay.strides, strict=True))
    for outputs, inside in _offsets(lay, range(len(lay.inputs))):
        where = x[inside] == y[outputs]
        if is_disjoint:  # which keeps the sign of zeros, as plans that exchange this with masks rely on
            np.copyto(result[inside], grad[outputs], where=where)
        else:
            np.add(result[inside], grad[outputs], out=result[inside], where=where)
    return result


def pick_at_largest(x: Array, y: Array, values: Array, lay: Windows) -> Array:
    """Of `values`, shaped like x, those at each window's first largest element: [batch, *windows, depth]."""
    result = np.zeros(y.shape, values.dtype)
    if 0 in y.shape or 0 in x.shape:
        return result
    integers = _integers(values.dtype)
    picked, below = result.view(integers), values.view(integers)
    for outputs, inside, mask in _first_largest(x, y, lay, range(len(lay.inputs))):
        there = picked[outputs]
        np.bitwise_or(there, below[inside] * mask, there)
    return result


def keep_first_nan(x: Array, y: Array, places: Array, lay: Windows, with_batch: bool) -> None:
    """Makes a window's first element, where that is NaN, its largest one in `y` and `places` (of `arg_largest`)."""
    rows, columns = (
        np.maximum(np.arange(count) * stride - before, 0)
        for count, stride, before in zip(lay.outputs, lay.strides, lay.before, strict=True)
    )
    first = x[:, rows[:, None], columns]
    found = np.nonzero(np.isnan(first))
    y[found] = first[found]
    at = (found[0] if with_batch else np.zeros_like(found[0]), rows[found[1]], columns[found[2]], found[3])
    places[found] = np.ravel_multi_index(at, x.shape)


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

    def work(images: slice) -> None:
        target = result[images]
        sums = target if target.dtype == dtype else scratch("sums", target.shape, dtype)
        _stages(x[images].astype(dtype, copy=False), lay, np.add, 0, sums)
        _mean(sums, counts, sums)
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
    covers = lay.covers()

    def work(images: slice) -> None:
        above = _mean(grad[images], counts, scratch("shares", grad[images].shape, dtype))
        for axis in reversed(range(len(lay.inputs))):
            below = (*above.shape[: axis + 1], lay.inputs[axis], *above.shape[axis + 2 :])
            target = result[images] if axis == 0 and result.dtype == dtype else scratch(f"back{axis}", below, dtype)
            if not covers:
                target[...] = 0
            for outputs, inside in _reaches(lay, axis):
                there = target[inside]
                if covers:
                    there[...] = above[outputs]
                else:
                    np.add(there, above[outputs], there)
            above = target
        if result.dtype != dtype:
            result[images] = above

    _by_images(grad.shape[0], result[0].nbytes, result.size * sum(lay.sizes), work)
    return result


def _mean(sums: Array, counts: Array, out: Array) -> Array:
    """sums / counts. Multiplying is quicker, and by a power of two the same."""
    is_exact = counts.ndim == 0 and float(counts).is_integer() and int(counts) & (int(counts) - 1) == 0
    return np.multiply(sums, 1 / counts, out) if is_exact else np.divide(sums, counts, out)
