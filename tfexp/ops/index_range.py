"""Whether indices are where they may be: one pass over them, since tables are looked up and updated in every step."""

from __future__ import annotations

from typing import Any

import numpy as np

# Unsigned types by their bytes, and what no index reaches that is not negative.
_UNSIGNED = {size: (np.dtype(f"u{size}"), 1 << 8 * size - 1) for size in (1, 2, 4, 8)}


def are_within(indices: np.ndarray[Any, Any], limit: int) -> bool:
    """Whether all of these signed integers are in [0, limit)."""
    if not indices.size:
        return True
    # As unsigned numbers, negative ones are large; and to find the largest one's place takes less than its value.
    unsigned, negative = _UNSIGNED[indices.itemsize]
    numbers = indices.view(unsigned)
    largest: int = numbers.item(numbers.argmax())
    return largest < min(limit, negative)
