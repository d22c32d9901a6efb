"""The settings of Hydra's that tfexp heeds, described as its own are. Their values are in conf/config.yaml."""

from __future__ import annotations

from dataclasses import dataclass

from tfexp.experiment.schema import bounded

__all__ = ["OfHydra"]


@dataclass(frozen=True, kw_only=True)
class OfOneRun:
    dir: str = bounded(says="the run's folder, which must not hold a run; the one that the time of day names is made unique")


@dataclass(frozen=True, kw_only=True)
class OfManyRuns:
    dir: str = bounded(says="with -m: the sweep's folder")
    subdir: str = bounded(says="with -m: each trial's folder in it; ${hydra.job.num} tells them apart")


@dataclass(frozen=True, kw_only=True)
class OfTheJob:
    name: str = bounded(says="in a file of conf/experiment: ends the names of the runs' folders")


@dataclass(frozen=True, kw_only=True)
class OfHydra:
    run: OfOneRun = bounded(says="a single run")
    sweep: OfManyRuns = bounded(says="with -m")
    job: OfTheJob = bounded(says="what runs are called")
    searchpath: tuple[str, ...] = bounded(
        says="more folders with choices, as file://<folder>; --config-dir gives one of them"
    )
