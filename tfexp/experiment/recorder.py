"""What the one process that writes a run's folder records while it trains: evaluations, summaries, checkpoints."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.build import Program
from tfexp.experiment.checkpoints import Checkpoints
from tfexp.experiment.confusion import Confusion
from tfexp.experiment.course import Course
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.errors import Diverged
from tfexp.experiment.history import History, Record, best_of
from tfexp.experiment.outputs import RunFiles
from tfexp.runtime.timeline import Timeline

__all__ = ["Recorder"]


class Recorder:
    """Reads the state from `session`; `open` it before recording. `keep_best`: save the best evaluation's state, apart."""

    def __init__(
        self, files: RunFiles, dataset: Dataset, program: Program, course: Course, session: tf.Session, *, keep_best: bool
    ) -> None:
        self._files, self._dataset, self._program, self._course = files, dataset, program, course
        self._session, self._keep_best = session, keep_best
        self.checkpoints = Checkpoints(files, program)
        self.note: Callable[[], Record] = dict
        """What an evaluation records beside its numbers."""

    @contextlib.contextmanager
    def open(self, records: list[Record]) -> Iterator[Recorder]:
        """Begin with the evaluations of earlier stays; within the block there are `history` and a writer of events."""
        with contextlib.ExitStack() as stack:
            self.history = stack.enter_context(contextlib.closing(History(self._files, records)))
            writer = tf.summary.FileWriter(str(self._files.path), graph=self._program.graph)
            self._writer = stack.enter_context(contextlib.closing(writer))
            yield self

    def save(self, step: int) -> None:
        self.checkpoints.save(self._session, step)

    def summarize(self, step: int, feeds: dict[Any, Any]) -> None:
        self._writer.add_summary(self._session.run(self._program.summaries, feeds), step)

    def trace(self, step: int, metadata: tf.RunMetadata) -> None:
        """Keep the times of a step's nodes: a Chrome trace in the folder; in the events for TensorBoard."""
        self._files.traces.mkdir(exist_ok=True)
        trace = Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True)
        self._files.write_text(self._files.traces / f"step-{step}.json", trace)
        self._writer.add_run_metadata(metadata, f"step {step}", step)

    def evaluate(self, step: int) -> None:
        """Loss and metrics over all training and all test rows, into the history and the events.

        Raises Diverged when one is not finite.
        """
        program = self._program
        fetches = {"loss": program.objective, **program.metrics}
        counts = () if program.confusion is None else program.confusion
        rate = float(self._session.run(program.learning_rate))
        record: Record = {"step": step, "epoch": step / self._course.steps_per_epoch, "learning_rate": rate}
        scalars = {"learning_rate": rate}
        for part, examples in (("train", self._dataset.train), ("test", self._dataset.test)):
            feeds = {program.features: examples.features, program.labels: examples.labels, **program.evaluating}
            values, counted = self._session.run((fetches, counts), feeds)
            record[part] = {name: float(value) for name, value in values.items()}
            scalars.update({f"{part}/{name}": value for name, value in record[part].items()})
        for name, value in scalars.items():
            if not math.isfinite(value):
                raise Diverged(step, f"{name} is {value} after step {step}")
        if self._dataset.skipped.rows:
            record["skipped"] = self._dataset.skipped.rows
        record.update(self.note())
        self.history.add(record)
        if program.confusion is not None:
            self._files.write_text(self._files.confusion, self._confusion(counted).text())
        points = [tf.Summary.Value(tag=name, simple_value=value) for name, value in scalars.items()]
        self._writer.add_summary(tf.Summary(value=points), step)
        if self._keep_best and best_of(self.history.records) is record:
            self.checkpoints.save_best(self._session, step)

    def _confusion(self, counts: np.ndarray) -> Confusion:
        names = self._dataset.spec.class_names or tuple(map(str, range(len(counts))))
        return Confusion(names, tuple(map(tuple, counts.tolist())))

    def numbers(self, status: str, step: int) -> dict[str, Any]:
        """What `result.json` says under `numbers`: what the configuration decides."""
        last = self.history.records[-1]
        return {
            "status": status,
            "step": step,
            "epoch": last["epoch"],
            "train": last["train"],
            "test": last["test"],
            "data_sha256": self._dataset.digest,
            "variables_sha256": self.checkpoints.digest(self._session),
        }

    def short_values(self) -> dict[str, Any]:
        """The trained variables by name, if they are few enough to read."""
        values = self.checkpoints.values(self._session)
        trained = {name: np.asarray(values[name]) for name in self._program.trained}
        return trained if sum(value.size for value in trained.values()) <= 4 else {}
