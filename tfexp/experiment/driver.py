"""The driver of a run on a cluster: it has the tasks hosted, follows them, and ends the run with its table or one error."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import queue
import time
from pathlib import Path
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.distributed.gang import DRIVER, Gang, Restarts, TaskFailed
from tfexp.distributed.hosting import Hosting as TaskHosting
from tfexp.distributed.hosting import HostingError, Message, TaskSpec, Work
from tfexp.experiment.checkpoints import last_checkpoint
from tfexp.experiment.course import Course
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.endings import diverged, go_on, stopped
from tfexp.experiment.errors import Diverged, ExperimentError, Interrupted
from tfexp.experiment.history import Record, best_of, read_records
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.progress import Progress, progress_for
from tfexp.experiment.replication import InGraph
from tfexp.experiment.report import show_result
from tfexp.experiment.resuming import begun, earlier_records, refuse_if_ended
from tfexp.experiment.schema import Cluster, Hosting, Settings
from tfexp.experiment.signals import StopRequest
from tfexp.experiment.transfer import to_plain
from tfexp.experiment.watching import Watch

__all__ = ["look_back", "train"]

_CHIEF = "worker:0"
_LOOK_EVERY = 0.5
"""Seconds between two looks at whether who follows the run asks for its end."""


def look_back(folder: RunFolder, settings: Settings, dataset: Dataset, course: Course) -> int:
    """The step that the last checkpoint in the folder is of; raises ExperimentError when the run cannot go on from it."""
    begun(folder, dataset)
    path = last_checkpoint(folder)
    if path is None:
        raise ExperimentError(f"{folder.checkpoints} holds no checkpoint to resume from")
    try:
        step = int(tf.train.load_variable(path, "global_step"))
    except (tf.errors.OpError, ValueError) as error:
        message = error.message if isinstance(error, tf.errors.OpError) else str(error)
        raise ExperimentError(f"cannot resume from {path}: {message.splitlines()[0]}") from error
    refuse_if_ended(folder, settings, course, step, earlier_records(folder, settings, step))
    return step


def train(
    folder: RunFolder, settings: Settings, dataset: Dataset, course: Course, begin: int | None, watch: Watch
) -> tuple[dict[str, Any], list[Record]]:
    """Train on the cluster, from step `begin` (None: from the start) to the end; the result and the evaluations."""
    return _Driver(folder, settings, dataset, course, begin, watch).train()


def _say(text: str) -> None:
    print(text, flush=True)


class _Driver:
    def __init__(
        self, folder: RunFolder, settings: Settings, dataset: Dataset, course: Course, begin: int | None, watch: Watch
    ):
        self.watch = watch
        self.verdict: str | None = None
        """The status with which the watch has ended the run."""
        self.folder, self.settings, self.dataset, self.course, self.begin = folder, settings, dataset, course, begin
        self.cluster = settings.cluster
        in_graph = isinstance(settings.replication, InGraph)
        self.workers = [f"worker:{index}" for index in range(1 if in_graph else self.cluster.worker_count)]
        """Those that train by themselves."""
        self.began = time.perf_counter()
        self.step = begin or 0
        """The most updates, of all workers, that the driver has heard of."""
        self.made = {f"worker:{index}": 0 for index in range(self.cluster.worker_count)}
        self.ended: dict[str, Message] = {}
        self.ready: set[str] = set()
        self.going = self.alone = self.stopping = self.provided = False
        """Whether the workers were told to go, the chief that all others have ended, the workers to stop; and whether the
        chief has found or restored the variables since a parameter server was lost.
        """
        self.alone_until = settings.update.alone_until(course.total_steps, settings.copies)
        self.held: set[str] = set()
        """Those that are not told to go before the chief has come to that step."""
        self.lost_at: dict[str, float] = {}
        self.recoveries: dict[str, list[float]] = {}
        """When tasks were lost without which somebody does not train; the seconds until he did again."""
        self.before = dict.fromkeys(self.made, 0)
        """The steps of workers' former processes."""

    def train(self) -> tuple[dict[str, Any], list[Record]]:
        self.folder.logs.mkdir(exist_ok=True)
        self.hosting = hosting = _hosting(self.cluster, self.folder.logs)
        restarts = Restarts(self.cluster.restarts, self.cluster.silence)
        gang = Gang(hosting, self._tasks(), self.folder.logs, _say, self.cluster.start_within, restarts)
        with StopRequest(lambda: gang.wake("signal")) as stop:
            try:
                with gang:
                    self._write_rows(gang)
                    done, seconds = self._follow(gang)
                    gang.dismiss()
                    rows = self._write_rows(gang)
            except TaskFailed as error:
                raise self._failed(error) from error
            except HostingError as error:
                raise ExperimentError(f"{error}{self._saved() if self.going else ''}") from error
            except Diverged as error:
                raise diverged(error, self.folder, last_checkpoint(self.folder), self._rate()) from None
            except KeyboardInterrupt:
                if stop.signal is None or self.ready:
                    raise
                raise Interrupted(stop.signal, "stopped before the first step: nothing was trained") from None
            return self._finish(done, rows, seconds, stop, gang.restarted)

    def _write_rows(self, gang: Gang) -> list[dict[str, Any]]:
        rows = [dataclasses.asdict(row) for row in gang.rows]
        self.folder.write_json(self.folder.tasks, {"hosting": self.hosting.kind, "tasks": rows})
        return rows

    def _tasks(self) -> list[TaskSpec]:
        arguments = {
            "settings": to_plain(self.settings),
            "folder": str(self.folder.path.resolve()),
            "data_sha256": self.dataset.digest,
            "begin": self.begin,
            "working_directory": os.getcwd(),
        }
        work, c = Work("tfexp.experiment.replica:train", arguments), self.cluster
        servers = [TaskSpec("ps", index, None, c.ps_cpus, c.ps_gpus) for index in range(c.ps_count)]
        return servers + [
            TaskSpec("worker", i, work if i < len(self.workers) else None, c.worker_cpus, c.worker_gpus)
            for i in range(c.worker_count)
        ]

    # --- while it runs ---------------------------------------------------------------------------------------------

    def _follow(self, gang: Gang) -> tuple[Message, float]:
        """See the workers through to their end; the chief's last word, and the seconds that the training took."""
        _say(f"waiting for {_CHIEF} to {'initialise' if self.begin is None else 'restore'} the variables")
        progress: Progress | None = None
        began, others = time.perf_counter(), set(self.workers) - {_CHIEF}
        with contextlib.ExitStack() as stack:
            while _CHIEF not in self.ended:
                name, message = self._next(gang)
                match message["kind"]:
                    case "signal":
                        _say("stopping: every worker ends its step, then everything is saved (Ctrl-C again to give up)")
                        self._stop(gang)
                    case "ready":
                        self.ready.add(name)
                        if self.going:
                            self._catch_up(gang, name)
                        elif len(self.ready) == len(self.workers):
                            self.going = True
                            title, begin = self.settings.title, self.begin or 0
                            self.held = others if begin < self.alone_until else set()
                            gang.tell("go", *(worker for worker in self.workers if worker not in self.held))
                            began = time.perf_counter()
                            progress = progress_for(title, begin, self.course.total_steps)
                            stack.callback(progress.close)
                    case "progress":
                        if not any(self.made.values()):
                            _say(f"the first step was made {time.perf_counter() - self.began:.1f} s after the start")
                        self._show(progress, message)
                        self._goes_on(name)
                        if message["step"] >= self.alone_until:
                            self._let_all_go(gang)
                    case "evaluated":
                        self._judge(gang, message["record"])
                    case "enough":
                        self._stop(gang)
                    case "ended":
                        self._end(progress, name, message["result"])
                    case "lost" | "back" | "silent" | "heard" | "provided" as fate:
                        self._tell_of(gang, name, fate, message)
                if len(self.ready) == len(self.workers) and self.ended.keys() == others and not self.alone:
                    self.alone = True
                    gang.tell("alone", _CHIEF)
        return self.ended[_CHIEF], time.perf_counter() - began

    def _next(self, gang: Gang) -> tuple[str, Message]:
        """The next word of the gang, or of the watch if that asks for the end."""
        while self.stopping or self.watch.signal() is None:
            with contextlib.suppress(queue.Empty):
                return gang.next(_LOOK_EVERY)
        return DRIVER, {"kind": "signal"}

    def _judge(self, gang: Gang, record: Record) -> None:
        """Tell the chief whether the run goes on. What has ended it once does so again, if the chief is started again."""
        self.verdict = self.verdict or self.watch.evaluated(record)
        gang.tell("judged", _CHIEF, step=record["step"], status=self.verdict)

    def _stop(self, gang: Gang) -> None:
        self.stopping = True
        gang.tell("stop", *self.workers)
        self._let_all_go(gang)

    def _let_all_go(self, gang: Gang) -> None:
        """The chief has trained alone for long enough."""
        held, self.held = self.held, set()
        if held:
            _say(f"{', '.join(sorted(held))} begin after step {self.step}")
            gang.tell("go", *held)

    def _catch_up(self, gang: Gang, name: str) -> None:
        """Tell a worker that was started again what its former process knew."""
        if name not in self.held:
            gang.tell("go", name)
        if self.stopping:
            gang.tell("stop", name)
        if self.alone and name == _CHIEF:
            gang.tell("alone", name)

    def _tell_of(self, gang: Gang, name: str, fate: str, message: Message) -> None:
        """What happened to a task, in words; and what follows from it."""
        match fate:
            case "lost":
                # Where servers are somebody else's, a worker's own process is still the run's.
                own = name in self.workers and not message["same_process"]
                what = "starting it again" if own or self.hosting.starts_again else "waiting for it to come back"
                _say(f"{name} {message['why']}; {what} (restart {message['attempt']} of {message['of']})")
                self.lost_at[name] = time.perf_counter()
                if name not in self.workers:
                    self.provided = False
                elif not message["same_process"]:
                    self.before.update({worker: self.made[worker] for worker in self._trained_by(name)})
                if not self.going and not message["same_process"]:
                    self.ready.discard(name)
            case "back":
                _say(f"{name} serves again after {message['seconds']:.1f} s")
                self._write_rows(gang)
                if name not in self.workers:
                    gang.tell("lost", _CHIEF)
            case "silent":
                _say(f"nobody hears from {name} for {message['seconds']:.1f} s: it is suspended, or cut off")
            case "heard":
                _say(f"{name} is heard from again after {message['seconds']:.1f} s")
            case "provided" if self.going:
                self.provided = True
                restored = message["restored"]
                where = f"the variables were restored from {Path(restored).name}" if restored else "no step was lost"
                _say(f"{where}: going on after step {message['step']}")
                self.step = message["step"]

    def _trained_by(self, worker: str) -> list[str]:
        """The workers whose steps this one makes."""
        return list(self.made) if isinstance(self.settings.replication, InGraph) else [worker]

    def _goes_on(self, worker: str) -> None:
        """A worker has made a step: say so if that shows that a loss is overcome."""
        for task in [task for task in self.lost_at if task == worker or (task not in self.workers and self.provided)]:
            seconds = time.perf_counter() - self.lost_at.pop(task)
            self.recoveries.setdefault(task, []).append(round(seconds, 3))
            _say(f"{worker} trains again {seconds:.1f} s after {task} was lost")

    def _show(self, progress: Progress | None, message: Message) -> None:
        self.made.update({worker: self.before[worker] + steps for worker, steps in message["steps"].items()})
        if progress is not None and message["step"] > self.step:
            self.step = message["step"]
            detail = ", ".join(f"{worker} {steps}" for worker, steps in self.made.items())
            progress.step(self.step, message["loss"], detail)

    def _end(self, progress: Progress | None, name: str, result: Message) -> None:
        if result["status"] == "diverged":
            raise Diverged(result["step"], f"{name}: {result['message']}")
        if result["status"] == "refused":
            raise ExperimentError(result["message"] if name == _CHIEF else f"{name}: {result['message']}")
        self.ended[name] = result
        self._show(progress if name == _CHIEF else None, result)

    # --- the end ----------------------------------------------------------------------------------------------------

    def _finish(
        self, done: Message, rows: list[dict[str, Any]], seconds: float, stop: StopRequest, restarted: dict[str, int]
    ) -> tuple[dict[str, Any], list[Record]]:
        if done["ended"] == "interrupted":
            asked = stop.signal or self.watch.signal()
            assert asked is not None
            saved = str(self.folder.checkpoints / done["checkpoint"])
            raise stopped(asked, done["step"], self.course.total_steps, saved, self.folder.path)
        records = read_records(self.folder.metrics)
        timing = self._timing(done["step"] - (self.begin or 0), seconds, restarted)
        result = {"numbers": done["numbers"], "timing": timing, "best": best_of(records), **done["late"]}
        if self.dataset.skipped.rows:
            result["skipped"] = self.dataset.skipped.plain()
        if "dropped" in records[-1]:
            result["dropped"] = dict(zip(self.made, records[-1]["dropped"], strict=True))
        self.folder.write_json(self.folder.result, result)
        values = {name: np.asarray(value, np.float32) for name, value in done["values"].items()}
        show_result(self.settings.title, result, self.folder.path, values, rows, drawn=self.watch.draws)
        return result, records

    def _timing(self, steps: int, seconds: float, restarted: dict[str, int]) -> dict[str, Any]:
        """What `result.json` says of the time that the steps took, of the bytes of each, and of the tasks that were lost."""
        timing = {"steps": steps, "seconds": seconds, "steps_per_second": steps / seconds, "steps_of": self.made}
        moved = {name: result["bytes"] for name, result in self.ended.items() if result["bytes"] is not None}
        if moved:
            timing["bytes_per_step"] = dict(sorted(moved.items()))
        if any(restarted.values()):
            timing["restarts"] = {name: times for name, times in restarted.items() if times}
            timing["recovery_seconds"] = self.recoveries
        return timing

    def _rate(self) -> float:
        return self.settings.optimizer.learning_rate

    def _failed(self, error: TaskFailed) -> ExperimentError:
        """One message: which task, why, what it printed last, and how to go on."""
        lines = [str(error)]
        printed = error.last_lines()
        if printed:
            log = self.folder.logs / error.log.name
            lines += [f"the end of {log}:", *(f"  {line}" for line in printed)]
        return ExperimentError("\n".join(lines) + self._saved())

    def _saved(self) -> str:
        """How to go on, below what ended the run."""
        saved = last_checkpoint(self.folder)
        return f"\nsaved in {saved}\n{go_on(self.folder.path)}" if saved else "\nnothing was saved yet"


def _hosting(cluster: Cluster, logs: Path) -> TaskHosting:
    if cluster.hosting is Hosting.ray:
        from tfexp.distributed.ray_host import RayHosting

        return RayHosting(cluster.address, cluster.placement.value)
    if cluster.hosting is Hosting.process:
        from tfexp.distributed.process_host import ProcessHosting

        return ProcessHosting(logs)
    from tfexp.distributed.static_host import StaticHosting

    spec = {"ps": list(cluster.ps_hosts), "worker": list(cluster.worker_hosts)}
    return StaticHosting(tf.train.ClusterSpec(spec), logs, cluster.start_within)
