"""The driver of a run on a cluster: it has the tasks hosted, follows them, and ends the run with its table or one error."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.distributed.gang import Gang, TaskFailed
from tfexp.distributed.hosting import Hosting as TaskHosting
from tfexp.distributed.hosting import HostingError, Message, TaskSpec, Work
from tfexp.experiment.course import Course
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.endings import diverged, go_on, stopped
from tfexp.experiment.errors import Diverged, ExperimentError, Interrupted
from tfexp.experiment.history import Record, read_records
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.progress import Progress, progress_for
from tfexp.experiment.replication import InGraph
from tfexp.experiment.report import show_result
from tfexp.experiment.resuming import begun, earlier_records, refuse_if_ended
from tfexp.experiment.schema import Cluster, Hosting, Settings
from tfexp.experiment.signals import StopRequest
from tfexp.experiment.transfer import to_plain

__all__ = ["look_back", "train"]

_CHIEF = "worker:0"


def look_back(folder: RunFolder, settings: Settings, dataset: Dataset, course: Course) -> int:
    """The step that the last checkpoint in the folder is of; raises ExperimentError when the run cannot go on from it."""
    begun(folder, dataset)
    path = tf.train.latest_checkpoint(str(folder.checkpoints))
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
    folder: RunFolder, settings: Settings, dataset: Dataset, course: Course, begin: int | None
) -> tuple[dict[str, Any], list[Record]]:
    """Train on the cluster, from step `begin` (None: from the start) to the end; the result and the evaluations."""
    return _Driver(folder, settings, dataset, course, begin).train()


def _say(text: str) -> None:
    print(text, flush=True)


class _Driver:
    def __init__(self, folder: RunFolder, settings: Settings, dataset: Dataset, course: Course, begin: int | None):
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
        self.alone = False
        """Whether the chief knows that all other workers have ended."""

    def train(self) -> tuple[dict[str, Any], list[Record]]:
        self.folder.logs.mkdir(exist_ok=True)
        hosting = _hosting(self.cluster, self.folder.logs)
        gang = Gang(hosting, self._tasks(), self.folder.logs, _say, self.cluster.start_within)
        with StopRequest(lambda: gang.wake("signal")) as stop:
            try:
                with gang:
                    rows = [dataclasses.asdict(row) for row in gang.rows]
                    self.folder.write_json(self.folder.tasks, {"hosting": hosting.kind, "tasks": rows})
                    done, seconds = self._follow(gang, stop)
                    gang.dismiss()
            except TaskFailed as error:
                raise self._failed(error) from error
            except HostingError as error:
                raise ExperimentError(str(error)) from error
            except Diverged as error:
                raise diverged(error, self.folder, self._last_checkpoint(), self._rate()) from None
            except KeyboardInterrupt:
                if stop.signal is None or self.ready:
                    raise
                raise Interrupted(stop.signal, "stopped before the first step: nothing was trained") from None
            return self._finish(done, rows, seconds, stop)

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

    def _follow(self, gang: Gang, stop: StopRequest) -> tuple[Message, float]:
        """See the workers through to their end; the chief's last word, and the seconds that the training took."""
        _say(f"waiting for {_CHIEF} to {'initialise' if self.begin is None else 'restore'} the variables")
        progress: Progress | None = None
        began, others = time.perf_counter(), set(self.workers) - {_CHIEF}
        with contextlib.ExitStack() as stack:
            while _CHIEF not in self.ended:
                name, message = gang.next()
                match message["kind"]:
                    case "signal":
                        _say("stopping: every worker ends its step, then everything is saved (Ctrl-C again to give up)")
                        gang.tell("stop", *self.workers)
                    case "ready":
                        self.ready.add(name)
                        if len(self.ready) == len(self.workers):
                            gang.tell("go", *self.workers)
                            began = time.perf_counter()
                            title, begin = self.settings.title, self.begin or 0
                            progress = progress_for(title, begin, self.course.total_steps)
                            stack.callback(progress.close)
                    case "progress":
                        if not any(self.made.values()):
                            _say(f"the first step was made {time.perf_counter() - self.began:.1f} s after the start")
                        self._show(progress, message)
                    case "enough":
                        gang.tell("stop", *self.workers)
                    case "ended":
                        self._end(progress, name, message["result"])
                if len(self.ready) == len(self.workers) and self.ended.keys() == others and not self.alone:
                    self.alone = True
                    gang.tell("alone", _CHIEF)
        return self.ended[_CHIEF], time.perf_counter() - began

    def _show(self, progress: Progress | None, message: Message) -> None:
        self.made.update(message["steps"])
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
        self, done: Message, rows: list[dict[str, Any]], seconds: float, stop: StopRequest
    ) -> tuple[dict[str, Any], list[Record]]:
        if done["ended"] == "interrupted":
            assert stop.signal is not None
            saved = str(self.folder.checkpoints / done["checkpoint"])
            raise stopped(stop.signal, done["step"], self.course.total_steps, saved, self.folder.path)
        steps = done["step"] - (self.begin or 0)
        timing = {
            "steps": steps,
            "seconds": seconds,
            "steps_per_second": steps / seconds,
            "steps_of": self.made,
        }
        result = {"numbers": done["numbers"], "timing": timing}
        records = read_records(self.folder.metrics)
        if "dropped" in records[-1]:
            result["dropped"] = dict(zip(self.made, records[-1]["dropped"], strict=True))
        self.folder.write_json(self.folder.result, result)
        values = {name: np.asarray(value, np.float32) for name, value in done["values"].items()}
        show_result(self.settings.title, result, self.folder.path, values, rows)
        return result, records

    def _last_checkpoint(self) -> str | None:
        found: str | None = tf.train.latest_checkpoint(str(self.folder.checkpoints))
        return found

    def _rate(self) -> float:
        return self.settings.optimizer.learning_rate

    def _failed(self, error: TaskFailed) -> ExperimentError:
        """One message: which task, why, what it printed last, and how to go on."""
        lines = [str(error)]
        printed = error.last_lines()
        if printed:
            log = self.folder.logs / error.log.name
            lines += [f"the end of {log}:", *(f"  {line}" for line in printed)]
        saved = self._last_checkpoint()
        lines.append(f"saved in {saved}\n{go_on(self.folder.path)}" if saved else "nothing was saved yet")
        return ExperimentError("\n".join(lines))


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
