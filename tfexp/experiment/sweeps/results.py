"""What came out of a sweep: a row per trial, the points ranked, and `sweep.csv`."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.experiment.sweeps.ledger import Ledger
from tfexp.experiment.sweeps.schema import Sweep
from tfexp.experiment.sweeps.trial import Trial

__all__ = ["Ranked", "Row", "as_csv", "ranking", "rows"]


@dataclass(frozen=True)
class Row:
    """A trial. `value` is what ranks it, None without numbers; `folder` is of its last attempt."""

    number: int
    point: int
    status: str
    attempts: int
    varied: dict[str, str]
    numbers: dict[str, Any] | None
    value: float | None
    seconds: float
    folder: str
    message: str


@dataclass(frozen=True)
class Ranked:
    """A point: its trials' mean value and, of two and more, the standard deviation. `value` is None if any has none."""

    point: int
    varied: dict[str, str]
    rows: tuple[Row, ...]
    value: float | None
    spread: float | None

    @property
    def status(self) -> str:
        """The worst of its trials'."""
        order = ("failed", "waiting", "running", "halved", "stopped early", "finished")
        return min((row.status for row in self.rows), key=order.index)


def rows(trials: Sequence[Trial], ledger: Ledger, sweep: Sweep) -> list[Row]:
    """In the trials' order; one that is the same as another has that one's outcome."""
    found = []
    for trial in trials:
        outcome = ledger.outcome(trial.number)
        last = outcome.attempts[-1] if outcome.attempts else None
        value = None if outcome.numbers is None else float(outcome.numbers[sweep.part][sweep.metric_name])
        found.append(
            Row(
                number=trial.number,
                point=trial.point,
                status=outcome.status,
                attempts=outcome.tries,
                varied=trial.varied,
                numbers=outcome.numbers,
                value=value,
                seconds=outcome.seconds,
                folder=trial.folder if last is None else last.folder,
                message="" if last is None else last.message,
            )
        )
    return found


def ranking(found: Sequence[Row], sweep: Sweep) -> list[Ranked]:
    """The best first; points that the halving ended come after all others with a value, those without one last."""
    points: dict[int, list[Row]] = {}
    for row in found:
        points.setdefault(row.point, []).append(row)
    ranked = []
    for point, of in points.items():
        values = [row.value for row in of if row.value is not None]
        whole = len(values) == len(of)
        varied = {name: text for name, text in of[0].varied.items() if len(of) == 1 or name != "train.seed"}
        ranked.append(
            Ranked(
                point,
                varied,
                tuple(of),
                statistics.fmean(values) if whole else None,
                statistics.stdev(values) if whole and len(values) > 1 else None,
            )
        )
    sign = 1 if sweep.minimizes else -1

    def key(entry: Ranked) -> tuple[int, float, float, int]:
        if entry.value is None:
            return 2, 0.0, 0.0, entry.point
        step = 0 if entry.status != "halved" else -min(row.numbers["step"] for row in entry.rows if row.numbers is not None)
        return int(entry.status == "halved"), step, sign * entry.value, entry.point

    return sorted(ranked, key=key)


def as_csv(found: Sequence[Row]) -> str:
    """A line per trial: number, point, status, attempts, what was varied, the numbers, step, seconds, folder, message."""
    varied = list(dict.fromkeys(name for row in found for name in row.varied))
    names = list(
        dict.fromkeys(
            f"{part}.{name}" for row in found if row.numbers for part in ("train", "test") for name in row.numbers[part]
        )
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "point", "status", "attempts", *varied, *names, "step", "seconds", "folder", "message"])
    for row in found:
        numbers = row.numbers or {}
        writer.writerow(
            [
                row.number,
                row.point,
                row.status,
                row.attempts,
                *(row.varied.get(name, "") for name in varied),
                *(repr(_number(numbers, name)) if _number(numbers, name) is not None else "" for name in names),
                numbers.get("step", ""),
                f"{row.seconds:.3f}",
                row.folder,
                " ".join(row.message.split()),
            ]
        )
    return text.getvalue()


def _number(numbers: dict[str, Any], name: str) -> float | None:
    part, _, metric = name.partition(".")
    found = numbers.get(part, {}).get(metric)
    return None if found is None else float(found)
