"""0-d arrays of small numbers. As an operand of a ufunc, a Python number costs twice as much as one of these."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


def scalar_array(value: Any, dtype: Any) -> np.ndarray:
    """`value` as a read-only 0-d array of a NumPy dtype."""
    # Zeros of both signs are equal, so that a cache takes them for the same.
    return _kept(value, dtype) if value else _made(value, dtype)


def _made(value: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(value, dtype=dtype)
    array.flags.writeable = False
    return array


_kept = functools.lru_cache(maxsize=1024)(_made)
