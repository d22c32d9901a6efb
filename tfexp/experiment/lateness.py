"""How late the gradients of each copy of a model were, as a run records it (`train.staleness` measures it)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.history import Record
from tfexp.train.staleness import LONGEST, StaleGradients

__all__ = ["Lateness", "noting", "of_result"]


@dataclass(frozen=True)
class Lateness:
    """Of one copy's gradients: `counts[s]` of them were s updates late (the last of LONGEST + 1: or later), `sum` in all."""

    counts: tuple[int, ...] = (0,) * (LONGEST + 1)
    sum: int = 0

    @classmethod
    def of_row(cls, row: np.ndarray) -> Lateness:
        """Of a row of `StaleGradients.tally`."""
        return cls(tuple(row[:-1].tolist()), int(row[-1]))

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Lateness:
        counts = tuple(plain["counts"])
        return cls(counts + (0,) * (LONGEST + 1 - len(counts)), plain["sum"])

    def plain(self) -> dict[str, Any]:
        """{"sum", "counts" up to the last that is not 0}"""
        return {"sum": self.sum, "counts": list(self.counts[: self.most + 1])}

    def __add__(self, other: Lateness) -> Lateness:
        return Lateness(tuple(map(int.__add__, self.counts, other.counts)), self.sum + other.sum)

    @property
    def mean(self) -> float:
        return self.sum / max(sum(self.counts), 1)

    @property
    def most(self) -> int:
        return max((late for late, count in enumerate(self.counts) if count), default=0)


def noting(stale: StaleGradients, session: tf.Session, records: Sequence[Record]) -> Callable[[], Record]:
    """Begin to count; what an evaluation records of it: of each copy, with what the stays before this one recorded."""
    session.run(stale.tally.initializer)
    before = [Lateness.of_plain(plain) for plain in (records[-1].get("staleness", []) if records else [])]

    def note() -> Record:
        now = [Lateness.of_row(row) for row in session.run(stale.tally)]
        added = [one + other for one, other in zip(now, before, strict=True)] if len(before) == len(now) else now
        return {"staleness": [lateness.plain() for lateness in added]}

    return note


def of_result(record: Record, names: Sequence[str], stale: StaleGradients | None) -> dict[str, Any]:
    """What `result.json` says of it: by copy the staleness and, where some are dropped, how many were."""
    if stale is None or "staleness" not in record:
        return {}
    found = {name: Lateness.of_plain(plain) for name, plain in zip(names, record["staleness"], strict=True)}
    told = {name: {"mean": round(one.mean, 3), "most": one.most, **one.plain()} for name, one in found.items()}
    if not stale.drops(LONGEST):
        return {"staleness": told}
    dropped = {name: sum(count for late, count in enumerate(one.counts) if stale.drops(late)) for name, one in found.items()}
    return {"staleness": told, "dropped": dropped}
