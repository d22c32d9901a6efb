"""Loops of batch normalisation over a block of rows, for Numba to compile: `Passes` of the ops' kernels, one loop each.

Arithmetic is in the order of NumPy's passes; columns are added up from the first row to the last.
"""

from __future__ import annotations

from typing import Any


def moments(rows: Any, mean: Any, rest: Any, squares: Any) -> None:
    for z in range(rows.shape[1]):
        mean[z] = 0
        rest[z] = 0
        squares[z] = 0
    for i in range(rows.shape[0]):
        for z in range(rows.shape[1]):
            mean[z] += rows[i, z]
    for z in range(rows.shape[1]):
        mean[z] /= rows.shape[0]
    for i in range(rows.shape[0]):
        for z in range(rows.shape[1]):
            distance = rows[i, z] - mean[z]
            rest[z] += distance
            squares[z] += distance * distance


def sums(grads: Any, rows: Any, centre: Any, for_offset: Any, for_scale: Any) -> None:
    for i in range(rows.shape[0]):
        for z in range(rows.shape[1]):
            for_offset[z] += grads[i, z]
            for_scale[z] += grads[i, z] * (rows[i, z] - centre[z])


def normalise(rows: Any, centre: Any, slope: Any, shift: Any, out: Any) -> None:
    for i in range(rows.shape[0]):
        for z in range(rows.shape[1]):
            out[i, z] = (rows[i, z] - centre[z]) * slope[z] + shift[z]


def gradient(grads: Any, rows: Any, centre: Any, slope: Any, level: Any, factor: Any, out: Any) -> None:
    for i in range(rows.shape[0]):
        for z in range(rows.shape[1]):
            out[i, z] = ((rows[i, z] - centre[z]) * slope[z] + grads[i, z] - level[z]) * factor[z]
