"""Products of float32 matrices on oneDNN's primitives: the result's longer side is shared out to the intra-op threads."""

from __future__ import annotations

import functools

import numpy as np

from tfexp.core.workers import share, threads
from tfexp.runtime.onednn.library import Arg, Layout, Primitive


class Product:
    """`f(a, b, out)`: a @ b for matrices of these shapes, transposed before where it says so."""

    def __init__(self, rows: int, inner: int, columns: int, transpose_a: bool, transpose_b: bool):
        self._dims = rows, inner, columns
        self._transposed = transpose_a, transpose_b
        self._by_rows = rows >= columns
        self._longer = max(rows, columns)
        self._of = functools.lru_cache(maxsize=8)(self._primitive)
        self._of(-(-self._longer // threads()))

    def _primitive(self, count: int) -> Primitive:
        """For that many rows, or columns, of the result."""
        rows, inner, columns = self._dims
        a_strides = (1, rows) if self._transposed[0] else (inner, 1)
        b_strides = (1, inner) if self._transposed[1] else (columns, 1)
        m, n = (count, columns) if self._by_rows else (rows, count)
        a, b, y = Layout((m, inner), a_strides), Layout((inner, n), b_strides), Layout((m, n), (columns, 1))
        return Primitive("dnnl_matmul_primitive_desc_create", a, b, None, y)

    def __call__(self, a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        left, right = (a.T if self._transposed[0] else a), (b.T if self._transposed[1] else b)

        def work(part: int, start: int, stop: int) -> None:
            mine = slice(start, stop)
            pieces = (left[mine], right, out[mine]) if self._by_rows else (left, right[:, mine], out[:, mine])
            self._of(stop - start).run(dict(zip((Arg.SRC, Arg.WEIGHTS, Arg.DST), pieces, strict=True)))

        share(work, self._longer)
