"""Rows that cannot be read and that `ignore_errors` passes over: counted, and the first ones named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["NONE", "Skipped", "Tally"]

_NAMED = 5


@dataclass(frozen=True)
class Skipped:
    """`rows` were passed over; `first` says of the first few which they are, and why."""

    rows: int = 0
    first: tuple[str, ...] = ()

    def __add__(self, other: Skipped) -> Skipped:
        return Skipped(self.rows + other.rows, (*self.first, *other.first)[:_NAMED])

    def plain(self) -> dict[str, Any]:
        """In JSON's types."""
        return {"rows": self.rows, "first": list(self.first)}


NONE = Skipped()


class Tally:
    """Counts while something is read."""

    def __init__(self) -> None:
        self.skipped = NONE

    def add(self, problem: str, rows: int = 1) -> None:
        """`rows` are passed over, for one reason."""
        self.skipped += Skipped(rows, (problem,))
