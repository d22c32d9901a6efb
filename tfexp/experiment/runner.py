"""Trains what the settings say and keeps what came out in the run's folder.

Everything that decides the numbers is a function of the settings and the step: the batch (`inputs`), the
steps at which to evaluate, stopping early (from the recorded evaluations). The rest of the state is in the
variables and the iterators, which a checkpoint holds, so a run that goes on from one comes to the same numbers
as one that was never interrupted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.experiment import manifest
from tfexp.experiment.build import Program, session_config
from tfexp.experiment.code_state import keep_patch
from tfexp.experiment.confusion import Confusion
from tfexp.experiment.course import Course, due
from tfexp.experiment.datasets.dataset import Dataset, prepare
from tfexp.experiment.ended import recorded
from tfexp.experiment.endings import diverged, input_failed, says_when_full, stopped
from tfexp.experiment.errors import Diverged
from tfexp.experiment.history import Record, best_of, should_stop
from tfexp.experiment.in_graph import program_of
from tfexp.experiment.lateness import noting, of_result
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.placing import MEASURED_STEP, keep_measured
from tfexp.experiment.plot import draw, draw_confusion
from tfexp.experiment.progress import Progress, progress_for
from tfexp.experiment.recorder import Recorder
from tfexp.experiment.report import show_result
from tfexp.experiment.resuming import begun, earlier_records, note_stay, refuse_if_ended
from tfexp.experiment.schema import Placer, Settings
from tfexp.experiment.signals import StopRequest
from tfexp.experiment.turns import Turns, check_loss, turns_of_client
from tfexp.experiment.watching import Watch

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
    course: Course
    program: Program

    @classmethod
    def of(cls, settings: Settings, dataset: Dataset | None = None) -> Experiment:
        """`dataset`: what these settings' data and input were prepared to before, if they were."""
        if dataset is None:
            dataset = settings.input.prepare(prepare(settings.data))
        course = Course.of(settings, dataset)
        cluster, spec = settings.cluster, None
        if cluster.tasks:
            tasks = {"ps": ["to be found"] * cluster.ps_count, "worker": ["to be found"] * cluster.worker_count}
            spec = tf.train.ClusterSpec(tasks)
        return cls(settings, dataset, course, program_of(settings, dataset, spec))

    @says_when_full
    def run(self, folder: RunFolder, origin: Origin, *, resume: bool = False, watch: Watch | None = None) -> dict[str, Any]:
        """Train, evaluate and report; returns what `result.json` holds.

        With `resume`, goes on from the folder's last checkpoint. `watch` may end it. Raises ExperimentError (Diverged,
        Interrupted) when the run ends before its end; its last good checkpoint is then in the folder.
        """
        facts = manifest.describe(self.settings, self.dataset, origin.command)
        if self.program.start is not None:
            facts["start"] = dataclasses.asdict(self.program.start)
            print(self.program.start, flush=True)
        if self.program.frozen is not None:
            facts["frozen"] = self.program.frozen.names
            print(self.program.frozen, flush=True)
        with recorded(folder, facts["process"]) as ending:
            result = self._run(folder, origin, facts, resume, watch or Watch())
            ending.status = result["numbers"]["status"]
        return result

    def _run(self, folder: RunFolder, origin: Origin, facts: dict[str, Any], resume: bool, watch: Watch) -> dict[str, Any]:
        if not resume:
            tf.train.write_graph(self.program.graph.as_graph_def(), str(folder.path), "graph.pbtxt")
        if self.settings.cluster.tasks:
            from tfexp.experiment import driver  # servers are not loaded for a run of one process

            begin = driver.look_back(folder, self.settings, self.dataset, self.course) if resume else None
            self._record(folder, origin, facts, begin)
            result, records = driver.train(folder, self.settings, self.dataset, self.course, begin, watch)
        else:
            result, records = self._train_here(folder, origin, facts, resume, watch)
        if watch.draws:
            self._draw(folder, records)
        return result

    def _draw(self, folder: RunFolder, records: list[Record]) -> None:
        names = self.program.metrics
        metric = next((name for name in ("accuracy", "r2", *names) if name in names), None)
        draw(folder.plot, self.settings.title, records, metric)
        if folder.confusion.exists():
            read = Confusion.of_text(folder.confusion.read_text(encoding="utf-8"))
            draw_confusion(folder.confusion_plot, self.settings.title, read)

    def _train_here(
        self, folder: RunFolder, origin: Origin, facts: dict[str, Any], resume: bool, watch: Watch
    ) -> tuple[dict[str, Any], list[Record]]:
        with (
            tf.Session(graph=self.program.graph, config=session_config(self.settings)) as session,
            contextlib.ExitStack() as stack,
        ):
            stack.callback(self.program.batches.stop)
            training = _Training(self, folder, session, watch)
            begin = training.take_up() if resume else None
            self._record(folder, origin, facts, begin)
            if begin is None:
                session.run(self.program.initialize)
                self.program.batches.start(session, 0)
            return training.train(begin or 0)

    def _record(self, folder: RunFolder, origin: Origin, facts: dict[str, Any], begin: int | None) -> None:
        """Write down what is run; a stay that goes on from step `begin` is added to what was begun."""
        keep_patch(folder, facts)
        if begin is None:
            folder.write_json(folder.manifest, facts)
        else:
            note_stay(folder, begun(folder, self.dataset), begin, facts)
        folder.write_text(folder.config, origin.config_yaml)
        with folder.overrides.open("a", encoding="utf-8") as file:
            file.writelines(f"- {json.dumps(line)}\n" for line in origin.overrides)


