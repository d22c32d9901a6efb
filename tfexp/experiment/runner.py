"""Trains what the settings say and keeps what came out in the run's folder.

Everything that decides the numbers is a function of the settings and the step: the batch (`batch_rows`), the
steps at which to evaluate, stopping early (from the recorded evaluations). The rest of the state is in the
variables, so a run that goes on from a checkpoint comes to the same numbers as one that was never
interrupted.
"""

from __future__ import annotations

import contextlib
import json
import math
import shlex
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment import manifest
from tfexp.experiment.build import Program, build
from tfexp.experiment.checkpoints import Checkpoints
from tfexp.experiment.datasets.dataset import Dataset, batch_rows, prepare
from tfexp.experiment.errors import Diverged, ExperimentError, Interrupted, SettingError
from tfexp.experiment.history import History, Record, read_records, should_stop
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.plot import draw
from tfexp.experiment.progress import Progress, progress_for
from tfexp.experiment.report import show_result
from tfexp.experiment.schema import Settings
from tfexp.experiment.signals import StopRequest

__all__ = ["Experiment", "Origin"]


@dataclass(frozen=True)
class Origin:
    """Where a run's settings came from, as its folder records it."""

    command: str
    config_yaml: str
    overrides: tuple[str, ...]


@dataclass(frozen=True)
class Experiment:
    """Settings with their data read and their graph built: all that can go wrong before a folder is touched."""

    settings: Settings
    dataset: Dataset
    program: Program

    @classmethod
    def of(cls, settings: Settings) -> Experiment:
        dataset = prepare(settings.data)
        rows, batch_size = dataset.train.rows, settings.train.batch_size
        if batch_size is not None and batch_size > rows:
            raise SettingError("train.batch_size", f"{batch_size} is more than the {rows} training rows")
        return cls(settings, dataset, build(settings, dataset.spec))

    def run(self, folder: RunFolder, origin: Origin, *, resume: bool = False) -> dict[str, Any]:
        """Train, evaluate and report; returns what `result.json` holds.

        With `resume`, goes on from the folder's last checkpoint. Raises ExperimentError (Diverged,
        Interrupted) when the run ends before its end; its last good checkpoint is then in the folder.
        """
        device = self.settings.device
        config = tf.ConfigProto(
            intra_op_parallelism_threads=device.intra_op_threads,
            inter_op_parallelism_threads=device.inter_op_threads,
            allow_soft_placement=device.soft_placement,
            log_device_placement=device.log_placement,
        )
        with tf.Session(graph=self.program.graph, config=config) as session:
            facts = manifest.describe(self.settings, self.dataset, origin.command)
            training = _Training(self, folder, session)
            if resume:
                step = training.take_up(facts)
            else:
                step = 0
                folder.write_json(folder.manifest, facts)
                tf.train.write_graph(self.program.graph.as_graph_def(), str(folder.path), "graph.pbtxt")
            _record(folder, origin)
            if not resume:
                session.run(self.program.initialize)
            return training.train(step)


def _record(folder: RunFolder, origin: Origin) -> None:
    folder.write_text(folder.config, origin.config_yaml)
    with folder.overrides.open("a", encoding="utf-8") as file:
        file.writelines(f"- {json.dumps(line)}\n" for line in origin.overrides)


