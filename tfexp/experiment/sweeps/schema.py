"""The settings of a sweep: the config group `sweep`, one class per way to search.

A search of one's own is a frozen dataclass derived from `Sweep`, chosen with `sweep.target=package.module:Class`, whose
`search` makes a `searching.Search`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tfexp.experiment.errors import SettingError
from tfexp.experiment.schema import Section, bounded
from tfexp.experiment.sweeps.searching import GridSearch, RandomSearch, Search
from tfexp.experiment.sweeps.space import Space

__all__ = ["Goal", "Grid", "Halving", "Launcher", "Optuna", "Random", "Sampler", "Sweep"]


class Goal(Enum):
    minimize = "least"
    maximize = "greatest"


class Launcher(Enum):
    """Each member's value says where its trials run."""

    local = "in this process, one after the other"
    process = "processes of this machine"
    ray = "Ray actors"


class Sampler(Enum):
    tpe = "TPESampler"
    random = "RandomSampler"
    cmaes = "CmaEsSampler"


@dataclass(frozen=True, kw_only=True)
class Halving(Section):
    """Asynchronous successive halving (Li et al., 2018, in the form that only ever ends trials): at each rung a trial goes
    on if it is among the best 1/factor of those that have come there so far."""

    inside = "halving."

    factor: int | None = bounded(least=2, says="of the trials that come to a rung, the best 1/factor go on; null: all do")
    least_steps: int = bounded(least=1, says="the first rung, in steps; each further one is factor times later")

    def rungs(self, total: int) -> tuple[int, ...]:
        """The steps before the last, of `total`, at which it is decided."""
        steps, step = [], self.least_steps
        while self.factor is not None and step < total:
            steps.append(step)
            step *= self.factor
        return tuple(steps)


@dataclass(frozen=True, kw_only=True)
class Sweep(Section, ABC):
    metric: str = bounded(says="what ranks the trials: loss, a metric of the model's (of the test rows), or train.<name>")
    goal: Goal | None = bounded(says="minimize or maximize; null goes with the loss, which is minimized")
    seeds: int = bounded(least=1, says="runs of each combination, with train.seed, train.seed + 1, …; ranked by their mean")
    launcher: Launcher = bounded(says="local (in this process, one after the other), process (of this machine) or ray")
    parallel: int | None = bounded(least=1, says="trials at once, at most; null: as many as their CPUs allow")
    cpus: float = bounded(above=0, says="CPUs of a trial that is one process and does not set device.intra_op_threads")
    address: str = bounded(says="of Ray: local (one of this sweep's own), auto (this machine's cluster) or host:port")
    retries: int = bounded(least=0, says="further attempts at a trial that fails, each in a folder of its own")
    dry: bool = bounded(says="list and check the trials, run nothing")
    resume: str | None = bounded(says="a sweep's folder: go on where it was ended, running no finished trial again")
    halving: Halving = bounded(says="ends trials early that are worse than others were at the same step")

    def __post_init__(self) -> None:
        super().__post_init__()
        part, _, name = self.metric.rpartition(".")
        if part not in ("", "train", "test") or not name:
            raise SettingError("metric", f"'{self.metric}' is not <name>, test.<name> or train.<name>")
        if self.goal is None and name != "loss":
            raise SettingError(
                "goal", f"give minimize or maximize: only of the loss is it known, and metric is {self.metric}"
            )

    @property
    def part(self) -> str:
        return self.metric.rpartition(".")[0] or "test"

    @property
    def metric_name(self) -> str:
        return self.metric.rpartition(".")[2]

    @property
    def minimizes(self) -> bool:
        return self.goal is not Goal.maximize

    @abstractmethod
    def search(self, space: Space, folder: Path | None) -> Search:
        """What chooses the points; `folder` (None in a dry run) is the sweep's, for what it wants to keep.

        Raises SettingError for a space that it cannot search.
        """


@dataclass(frozen=True, kw_only=True)
class Grid(Sweep):
    """Every combination."""

    def search(self, space: Space, folder: Path | None) -> Search:
        return GridSearch(space)


@dataclass(frozen=True, kw_only=True)
class Random(Sweep):
    """Points drawn independently of each other: the k-th is a function of the seed and k."""

    trials: int = bounded(least=1, says="points to try")
    seed: int = bounded(least=0, says="of the draw: the same seed, the same points")

    def search(self, space: Space, folder: Path | None) -> Search:
        return RandomSearch(space, self.trials, self.seed)


@dataclass(frozen=True, kw_only=True)
class Optuna(Sweep):
    """Points by what the earlier ones came to."""

    trials: int = bounded(least=1, says="points to try")
    seed: int = bounded(least=0, below=2**32, says="of the sampler")
    sampler: Sampler = bounded(says="tpe, random or cmaes")
    storage: str | None = bounded(says="a file that keeps the study (Optuna's journal); null: in the sweep's folder")

    def search(self, space: Space, folder: Path | None) -> Search:
        from tfexp.experiment.sweeps.optuna_search import OptunaSearch

        storage = folder / "optuna.log" if self.storage is None and folder is not None else self.storage
        return OptunaSearch(
            space,
            trials=self.trials,
            seed=self.seed,
            sampler=self.sampler.value,
            minimizes=self.minimizes,
            storage=None if folder is None or storage is None else Path(storage),
            sweep="" if folder is None else folder.name,
        )
