"""From a point of the space to trials: composed, typed, and checked down to their graphs."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from tfexp.experiment.datasets.dataset import Dataset, prepare
from tfexp.experiment.errors import SettingError
from tfexp.experiment.runner import Experiment
from tfexp.experiment.schema import Hosting, Settings
from tfexp.experiment.sweeps.schema import Launcher, Sweep
from tfexp.experiment.sweeps.space import Choices, Point, Space
from tfexp.experiment.sweeps.trial import Needs, Trial, label_of
from tfexp.experiment.transfer import to_plain

__all__ = ["Door", "Planner"]


@dataclass(frozen=True)
class Door:
    """What the command line lends to a sweep: words to overrides, these to a configuration, that to settings."""

    parse: Callable[[list[str]], list[Override]]
    compose: Callable[[Sequence[Override]], DictConfig]
    settings: Callable[[DictConfig], Settings]
    recorded: Callable[[DictConfig], str]
    sweep: Callable[[DictConfig], Sweep]


class Planner:
    """Makes the trials of points, and remembers which configurations there were."""

    def __init__(self, door: Door, space: Space, sweep: Sweep, name: Callable[[DictConfig], str] | None = None) -> None:
        self._door, self._space, self._sweep = door, space, sweep
        self._datasets: dict[str, Dataset] = {}
        self._steps: dict[str, int] = {}
        self._first: dict[str, int] = {}
        self._folders: set[str] = set()

    def trials(self, point_number: int, point: Point) -> list[Trial]:
        """The trials of a point, one per seed. Raises ExperimentError for settings that do not fit together."""
        config = self._composed(point)
        settings = self._door.settings(config)
        first = settings.train.seed
        if self._sweep.seeds > 1 and any(dimension.name == "train.seed" for dimension in self._space.dimensions):
            raise SettingError("sweep.seeds", "repeats every point with other values of train.seed, and train.seed is swept")
        trials = []
        for repeat in range(self._sweep.seeds):
            number = point_number * self._sweep.seeds + repeat
            varied = {key.lstrip("+"): value for key, value in point.items()}
            words = [*self._space.fixed, *(f"{key}={value}" for key, value in point.items())]
            if self._sweep.seeds > 1:
                OmegaConf.update(config, "train.seed", first + repeat)
                varied["train.seed"] = str(first + repeat)
                words.append(f"train.seed={first + repeat}")
                settings = dataclasses.replace(settings, train=dataclasses.replace(settings.train, seed=first + repeat))
            with _named(varied):
                total_steps = self._checked(settings)
            trial = Trial(
                number=number,
                point=point_number,
                words=tuple(words),
                varied=varied,
                folder=self._folder(config, number, varied),
                config_yaml=self._door.recorded(config),
                settings=settings,
                total_steps=total_steps,
                needs=self._needs(settings),
            )
            trials.append(trial)
        return trials

    def same_as(self, trial: Trial) -> int | None:
        """The earlier trial that has the same settings, if there is one."""
        first = self._first.setdefault(json.dumps(to_plain(trial.settings), sort_keys=True), trial.number)
        return None if first == trial.number else first

    def try_out(self) -> None:
        """Check every single value that a search may come to, and the ends of intervals, each with the first of the others.

        Raises ExperimentError for one that cannot be.
        """
        values = {
            d.key: d.values.values if isinstance(d.values, Choices) else (d.values.at(0.0), d.values.at(1.0))
            for d in self._space.dimensions
        }
        tried = [self._space.point(lambda d: values[d.key][0])]
        for key, options in values.items():
            for option in options[1:]:
                chosen = {key: option}
                tried.append(self._space.point(lambda d, chosen=chosen: chosen.get(d.key, values[d.key][0])))  # type: ignore[misc]
        for point in tried:
            settings = self._door.settings(self._composed(point))
            with _named(point):
                self._checked(settings)

    # --- composing --------------------------------------------------------------------------------------------------

    def _composed(self, point: Point) -> DictConfig:
        words = [*self._space.fixed, *(f"{key}={value}" for key, value in point.items())]
        return self._door.compose(self._door.parse(words))

    def _folder(self, config: DictConfig, number: int, varied: dict[str, str]) -> str:
        with read_write(config.hydra), open_dict(config.hydra):
            config.hydra.job.num = number
            config.hydra.job.override_dirname = ",".join(f"{key}={value}" for key, value in varied.items())
        name = str(config.hydra.sweep.subdir)
        if name in self._folders:
            raise SettingError(
                "hydra.sweep.subdir", f"gives two trials the folder '{name}': let ${{hydra.job.num}} be in it"
            )
        self._folders.add(name)
        return name

    # --- checking ---------------------------------------------------------------------------------------------------

    def _checked(self, settings: Settings) -> int:
        """Its number of steps, when its graph can be built. What only differs in its seed is checked once."""
        plain = to_plain(settings)
        plain["train"]["values"]["seed"] = 0
        mark = json.dumps(plain, sort_keys=True)
        if mark not in self._steps:
            of_data = json.dumps([plain["data"], plain["input"]], sort_keys=True)
            if of_data not in self._datasets:
                self._datasets[of_data] = settings.input.prepare(prepare(settings.data))
            experiment = Experiment.of(settings, self._datasets[of_data])
            metrics = ["loss", *experiment.program.metrics]
            if self._sweep.metric_name not in metrics:
                raise SettingError(
                    "sweep.metric", f"there is no '{self._sweep.metric_name}': {settings.title} has {', '.join(metrics)}"
                )
            self._check_halving(settings, experiment.course.total_steps)
            self._steps[mark] = experiment.course.total_steps
        return self._steps[mark]

    def _check_halving(self, settings: Settings, total: int) -> None:
        halving, every = self._sweep.halving, settings.train.eval_every
        if halving.factor is None:
            return
        if halving.least_steps >= total:
            raise SettingError("sweep.halving.least_steps", f"{halving.least_steps} is not before the last of {total} steps")
        if not 0 < every < total:
            raise SettingError(
                "train.eval_every", f"{every} of {total} steps leaves the halving nothing to go by before the end"
            )

    def _needs(self, settings: Settings) -> Needs:
        cluster = settings.cluster
        if not cluster.tasks or cluster.is_static:
            return Needs(float(settings.device.intra_op_threads or self._sweep.cpus))
        cpus = cluster.ps_count * cluster.ps_cpus + cluster.worker_count * cluster.worker_cpus
        gpus = cluster.ps_count * cluster.ps_gpus + cluster.worker_count * cluster.worker_gpus
        if cluster.hosting is not Hosting.ray:
            return Needs(cpus, gpus)
        if self._sweep.launcher is not Launcher.ray:
            raise SettingError(
                "cluster.hosting", f"ray inside a sweep needs sweep.launcher=ray, and it is {self._sweep.launcher.name}"
            )
        return Needs(0.0, 0.0, cpus, gpus)


@contextlib.contextmanager
def _named(varied: Mapping[str, str]) -> Iterator[None]:
    """What is raised in the block says in a line of its own which trial it was."""
    try:
        yield
    except Exception as error:
        if varied:
            error.add_note(f"in the trial {label_of(varied)}")
        raise