class _Training:
    """One stay in the training loop."""

    def __init__(self, experiment: Experiment, folder: RunFolder, session: tf.Session) -> None:
        self.settings, self.dataset, self.program = (
            experiment.settings,
            experiment.dataset,
            experiment.program,
        )
        self.folder, self.session = folder, session
        train = self.settings.train
        self.batch_size = train.batch_size or self.dataset.train.rows
        self.steps_per_epoch = self.dataset.train.rows // self.batch_size
        steps = train.steps if train.epochs is None else train.epochs * self.steps_per_epoch
        assert steps is not None  # Train refuses settings with neither
        self.total_steps = steps
        self.checkpoints = Checkpoints(folder, self.program)
        self.records: list[Record] = []

    def take_up(self, facts: dict[str, Any]) -> int:
        """Restore what an earlier stay left in the folder; returns the step it came to."""
        path = self.folder.path
        try:
            begun = json.loads(self.folder.manifest.read_text(encoding="utf-8"))
            before = begun["data"]["sha256"]
        except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
            raise ExperimentError(f"{self.folder.manifest} is not a run's manifest: {error}") from error
        if before != self.dataset.digest:
            raise ExperimentError(
                f"the data ({self.dataset.origin}) is not what {path} was begun with: its SHA-256 is "
                f"{self.dataset.digest}, in {self.folder.manifest.name} it is {before}"
            )
        step = self.checkpoints.restore(self.session)
        # the last evaluation of a run that had ended would not have been made if it had gone on
        self.records = [
            record
            for record in read_records(self.folder.metrics)
            if record["step"] <= step and _due(self.settings.train.eval_every, record["step"])
        ]
        if step >= self.total_steps or should_stop(self.records, self.settings.train.early_stop):
            raise ExperimentError(
                f"{path} has ended, at step {step} of {self.total_steps}: to go further, give a larger "
                "train.steps or train.epochs, or another train.early_stop.patience"
            )
        self.folder.write_json(
            self.folder.manifest,
            {**begun, "resumed": [*begun.get("resumed", []), {"at_step": step, **facts}]},
        )
        return step

    def train(self, begin: int) -> dict[str, Any]:
        """Train from step `begin` to the end, and write down and show what came out."""
        with contextlib.ExitStack() as stack:
            self.history = stack.enter_context(contextlib.closing(History(self.folder, self.records)))
            writer = tf.summary.FileWriter(str(self.folder.path), graph=self.program.graph)
            self.writer = stack.enter_context(contextlib.closing(writer))
            stop = stack.enter_context(StopRequest())
            try:
                if begin == 0:
                    self._evaluate(0)
                    self.checkpoints.save(self.session, 0)
                with contextlib.closing(progress_for(self.settings.title, begin, self.total_steps)) as progress:
                    began = time.perf_counter()
                    step, status = self._loop(begin, stop, progress)
                    seconds = time.perf_counter() - began
            except Diverged as error:
                raise self._diverged(error) from None
            result = self._result(status, step, step - begin, seconds)
            self.folder.write_json(self.folder.result, result)
        show_result(self.settings.title, result, self.folder.path, self._short_values())
        metric = next((name for name in ("accuracy", "r2", *self.program.metrics) if name in self.program.metrics), None)
        draw(self.folder.plot, self.settings.title, self.history.records, metric)
        return result

    def _loop(self, step: int, stop: StopRequest, progress: Progress) -> tuple[int, str]:
        """Train from `step` to the end; returns the last step and how it ended."""
        intervals, program, session = self.settings.train, self.program, self.session
        examples, fetches = self.dataset.train, (program.train, program.objective)
        status = "finished"
        while step < self.total_steps:
            rows = batch_rows(intervals.seed, step, examples.rows, self.batch_size)
            feeds = {program.features: examples.features[rows], program.labels: examples.labels[rows]}
            _, loss = session.run(fetches, feeds)
            step += 1
            if not math.isfinite(loss):
                raise Diverged(step, f"the loss is {loss} at step {step}")
            progress.step(step, loss)
            if intervals.summary_every and step % intervals.summary_every == 0:
                self.writer.add_summary(session.run(program.summaries, feeds), step)
            if _due(intervals.eval_every, step):
                self._evaluate(step)
                if should_stop(self.history.records, intervals.early_stop):
                    status = "stopped early"
                    break
            if stop.signal is not None and step < self.total_steps:
                self.checkpoints.save(session, step)
                raise Interrupted(
                    stop.signal,
                    f"stopped after step {step} of {self.total_steps}, saved in {self.checkpoints.last}\n"
                    f"go on with: python -m tfexp resume={shlex.quote(str(self.folder.path))}",
                )
            if _due(intervals.checkpoint_every, step) and step < self.total_steps:
                self.checkpoints.save(session, step)
        if self.history.records[-1]["step"] != step:
            self._evaluate(step)
        self.checkpoints.save(session, step)
        return step, status

    def _evaluate(self, step: int) -> None:
        """Loss and metrics over all training and all test rows, into the history and the events."""
        program = self.program
        fetches = {"loss": program.objective, **program.metrics}
        rate = float(self.session.run(program.learning_rate))
        record: Record = {"step": step, "epoch": step / self.steps_per_epoch, "learning_rate": rate}
        scalars = {"learning_rate": rate}
        for part, examples in (("train", self.dataset.train), ("test", self.dataset.test)):
            feeds = {program.features: examples.features, program.labels: examples.labels}
            values = self.session.run(fetches, feeds)
            record[part] = {name: float(value) for name, value in values.items()}
            scalars.update({f"{part}/{name}": value for name, value in record[part].items()})
        for name, value in scalars.items():
            if not math.isfinite(value):
                raise Diverged(step, f"{name} is {value} after step {step}")
        self.history.add(record)
        points = [tf.Summary.Value(tag=name, simple_value=value) for name, value in scalars.items()]
        self.writer.add_summary(tf.Summary(value=points), step)

    def _result(self, status: str, step: int, steps: int, seconds: float) -> dict[str, Any]:
        """The numbers that the configuration decides, and apart from them how long `steps` steps took."""
        last = self.history.records[-1]
        return {
            "numbers": {
                "status": status,
                "step": step,
                "epoch": last["epoch"],
                "train": last["train"],
                "test": last["test"],
                "data_sha256": self.dataset.digest,
                "variables_sha256": self.checkpoints.digest(self.session),
            },
            "timing": {"steps": steps, "seconds": seconds, "steps_per_second": steps / seconds},
        }

    def _diverged(self, error: Diverged) -> Diverged:
        self.folder.write_json(self.folder.result, {"numbers": {"status": "diverged", "step": error.step}})
        kept = f"the last good checkpoint is {self.checkpoints.last}" if self.checkpoints.last else "nothing was saved"
        rate = self.settings.optimizer.learning_rate
        return Diverged(error.step, f"{error}; {kept}. A lower optimizer.learning_rate than {rate:g} may help")

    def _short_values(self) -> dict[str, Any]:
        """The trained variables by name, if they are few enough to read."""
        values = self.checkpoints.values(self.session)
        trained = {name: np.asarray(values[name]) for name in self.program.trained}
        return trained if sum(value.size for value in trained.values()) <= 4 else {}


def _due(every: int, step: int) -> bool:
    return step == 0 or (every > 0 and step % every == 0)
