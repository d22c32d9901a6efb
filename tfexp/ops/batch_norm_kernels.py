"""Batch normalisation and its gradient over rows of channels, in blocks that stay in a core's cache.

A row may hold the channels several times, one copy after the other (`copies_of`): of short rows, NumPy's loops take as long
to begin as to run. Vectors have one element for each channel. What is done to a block is a `Passes`, NumPy's or another's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tfexp.core.workers import scratch, threads
from tfexp.ops.array import Array
from tfexp.ops.image_blocks import run_blocks

_LONG = 1 << 11  # elements of a row
_BLOCK = 1 << 16  # elements: what a core's cache holds several of


@dataclass(frozen=True)
class Passes:
    """What is done to a block of rows; what is computed goes into the last arguments.

    `moments(rows, mean, rest, squares)`: each column's mean as far as a float has it, and the sums of distances from it and
    of their squares.
    `sums(grads, rows, centre, for_offset, for_scale)`: adds each column's sums of grads and of grads * (rows - centre).
    `normalise(rows, centre, slope, shift, out)`: (rows - centre) * slope + shift.
    `gradient(grads, rows, centre, slope, level, factor, out)`: ((rows - centre) * slope + grads - level) * factor.
    """

    moments: Callable[[Array, Array, Array, Array], None]
    sums: Callable[[Array, Array, Array, Array, Array], None]
    normalise: Callable[[Array, Array, Array, Array, Array], None]
    gradient: Callable[[Array, Array, Array, Array, Array, Array, Array], None]


def copies_of(count: int, channels: int) -> int:
    """How many times a long row may hold the channels, of which there are `count` rows: with nothing left over."""
    most = min(count, max(_LONG // max(channels, 1), 1))
    return next((n for n in range(most, 0, -1) if count % n == 0), 1)


# --- the passes -------------------------------------------------------------------------------------------------------


def moments(rows: Array, copies: int, passes: Passes) -> tuple[Array, Array]:
    """The mean and the biased variance of each channel, in one pass over memory.

    Each block has its own means, from which those of all blocks tell how far it is off (Chan, Golub, LeVeque 1979). Far from
    zero a mean is a rounded one: with x = m + d, sum of (x - a)^2 is that of d^2 + (m - a) (2 d + (m - a)) for any a.
    """
    count, width = rows.shape
    step = _rows_of_block(width)
    sizes = np.diff(np.append(np.arange(0, count, step), count)).astype(rows.dtype)
    means, rests, squares = (np.empty((len(sizes), width), rows.dtype) for _ in range(3))

    def work(part: int, at: slice) -> None:
        block = at.start // step
        passes.moments(rows[at], means[block], rests[block], squares[block])

    _in_blocks(rows, work)
    whole = np.asarray(count * copies, rows.dtype)
    sizes = sizes.repeat(copies)[:, None]
    means, rests, squares = (a.reshape(len(sizes), width // copies) for a in (means, rests, squares))
    average = (means * sizes).sum(0) / whole
    off = means - average
    missing = (off * sizes + rests).sum(0) / whole
    spread = (squares + off * (2 * rests + off * sizes)).sum(0) / whole - np.square(missing)
    return average + missing, np.maximum(spread, 0)  # what is left of nothing may have either sign


def normalised(rows: Array, centre: Array, slope: Array, shift: Array, copies: int, passes: Passes) -> Array:
    """(rows - centre) * slope + shift"""
    centre, slope, shift = (np.tile(vector, copies) for vector in (centre, slope, shift))
    result = np.empty_like(rows)
    _in_blocks(rows, lambda part, at: passes.normalise(rows[at], centre, slope, shift, result[at]))
    return result


def gradient_sums(grads: Array, rows: Array, centre: Array, copies: int, passes: Passes) -> tuple[Array, Array]:
    """The sums of grads and of grads * (rows - centre) for each channel."""
    centre = np.tile(centre, copies)
    totals = np.zeros((threads(), 2, rows.shape[1]), rows.dtype)
    _in_blocks(rows, lambda part, at: passes.sums(grads[at], rows[at], centre, totals[part, 0], totals[part, 1]))
    first, second = np.add.reduce(totals, 0).reshape(2, copies, -1).sum(1)
    return first, second


def input_gradient(
    grads: Array, rows: Array, centre: Array, slope: Array, level: Array, factor: Array, copies: int, passes: Passes
) -> Array:
    """((rows - centre) * slope + grads - level) * factor"""
    centre, slope, level, factor = (np.tile(vector, copies) for vector in (centre, slope, level, factor))
    result = np.empty_like(rows)
    _in_blocks(rows, lambda part, at: passes.gradient(grads[at], rows[at], centre, slope, level, factor, result[at]))
    return result


def _rows_of_block(width: int) -> int:
    return max(1, _BLOCK // max(width, 1))


def _in_blocks(rows: Array, work: Callable[[int, slice], None]) -> None:
    """`work(part, rows)` for blocks of rows, shared out to the threads."""
    count, width = rows.shape
    step = _rows_of_block(width)
    blocks = -(-count // step)

    def part_of(part: int, start: int, stop: int) -> None:
        for block in range(start, stop):
            work(part, slice(block * step, min((block + 1) * step, count)))

    run_blocks(part_of, blocks, rows.size * 8)


# --- by NumPy ---------------------------------------------------------------------------------------------------------


def _column_sums(rows: Array) -> Array:
    """By BLAS."""
    return np.dot(np.ones(len(rows), rows.dtype), rows)


def _centred(rows: Array, centre: Array) -> Array:
    """rows - centre; valid until the next call."""
    return np.subtract(rows, centre, scratch("centred", rows.shape, rows.dtype))


def _moments(rows: Array, mean: Array, rest: Array, squares: Array) -> None:
    np.divide(_column_sums(rows), len(rows), mean)
    centred = _centred(rows, mean)
    rest[...] = _column_sums(centred)
    squares[...] = _column_sums(np.square(centred, centred))


def _gradient_sums(grads: Array, rows: Array, centre: Array, for_offset: Array, for_scale: Array) -> None:
    for_offset += _column_sums(grads)
    centred = _centred(rows, centre)
    for_scale += _column_sums(np.multiply(grads, centred, centred))


def _normalise(rows: Array, centre: Array, slope: Array, shift: Array, out: Array) -> None:
    np.subtract(rows, centre, out)
    np.multiply(out, slope, out)
    np.add(out, shift, out)


def _input_gradient(grads: Array, rows: Array, centre: Array, slope: Array, level: Array, factor: Array, out: Array) -> None:
    np.subtract(rows, centre, out)
    np.multiply(out, slope, out)
    np.add(out, grads, out)
    np.subtract(out, level, out)
    np.multiply(out, factor, out)


NUMPY = Passes(_moments, _gradient_sums, _normalise, _input_gradient)
