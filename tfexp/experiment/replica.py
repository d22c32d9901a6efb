"""A worker's part of a run on a cluster: it builds the graph and trains with it.

With `replication=in_graph` the first one alone does, for all, and the others only serve; else every worker does.
The first of them, the chief, alone initialises or restores, evaluates, writes summaries and saves; the others wait until
the variables have their values. Which of the steps a worker makes is said in `turns`, on which rows in `inputs.input.Share`.
When a task that they need is lost, workers go on in a new session (`recovering`); with `replication=all_reduce` the run
ends (`in_step`).
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tfexp as tf
from tfexp.distributed.hosted import Member
from tfexp.distributed.traffic import Meter
from tfexp.experiment.build import session_config
from tfexp.experiment.checkpoints import Checkpoints
from tfexp.experiment.course import Course, due
from tfexp.experiment.datasets.dataset import prepare
from tfexp.experiment.endings import says_when_full
from tfexp.experiment.errors import Diverged, ExperimentError
from tfexp.experiment.history import Record, should_stop
from tfexp.experiment.in_graph import program_of
from tfexp.experiment.in_step import InStep, OwnState
from tfexp.experiment.lateness import noting, of_result
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.recorder import Recorder
from tfexp.experiment.recovering import State, fed
from tfexp.experiment.replication import InGraph
from tfexp.experiment.resuming import dropped_before, earlier_records
from tfexp.experiment.together import Together
from tfexp.experiment.transfer import from_plain
from tfexp.experiment.turns import Apart, Over, Turns, check_loss, turns_of_client
from tfexp.experiment.update import Sync

__all__ = ["train"]

_LOOK_EVERY = 0.1
"""Seconds between two looks of a waiting worker at the variables."""
_REPORT_EVERY = 0.2
"""Seconds between two words to the driver."""


def train(member: Member, arguments: dict[str, Any]) -> dict[str, Any]:
    """The work of a worker task; `arguments` are what `driver` says.

    Returns its `status` ("done", "diverged", "refused") with what belongs to it.
    """
    if os.path.isdir(arguments["working_directory"]):
        os.chdir(arguments["working_directory"])
    try:
        return _Replica(member, arguments).train()
    except Diverged as error:
        return {"status": "diverged", "step": error.step, "message": str(error)}
    except ExperimentError as error:
        return {"status": "refused", "message": str(error)}


class _Replica:
    def __init__(self, member: Member, arguments: dict[str, Any]):
        self.member, self.begin = member, arguments["begin"]
        self.is_chief = member.index == 0
        self.settings = from_plain(arguments["settings"])
        self.dataset = self.settings.input.prepare(prepare(self.settings.data))
        if self.dataset.digest != arguments["data_sha256"]:
            raise ExperimentError(f"the data ({self.dataset.origin}) is not what it is where the run was started")
        self.course = Course.of(self.settings, self.dataset)
        self.files = RunFiles(Path(arguments["folder"]))
        self.program = program_of(self.settings, self.dataset, member.cluster, member.index)
        copies, total = self.settings.copies, self.course.total_steps
        self.alone_until = self.settings.update.alone_until(total, copies)
        self.turns = self._turns()
        self.step = self.begin or 0
        """The most updates that it has seen, of all workers."""
        self.loss = math.nan
        self.meter = Meter(member.server.traffic) if member.server is not None else None
        """Of what this task's steps send and receive; a server that is another process says nothing of it."""
        self.gone = self.alone = False
        """Whether it was told to go, and that all others have ended."""

    def _turns(self) -> Turns:
        if isinstance(self.settings.replication, InGraph):
            return turns_of_client(self.program, self.course.total_steps, self.settings.copies, self.alone_until)
        if self.program.peers is not None:
            return InStep(self.program, self.course.total_steps, chief=self.is_chief)
        if self.settings.update.together:
            spare = isinstance(self.settings.update, Sync) and self.settings.update.spare > 0
            return Together(self.program, self.course.total_steps, chief=self.is_chief, spare=spare)
        return Apart(self.program, self.course.total_steps, self.settings.copies)

    def train(self) -> dict[str, Any]:
        config = session_config(self.settings)
        if not isinstance(self.settings.replication, InGraph):
            # What the other workers do, and whether they are there, is none of this one's business.
            config.device_filters.extend(["/job:ps", f"/job:worker/task:{self.member.index}"])
        if self.program.peers is not None:
            config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
        kind = State if self.program.peers is None else OwnState
        self.state = kind(self.member, self.program, Checkpoints(self.files, self.program), config)
        return self._seen_through(self.files)

    @says_when_full
    def _seen_through(self, files: RunFiles) -> dict[str, Any]:
        return self.state.see_through(self._in_a_session)

    def _in_a_session(self) -> dict[str, Any]:
        """The worker's part, or what is left of it; raises what `recovering` overcomes."""
        if not self.is_chief:
            with self.state.waited_for(_LOOK_EVERY) as session:
                began = time.perf_counter()
                with contextlib.suppress(Over), self._fed(session):
                    self._wait_to_go(session)
                    began = time.perf_counter()
                    self.turns.begin(session, self.step)
                    self._loop(session, None)
                return self._done(time.perf_counter() - began)
        with self.state.provided(restore=self.begin is not None) as session, self._fed(session):
            return self._lead(session)

    @contextlib.contextmanager
    def _fed(self, session: tf.Session) -> Iterator[None]:
        """Batches come in the block, from where all workers have come to."""
        self.step = self.turns.join(session)
        try:
            with fed(self.program.batches, session, self.step):
                yield
        except BaseException:
            self.turns.abandon()
            raise

    def _lead(self, session: tf.Session) -> dict[str, Any]:
        """The chief's part."""
        keep_best = self.settings.train.keep_best
        recorder = Recorder(self.files, self.dataset, self.program, self.course, session, keep_best=keep_best)
        turns = self.turns
        records = earlier_records(self.files, self.settings, self.step)
        with recorder.open(records):
            recorder.checkpoints.adopt()
            recorder.note = self._note(session, records)
            # A session may be lost when a step was made and before it was evaluated.
            if not records or due(self.settings.train.eval_every, self.step, records[-1]["step"]):
                recorder.evaluate(self.step)
            if recorder.checkpoints.last is None:
                self._save(recorder)
            self.member.send("provided", step=self.step, restored=self.state.restored)
            self._wait_to_go(session)
            began = time.perf_counter()
            stopped = should_stop(records, self.settings.train.early_stop)  # before it was started again
            turns.begin(session, self.step)
            status = "stopped early" if stopped else self._loop(session, recorder)
            turns.end(session)
            if isinstance(turns, Apart):
                self._wait_to_be_alone(session)
            self.step = int(session.run(self.program.global_step))
            if isinstance(turns, Apart) and status == "finished" and not self.member.stopping:
                turns.alone = True
                self._loop(session, recorder)
            seconds = time.perf_counter() - began
            interrupted = self.member.stopping and status == "finished" and self.step < self.course.total_steps
            if not interrupted and recorder.history.records[-1]["step"] != self.step:
                recorder.evaluate(self.step)
            self._save(recorder)
            turns.dismiss(session)
            self._wait_to_be_alone(session)
            done = {**self._done(seconds), "checkpoint": Path(str(recorder.checkpoints.last)).name}
            return {**done, "ended": "interrupted"} if interrupted else {**done, **self._result(recorder, status)}

    def _result(self, recorder: Recorder, status: str) -> dict[str, Any]:
        """What the driver is told of a run that came to its end."""
        values = {name: value.tolist() for name, value in recorder.short_values().items()}
        copies = [f"worker:{number}" for number in range(self.settings.copies)]
        late = of_result(recorder.history.records[-1], copies, self.program.stale)
        return {"ended": status, "numbers": recorder.numbers(status, self.step), "values": values, "late": late}

    def _wait_to_go(self, session: tf.Session) -> None:
        """All workers begin together, once the chief has recorded where they begin."""
        if not self.gone:
            self.member.send("ready")
            self.state.wait_for("go", session)
            self.gone = True

    def _wait_to_be_alone(self, session: tf.Session) -> None:
        """All other workers have ended."""
        if not self.alone:
            self.state.wait_for("alone", session)
            self.alone = True

    def _done(self, seconds: float) -> dict[str, Any]:
        done = {"status": "done", "step": self.step, "steps": self._steps(), "seconds": seconds, "loss": self.loss}
        return {**done, "bytes": self._bytes_per_step()}

    def _bytes_per_step(self) -> dict[str, int] | None:
        """What a step of this task has sent and received, in the mean; None where that cannot be said."""
        if self.meter is None or not self.turns.own or self.program.others:
            return None
        return {"sent": self.meter.sent // self.turns.own, "received": self.meter.received // self.turns.own}

    def _note(self, session: tf.Session, records: list[Record]) -> Callable[[], Record]:
        """What says what an evaluation records beside its numbers: of late gradients, dropped or not, and of bytes."""
        late: Callable[[], Record] = dict
        dropped = self.turns.dropped(session)
        if self.program.stale is not None:
            late = noting(self.program.stale, session, records)
        elif dropped is not None:
            before = dropped_before(records, len(dropped))

            def late() -> Record:
                return {"dropped": list(map(int.__add__, before, self.turns.dropped(session) or before))}

        def note() -> Record:
            moved = self._bytes_per_step()
            return late() if moved is None else {**late(), "bytes_per_step": moved}

        return note

    def _steps(self) -> dict[str, int]:
        """Steps made here, by worker."""
        made = self.turns.steps()
        return {f"worker:{number}": steps for number, steps in enumerate(made, self.member.index)}

    def _loop(self, session: tf.Session, recorder: Recorder | None) -> str:
        """Train while there are steps for this worker, or until it is asked to stop; says how it ended.

        Raises Over where the chief has ended it.
        """
        train, turns = self.settings.train, self.turns
        batch = (self.program.features, self.program.labels) if recorder is not None and train.summary_every else ()
        reported = time.perf_counter()
        # Workers that make their steps together also stop together, when the chief does.
        obeys = self.is_chief or not isinstance(turns, Together | InStep)
        while not (self.member.stopping and obeys) and turns.may_begin(self.step):
            traced = bool(recorder is not None and train.trace_every and (turns.own + 1) % train.trace_every == 0)
            made = turns.make(session, batch, traced=traced, metered=self.meter)
            before, self.step, self.loss = self.step, made.step, made.loss
            if recorder is not None and made.metadata is not None:
                recorder.trace(self.step, made.metadata)
            check_loss(self.loss, self.step)
            now = time.perf_counter()
            if now - reported >= _REPORT_EVERY or turns.own == 1 or before < self.alone_until <= self.step:
                reported = now
                self.member.send("progress", step=self.step, steps=self._steps(), loss=self.loss)
            if recorder is None:
                continue
            if due(train.summary_every, self.step, before):
                recorder.summarize(self.step, dict(zip(batch, made.batch, strict=True)))
            if due(train.eval_every, self.step, before):
                with turns.held(session):
                    recorder.evaluate(self.step)
                ended = self._ended(session, recorder.history.records)
                if ended is not None:
                    self.member.send("enough")
                    return ended
            if due(train.checkpoint_every, self.step, before) and self.step < self.course.total_steps:
                with turns.held(session):
                    self._save(recorder)
        return "finished"

    def _ended(self, session: tf.Session, records: list[Record]) -> str | None:
        """How the run ends with its last evaluation, if it does: by its own rule, or because who follows it says so."""
        if should_stop(records, self.settings.train.early_stop):
            return "stopped early"
        if self.step >= self.course.total_steps:
            return None
        self.member.send("evaluated", record=records[-1])
        # What is said of another step was for a former process, or session, of the chief's.
        while (judged := self.state.wait_for("judged", session))["step"] != self.step:
            pass
        status: str | None = judged["status"]
        return status

    def _save(self, recorder: Recorder) -> None:
        recorder.save(self.step)
        path = str(recorder.checkpoints.last)
        if not tf.train.checkpoint_exists(path):
            raise ExperimentError(
                f"worker:0 wrote {path} where it runs, and it cannot be seen from here: the run's folder must be on storage "
                "that both have (hydra.run.dir)"
            )