class _Training:
    """One stay in the training loop of a run that is one process."""

    def __init__(self, experiment: Experiment, folder: RunFolder, session: tf.Session, watch: Watch) -> None:
        self.settings, self.dataset, self.program = experiment.settings, experiment.dataset, experiment.program
        self.course, self.folder, self.session, self.watch = experiment.course, folder, session, watch
        keep_best = self.settings.train.keep_best
        self.recorder = Recorder(folder, self.dataset, self.program, self.course, session, keep_best=keep_best)
        self.records: list[Record] = []
        self.placed: dict[str, Any] = {}  # what the dynamic placer expected and found

    def take_up(self) -> int:
        """Restore what an earlier stay left in the folder; returns the step it came to."""
        begun(self.folder, self.dataset)
        # An iterator takes up the position that a checkpoint holds once it has something to iterate over.
        self.program.batches.start(self.session, self.recorder.checkpoints.step())
        step = self.recorder.checkpoints.restore(self.session)
        self.records = earlier_records(self.folder, self.settings, step)
        refuse_if_ended(self.folder, self.settings, self.course, step, self.records)
        return step

    def train(self, begin: int) -> tuple[dict[str, Any], list[Record]]:
        """Train from step `begin` to the end, and write down and show what came out."""
        total, copies, recorder = self.course.total_steps, self.settings.copies, self.recorder
        turns = turns_of_client(self.program, total, copies, self.settings.update.alone_until(total, copies))
        with recorder.open(self.records), StopRequest() as stop:
            try:
                step, status, seconds = self._timed(begin, turns, stop)
            except Diverged as error:
                rate = self.settings.optimizer.learning_rate
                raise diverged(error, self.folder, recorder.checkpoints.last, rate) from None
            except tf.errors.OpError as error:
                problem = self.program.batches.explain(error)
                if problem is None:
                    raise
                raise input_failed(problem, self.folder, recorder.checkpoints.last) from error
            timing = {"steps": step - begin, "seconds": seconds, "steps_per_second": (step - begin) / seconds}
            result = self._result(recorder.numbers(status, step), timing, turns)
            self.folder.write_json(self.folder.result, result)
            values = recorder.short_values()
            show_result(self.settings.title, result, self.folder.path, values, drawn=self.watch.draws)
        return result, recorder.history.records

    def _timed(self, begin: int, turns: Turns, stop: StopRequest) -> tuple[int, str, float]:
        """What `_loop` returns, and the seconds that it took; a run that begins is evaluated and saved first."""
        if self.program.stale is not None:
            self.recorder.note = noting(self.program.stale, self.session, self.records)
        if begin == 0:
            self.recorder.evaluate(0)
            self.recorder.save(0)
        with contextlib.closing(progress_for(self.settings.title, begin, self.course.total_steps)) as progress:
            began = time.perf_counter()
            try:
                step, status = self._loop(begin, turns, stop, progress)
            except BaseException:
                turns.abandon()
                raise
            return step, status, time.perf_counter() - began

    def _result(self, numbers: dict[str, Any], timing: dict[str, Any], turns: Turns) -> dict[str, Any]:
        """What `result.json` holds."""
        records = self.recorder.history.records
        result: dict[str, Any] = {"numbers": numbers, "timing": timing, "best": best_of(records)}
        if self.dataset.skipped.rows:
            result["skipped"] = self.dataset.skipped.plain()
        if self.settings.copies > 1:
            timing["steps_of"] = {f"tower:{number}": steps for number, steps in enumerate(turns.steps())}
            result |= of_result(records[-1], list(timing["steps_of"]), self.program.stale)
        if self.placed:
            result["placement"] = self.placed
        return result

    def _loop(self, begin: int, turns: Turns, stop: StopRequest, progress: Progress) -> tuple[int, str]:
        """Train from step `begin` to the end; returns the last step and how it ended."""
        every, session, recorder, total = self.settings.train, self.session, self.recorder, self.course.total_steps
        step, status = begin, "finished"
        asked: int | None = None
        turns.begin(session, begin)
        while turns.may_begin(step):
            before, step = step, self._step(step, begin, turns, progress)
            if due(every.eval_every, step, before):
                recorder.evaluate(step)
                ended = self._ended(step)
                if ended is not None:
                    status = ended
                    break
            asked = stop.signal or self.watch.signal()
            if asked is not None:
                break
            if due(every.checkpoint_every, step, before) and step < total:
                recorder.save(step)
        turns.end(session)
        if self.program.others:
            step = int(session.run(self.program.global_step))
        if asked is not None and status == "finished" and step < total:
            recorder.save(step)
            raise stopped(asked, step, total, str(recorder.checkpoints.last), self.folder.path)
        if recorder.history.records[-1]["step"] != step:
            recorder.evaluate(step)
        recorder.save(step)
        return step, status

    def _step(self, step: int, begin: int, turns: Turns, progress: Progress) -> int:
        """Make the step after `step`, and record of it what is to be, but for evaluations; returns which one it was."""
        every, program, recorder = self.settings.train, self.program, self.recorder
        # which step it will be, is not known where others make steps, too
        summarized = bool(every.summary_every and (program.others or (step + 1) % every.summary_every == 0))
        batch = (program.features, program.labels) if summarized else ()
        traced = bool(every.trace_every and (begin + turns.own + 1) % every.trace_every == 0)
        measured = turns.own + 1 == MEASURED_STEP and self.settings.device.placement is Placer.dynamic
        made = turns.make(self.session, batch, traced=traced or measured)
        if made.metadata is not None:
            if traced:
                recorder.trace(made.step, made.metadata)
            if measured:
                self.placed = keep_measured(self.folder, made.metadata)
        check_loss(made.loss, made.step)
        progress.step(made.step, made.loss)
        if summarized and due(every.summary_every, made.step, step):
            recorder.summarize(made.step, dict(zip(batch, made.batch, strict=True)))
        return made.step

    def _ended(self, step: int) -> str | None:
        """How the run ends with its last evaluation, if it does: by its own rule, or because who watches it says so."""
        records = self.recorder.history.records
        if should_stop(records, self.settings.train.early_stop):
            return "stopped early"
        return self.watch.evaluated(records[-1]) if step < self.course.total_steps else None
