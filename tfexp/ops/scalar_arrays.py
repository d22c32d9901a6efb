"""0-d arrays of small numbers. As an operand of a ufunc, a Python number costs twice as much as one of these."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


@functools.lru_cache(maxsize=1024)
def scalar_array(value: Any, dtype: Any) -> np.ndarray:
    """`value` as a read-only 0-d array of a NumPy dtype."""
    array = np.asarray(value, dtype=dtype)
    array.flags.writeable = False
    return array
