"""From values to places on an axis, and which values its ticks are at."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["TRIED", "Scale", "digits", "natural", "spans_decades"]

TRIED = 10.0
"""From which ratio on a setting's values count as spread over decades: who tries some of these multiplies."""


@dataclass(frozen=True)
class Scale:
    """An axis from the value `low` at place `start` to `high` at `end`, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float, log: bool = False, room: float = 0.0) -> Scale:
        """Over all of the values, with `room`, a part of their span, free at both ends."""
        low, high = min(values), max(values)
        if low == high:
            low, high = (low / 2, high * 2) if log else (low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2)
        if log:
            by = (high / low) ** room
            return cls(low / by, high * by, start, end, True)
        by = (high - low) * room
        return cls(low - by, high + by, start, end)

    def place(self, value: float) -> float:
        low, high = self.low, self.high
        part = math.log(value / low) / math.log(high / low) if self.log else (value - low) / (high - low)
        return self.start + part * (self.end - self.start)

    def ticks(self, count: int = 5) -> list[float]:
        """About `count` round values on the axis."""
        if self.log:
            found = self._powers()
            if len(found) >= 2:
                return found[:: math.ceil(len(found) / (count + 1))]
        span = self.high - self.low
        step = 10.0 ** math.floor(math.log10(span / count))
        step *= min((factor for factor in (1, 2, 5, 10) if span / (step * factor) <= count), default=10)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [float(f"{at * step:.12g}") for at in range(first, last + 1)]

    def _powers(self) -> list[float]:
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        factors = (1,) if last - first > 3 else (1, 2, 5)
        marks = [factor * 10.0**power for power in range(first, last + 1) for factor in factors]
        return [mark for mark in marks if self.low <= mark <= self.high]


def spans_decades(values: Sequence[float], ratio: float = 30.0) -> bool:
    """Whether the values, of which the largest is `ratio` times the least, are better seen on a logarithmic axis."""
    return bool(values) and min(values) > 0 and max(values) / min(values) > ratio * (1 - 1e-9)


def digits(value: float) -> str:
    """A tick's label."""
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, _, power = f"{value:.3g}".partition("e")
        return f"{mantissa}e{int(power)}" if power else mantissa
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def natural(text: str) -> list[tuple[float, str]]:
    """The order of people: [16] before [16,32], and that before [128,32]."""
    parts = re.split(r"(\d+)", text.strip("[]"))
    return [(float(part), "") if part.isdecimal() else (math.inf, part) for part in parts if part]
