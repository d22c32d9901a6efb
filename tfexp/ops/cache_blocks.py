"""Element-wise kernels of several passes, piece by piece: what one pass leaves is still in cache for the next."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

Kernel = Callable[..., np.ndarray]

_ELEMENTS = 1 << 15  # of a piece: some arrays of them fit in a core's second-level cache


def in_pieces(kernel: Kernel) -> Kernel:
    """`kernel(*arrays, out=None)`, of which entries with different first indices do not depend on each other.

    Arrays that have the result's first dimension are cut along it; others are broadcast along it, and stay whole.
    """

    @functools.wraps(kernel)
    def run(*arrays: Any, out: np.ndarray | None = None) -> np.ndarray:
        if out is None or out.size <= 2 * _ELEMENTS or out.ndim == 0:
            return kernel(*arrays, out=out)
        rows = out.shape[0]
        step = max(1, _ELEMENTS * rows // out.size)
        is_cut = [a.ndim == out.ndim and a.shape[0] == rows for a in arrays]
        for start in range(0, rows, step):
            piece = slice(start, start + step)
            kernel(*[a[piece] if cut else a for a, cut in zip(arrays, is_cut, strict=True)], out=out[piece])
        return out

    return run
