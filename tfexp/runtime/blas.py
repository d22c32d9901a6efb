"""The BLAS that NumPy computes with, asked for what NumPy has no function for: adding a product to an array in place.

Its functions are looked up by name among what NumPy's extension module was linked with, so that there is one library with
one set of threads (two, SciPy's and NumPy's, take a hundred times as long, waiting for each other). Where none of the names
is known (Windows, other builds), there is nothing to call, and NumPy does it all.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.plan.accumulate import AddProduct

Gemm = Callable[..., None]

# CBLAS's function of a letter for the type, and the type of its sizes: NumPy's own wheels first.
_NAMES = (("scipy_cblas_{}gemm64_", ctypes.c_int64), ("cblas_{}gemm64_", ctypes.c_int64), ("cblas_{}gemm", ctypes.c_int))
_LETTERS: dict[Any, tuple[str, Any]] = {
    np.dtype(np.float32): ("s", ctypes.c_float),
    np.dtype(np.float64): ("d", ctypes.c_double),
}
_ROWS_FIRST, _AS_IT_IS, _TRANSPOSED = 101, 111, 112


def product_adder() -> AddProduct | None:
    """`add_product`, if BLAS's functions are there to be called."""
    return add_product if all(_gemm(dtype) is not None for dtype in _LETTERS) else None


def add_product(target: np.ndarray, scale: float, left: np.ndarray, right: np.ndarray) -> None:
    """`target += scale * left @ right`, for matrices of float32 or float64, in place and rounded as BLAS does."""
    gemm = _gemm(target.dtype)
    # BLAS does not look at a product that is multiplied by 0, which may have NaN in it.
    if gemm is None or scale == 0 or not target.flags.c_contiguous or not target.flags.aligned:
        target += target.dtype.type(scale) * np.matmul(left, right)
        return
    left, order_of_left, row_of_left = _laid_out(left)
    right, order_of_right, row_of_right = _laid_out(right)
    (rows, columns), inner = target.shape, left.shape[1]
    gemm(
        _ROWS_FIRST,
        order_of_left,
        order_of_right,
        rows,
        columns,
        inner,
        scale,
        left.ctypes.data,
        row_of_left,
        right.ctypes.data,
        row_of_right,
        1.0,
        target.ctypes.data,
        max(1, columns),
    )


def _laid_out(matrix: np.ndarray) -> tuple[np.ndarray, int, int]:
    """The matrix, or a copy; whether it lies there transposed; and how many elements it is from row to row (or column)."""
    size = matrix.itemsize
    for order, (along, across), length in (
        (_AS_IT_IS, matrix.strides, matrix.shape[1]),
        (_TRANSPOSED, matrix.strides[::-1], matrix.shape[0]),
    ):
        if across == size and along % size == 0 and along >= length * size > 0 and matrix.flags.aligned:
            return matrix, order, along // size
    return np.array(matrix, order="C"), _AS_IT_IS, max(1, matrix.shape[1])


@functools.cache
def _gemm(dtype: np.dtype[Any]) -> Gemm | None:
    letter, scalar = _LETTERS[dtype]
    library = _linked()
    for name, integer in _NAMES:
        function = getattr(library, name.format(letter), None)
        if function is not None:
            flag, pointer = ctypes.c_int, ctypes.c_void_p
            function.argtypes = [
                *(flag, flag, flag, integer, integer, integer, scalar, pointer, integer, pointer, integer),
                *(scalar, pointer, integer),
            ]
            function.restype = None
            return function
    return None


def _linked() -> ctypes.CDLL | None:
    """NumPy's extension module, through which the functions of its libraries are found where the system loads them so."""
    try:
        return ctypes.CDLL(importlib.import_module("numpy._core._multiarray_umath").__file__)
    except (ImportError, OSError):
        return None
