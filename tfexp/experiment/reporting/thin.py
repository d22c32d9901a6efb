"""Fewer points of a curve, without hiding what it did."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

__all__ = ["thin"]


def thin(values: Sequence[float], most: int) -> list[int]:
    """The places of at most `most` (at least 4) of the values, rising: the first, the last, and of each stretch between them
    the least and the greatest. No value is made up, and no peak is lost that is a stretch's highest.
    """
    count = len(values)
    if count <= most:
        return list(range(count))
    stretches = (most - 2) // 2
    cuts = [1 + round(at * (count - 2) / stretches) for at in range(stretches + 1)]
    kept = {0, count - 1}
    for begin, end in itertools.pairwise(cuts):
        kept.add(min(range(begin, end), key=values.__getitem__))
        kept.add(max(range(begin, end), key=values.__getitem__))
    return sorted(kept)
