"""Where values belong in sorted rows, for all rows at once."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, Any]


def places_in_rows(rows: Array, values: Array, side: Literal["left", "right"]) -> Array:
    """The place of each value [n, m] in its sorted row [n, k]: before ("left") or after ("right") its equals, int64 [n, m].

    A binary search: one step halves what is left of every value's range. NaN is like any number that nothing is less than.
    """
    # NumPy, which takes one row at a time, holds NaN for the largest number.
    if len(rows) == 1 and (values.dtype.kind in "iuO" or not (_has_nan(rows) or _has_nan(values))):
        return np.searchsorted(rows[0], values, side)
    low = np.zeros(values.shape, np.int64)
    high = np.full(values.shape, rows.shape[1], np.int64)
    for _ in range(rows.shape[1].bit_length()):
        open_ = low < high
        middle = (low + high) // 2
        found = np.take_along_axis(rows, np.minimum(middle, rows.shape[1] - 1), axis=1)
        before = (found < values if side == "left" else ~(values < found)) & open_
        low = np.where(before, middle + 1, low)
        high = np.where(open_ & ~before, middle, high)
    return low


def _has_nan(values: Array) -> bool:
    return bool(np.any(values != values))  # noqa: PLR0124 -- of any dtype, bfloat16 too
