"""The evaluations of a run: `metrics.jsonl`, and what follows from them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.schema import EarlyStop

__all__ = ["History", "Record", "best_of", "read_records", "should_stop"]

Record = dict[str, Any]
"""{"step", "epoch", "learning_rate", "train": {"loss", metrics…}, "test": {the same}}

Where rows were passed over that could not be read: "skipped", how many. Where gradients can come too late for a step of all:
"dropped", how many of each worker have so far. Where workers make steps by themselves: "staleness", {"sum", "counts"} of
each (`lateness.Lateness`). Both include the stays before this one. On a cluster: "bytes_per_step", what a step of the chief
has {"sent", "received"} in this stay, in the mean.
"""


class History:
    """Evaluations so far, in memory and in `metrics.jsonl`, where each is there as soon as it is made."""

    def __init__(self, files: RunFiles, records: list[Record]) -> None:
        self.records = records
        files.write_text(files.metrics, "".join(json.dumps(record) + "\n" for record in records))
        self._file = files.metrics.open("a", encoding="utf-8")

    def add(self, record: Record) -> None:
        self.records.append(record)
        self._file.write(json.dumps(record, allow_nan=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read_records(path: Path) -> list[Record]:
    """The lines of a `metrics.jsonl`; the last one may be torn, if its process was killed, and is then left
    out.
    """
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    records = []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise ExperimentError(f"{path}, line {number}: {error}") from error
        if not (isinstance(record, dict) and {"step", "train", "test"} <= record.keys()):
            raise ExperimentError(f"{path}, line {number}: not an evaluation: it must have step, train and test")
        records.append(record)
    return records


def best_of(records: list[Record]) -> Record:
    """The evaluation with the lowest test loss; of equal ones, the first."""
    return min(records, key=lambda record: float(record["test"]["loss"]))


def should_stop(records: list[Record], rule: EarlyStop) -> bool:
    """Whether the last `patience` evaluations brought no test loss better than all before, by more than
    `min_delta`.

    A function of the records alone, so that a resumed run decides as an uninterrupted one.
    """
    if rule.patience is None:
        return False
    best, waited = math.inf, 0
    for record in records:
        if record["test"]["loss"] < best - rule.min_delta:
            best, waited = record["test"]["loss"], 0
        else:
            waited += 1
    return waited >= rule.patience
