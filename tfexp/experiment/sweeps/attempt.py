"""An attempt at a trial, as a pool's worker makes it: a run in a folder of its own, which ends early when it is told to."""

from __future__ import annotations

import contextlib
import os
import signal
import traceback
from pathlib import Path
from typing import Any

import tfexp as tf
from tfexp.distributed.station import Station
from tfexp.experiment.errors import Diverged, ExperimentError, Interrupted, SettingError
from tfexp.experiment.history import Record
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.runner import Experiment, Origin
from tfexp.experiment.transfer import from_plain
from tfexp.experiment.watching import Watch

__all__ = ["HALVED", "make"]

HALVED = "halved"
"""The status of a run that the halving ended."""


class _Reporting(Watch):
    """Tells every evaluation's metric, and at the rungs waits to hear whether to go on."""

    draws = False

    def __init__(self, station: Station, part: str, metric: str, rungs: list[int]) -> None:
        self._station, self._part, self._metric = station, part, metric
        self._rungs = list(rungs)

    def evaluated(self, record: Record) -> str | None:
        step, value = record["step"], record[self._part][self._metric]
        passed = [rung for rung in self._rungs if rung <= step]
        if not passed:
            self._station.send("evaluated", step=step, value=value)
            return None
        self._rungs = self._rungs[len(passed) :]
        answer = self._station.ask("rung", rung=passed[-1], step=step, value=value)
        # One that is asked to end is answered, too, lest it waits: it was not judged.
        return HALVED if answer["stop"] and not self._station.stopping else None

    def signal(self) -> int | None:
        return signal.SIGTERM if self._station.stopping else None


def make(station: Station, arguments: dict[str, Any]) -> dict[str, Any]:
    """The work of a job; `arguments` are what `driver` says.

    Returns the `status` that the run ended with, and its `numbers` and `seconds`, or `failed` with the `message` and
    whether the same would happen `again`.
    """
    if os.path.isdir(arguments["working_directory"]):
        os.chdir(arguments["working_directory"])
    path = Path(arguments["folder"])
    try:
        watch = _Reporting(station, arguments["part"], arguments["metric"], arguments["rungs"])
        experiment = Experiment.of(from_plain(arguments["settings"]))
        origin = Origin(arguments["command"], arguments["config"], tuple(arguments["words"]))
        with contextlib.closing(RunFolder.create(path, exactly=True)) as folder:
            result = experiment.run(folder, origin, watch=watch)
    except Interrupted as error:
        return {"status": "interrupted", "message": str(error)}
    except (ExperimentError, tf.errors.OpError) as error:
        traceback.print_exc()
        again = isinstance(error, Diverged | SettingError)
        return {"status": "failed", "message": str(error), "again": again}
    return {"status": result["numbers"]["status"], "numbers": result["numbers"], "seconds": result["timing"]["seconds"]}
