"""Asynchronous successive halving: whether a trial that comes to a rung goes on."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["goes_on"]


def goes_on(value: float, others: Iterable[float], factor: int, minimizes: bool) -> bool:
    """Whether `value` is among the best 1/factor of all that have come to this rung so far: these `others` and itself.

    While there are fewer than `factor`, only the best so far goes on. Nobody waits for anybody.
    """
    sign, known = 1 if minimizes else -1, list(others)
    better = sum(sign * other < sign * value for other in known)
    return better < max(1, (len(known) + 1) // factor)
