"""Resizing along one axis at a time: which elements make each new one, with which weights, and how gradients flow back.

Images are [batch, height, width, channels]. Places are computed in float32, as TensorFlow's kernels do, because a place
that is a rounding error away may be another pixel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfexp.ops.image_blocks import blocks_of, run_blocks

Array = np.ndarray
_ARRAYS = 4  # of the result's size, that a block goes through
_TABLE = 1024  # steps between two pixels for which bicubic weights are known


@dataclass(frozen=True)
class Taps:
    """For each new element (axis 0): the old ones that it is made of (axis 1, not falling along axis 0), weighted."""

    index: Array  # intp [new, taps]
    weight: Array  # float32 [new, taps]


def scale(old: int, new: int, align_corners: bool) -> np.float32:
    """How far apart the places of two neighbours of the new elements are among the old."""
    if align_corners and new > 1:
        return np.float32(old - 1) / np.float32(new - 1)
    return np.float32(old) / np.float32(new)


def places(old: int, new: int, align_corners: bool, half_pixel: bool) -> Array:
    """Where the new elements lie among the old, float32."""
    step = scale(old, new, align_corners)
    numbers = np.arange(new, dtype=np.float32)
    if half_pixel:
        return (numbers + np.float32(0.5)) * step - np.float32(0.5)
    return numbers * step


def nearest(old: int, new: int, align_corners: bool, half_pixel: bool) -> Array:
    """The number of the old element that each new one repeats."""
    step = scale(old, new, align_corners)
    at = np.arange(new, dtype=np.float32)
    at = (at + np.float32(0.5)) * step if half_pixel else at * step
    # Halves go away from zero where corners are aligned.
    chosen = np.floor(at + np.float32(0.5)) if align_corners else np.floor(at)
    return np.clip(chosen.astype(np.intp), 0, old - 1)


def linear(old: int, new: int, align_corners: bool, half_pixel: bool) -> Taps:
    at = places(old, new, align_corners, half_pixel)
    below = np.floor(at)
    share = at - below
    index = np.stack([np.maximum(below, 0), np.minimum(np.ceil(at), old - 1)], 1).astype(np.intp)
    return Taps(np.clip(index, 0, old - 1), np.stack([np.float32(1) - share, share], 1))


def _cubic_table(a: float) -> Array:
    """Weights of the inner and the outer neighbour at each step of distance, [steps, 2]."""
    x = np.arange(_TABLE + 1, dtype=np.float32) / np.float32(_TABLE)
    a32 = np.float32(a)
    inner = ((a32 + 2) * x - (a32 + 3)) * x * x + 1
    y = x + np.float32(1)
    outer = ((a32 * y - 5 * a32) * y + 8 * a32) * y - 4 * a32
    return np.stack([inner, outer], 1).astype(np.float32)


def cubic(old: int, new: int, align_corners: bool, half_pixel: bool) -> Taps:
    """Four neighbours each; with half pixels Keys' kernel (A = -0.5), and neighbours outside of the image count nothing."""
    at = places(old, new, align_corners, half_pixel)
    below = np.floor(at)
    step = np.rint((at - below) * np.float32(_TABLE)).astype(np.intp)
    table = _cubic_table(-0.5 if half_pixel else -0.75)
    weight = np.stack([table[step, 1], table[step, 0], table[_TABLE - step, 0], table[_TABLE - step, 1]], 1)
    wanted = below.astype(np.intp)[:, None] + np.arange(-1, 3)
    index = np.clip(wanted, 0, old - 1)
    if half_pixel:
        weight = np.where(index == wanted, weight, np.float32(0))
        total = weight.sum(1, keepdims=True)
        weight = np.divide(weight, total, out=weight, where=np.abs(total) >= 1000 * np.finfo(np.float32).tiny)
    return Taps(index, weight)


def area(old: int, new: int, align_corners: bool) -> Taps:
    """As much of each old element as lies under the new one."""
    step = scale(old, new, align_corners)
    start = np.arange(new, dtype=np.float32) * step
    end = np.arange(1, new + 1, dtype=np.float32) * step
    first = np.floor(start).astype(np.intp)
    count = int((np.ceil(end).astype(np.intp) - first).max())
    wanted = first[:, None] + np.arange(count)
    covered = np.minimum(wanted + 1, end[:, None]) - np.maximum(wanted, start[:, None])
    weight = np.maximum(covered, 0).astype(np.float32) / step
    return Taps(np.clip(wanted, 0, old - 1), weight.astype(np.float32))


def _along(weight: Array, axis: int, rank: int) -> Array:
    return weight.reshape([-1 if i == axis else 1 for i in range(rank)])


def _lerp(x: Array, axis: int, taps: Taps, out: Array | None = None) -> Array:
    """The values between two neighbours, from the lower one on: the order of TensorFlow's arithmetic."""
    low, high = (np.take(x, taps.index[:, i], axis) for i in range(2))
    high -= low
    high *= _along(taps.weight[:, 1].astype(x.dtype), axis, x.ndim)
    return np.add(high, low, out)


def bilinear(x: Array, rows: Taps, columns: Taps) -> Array:
    """Between four neighbours, by blocks of images or of their new rows."""
    batch, _, _, channels = x.shape
    height, width = len(rows.index), len(columns.index)
    result = np.empty((batch, height, width, channels), x.dtype)
    blocks = blocks_of(batch, height, _ARRAYS * width * channels * x.itemsize)

    def work(part: int, start: int, stop: int) -> None:
        for block in blocks[start:stop]:
            images, here = slice(block.first, block.last), slice(block.top, block.bottom)
            top, bottom = rows.index[block.top, 0], rows.index[block.bottom - 1, 1] + 1
            between = _lerp(x[images, top:bottom], 2, columns)
            _lerp(between, 1, Taps(rows.index[here] - top, rows.weight[here]), result[images, here])

    run_blocks(work, len(blocks), _ARRAYS * result.size)
    return result


def gather(x: Array, axis: int, taps: Taps) -> Array:
    """The weighted sums along an axis, one tap after the other."""
    result = None
    for i in range(taps.index.shape[1]):
        part = np.take(x, taps.index[:, i], axis)
        part *= _along(taps.weight[:, i].astype(x.dtype), axis, x.ndim)
        result = part if result is None else np.add(result, part, out=result)
    assert result is not None
    return result


def spread(grad: Array, axis: int, taps: Taps, old: int) -> Array:
    """What `gather` does, transposed: gradients of the new elements become those of the `old` many."""
    shape = (*grad.shape[:axis], old, *grad.shape[axis + 1 :])
    result = np.zeros(shape, grad.dtype)
    for i in range(taps.index.shape[1]):
        add_sorted(result, grad * _along(taps.weight[:, i].astype(grad.dtype), axis, grad.ndim), axis, taps.index[:, i])
    return result


def add_sorted(target: Array, values: Array, axis: int, index: Array) -> None:
    """Add the slices of `values` along an axis to those of `target` that `index`, which does not fall, names."""
    if not len(index):
        return
    starts = np.flatnonzero(np.r_[True, index[1:] != index[:-1]])
    places = (slice(None),) * axis + (index[starts],)
    target[places] += np.add.reduceat(values, starts, axis)
