"""The tasks of one run as the driver sees them: all up or none, messages in one queue, the first failure named.

A task that is gone is started again, as often as `Restarts` says. Which words the driver hears of it, under its name:

lost     it is gone: `why`, and which restart of how many this is (`attempt`, `of`); `same_process`: only its server is
back     it serves again, after `seconds`
silent   nobody has heard of it for `seconds`; it may be suspended, or cut off
heard    it has been heard of again, after `seconds`

What a task of work fails with by itself is no such loss: it would fail again, and ends the run.
"""

from __future__ import annotations

import collections
import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tfexp.core.wording import plural
from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.hosting import Hosting, HostingError, Message, Say, TaskSpec
from tfexp.distributed.watchdog import Silent, Watchdog

__all__ = ["DRIVER", "Gang", "Restarts", "Row", "TaskFailed"]

DRIVER = ""
"""Whose messages `wake` puts in, and the hosting when it is gone as a whole."""

_REMIND_EVERY = 5.0
# Seconds in which a task that is gone is noticed: whoever misses it first may be heard before.
_BLAME_WITHIN = 2.0
_LINES = 12
# Seconds between two looks for tasks that say nothing, and how long they may say nothing: five times as long as they do.
_LOOK_EVERY, _SILENT_AFTER = 0.5, 5.0


class TaskFailed(Exception):  # noqa: N818 -- what happened, not an error of the program
    """A task has failed or is gone. `task` is its name, `log` its log file."""

    def __init__(self, task: str, why: str, log: Path):
        super().__init__(f"{task} {why}")
        self.task, self.why, self.log = task, why, log

    def last_lines(self) -> list[str]:
        """The end of the task's log."""
        if not self.log.exists():
            return []
        return self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES:]


@dataclass(frozen=True)
class Restarts:
    """How often each task may be started again, and after how many seconds of silence that is done (0: never)."""

    most: int = 0
    after_silence: float = 0.0


@dataclass(frozen=True)
class Row:
    """Where a task is; None is what is not known. `place` is what its hosting says more."""

    task: str
    host: str
    port: int | None
    pid: int | None
    place: str | None
    cores: int | None
    blas_threads: int | None


class Gang:
    """`with Gang(...) as gang`: every task serves, or TaskFailed or HostingError was raised; none is left after the block.

    `logs`: the folder of the tasks' logs. `start_within`: the seconds that the tasks have to be up, at first and when they
    are started again.
    """

    def __init__(
        self,
        hosting: Hosting,
        tasks: Sequence[TaskSpec],
        logs: Path,
        say: Say,
        start_within: float = 120.0,
        restarts: Restarts | None = None,
    ):
        self._hosting, self._tasks, self._logs, self._say = hosting, {task.name: task for task in tasks}, logs, say
        self._start_within, self._restarts = start_within, restarts or Restarts()
        # What was said, by which of a task's processes.
        self._events: queue.SimpleQueue[tuple[str, int, Message]] = queue.SimpleQueue()
        self._for_driver: collections.deque[tuple[str, Message]] = collections.deque()
        self._bound: dict[str, Message] = {}
        self._serving: dict[str, Message] = {}
        self._addresses: dict[str, str] = {}
        self._told: set[str] = set()  # the tasks whose processes know the cluster
        self._began: dict[str, float] = {}  # the tasks that are starting, and since when
        self._ended: set[str] = set()  # the tasks whose work has come to its end
        self.restarted: dict[str, int] = dict.fromkeys(self._tasks, 0)
        """How often each task was started again."""
        self._process = dict.fromkeys(self._tasks, 0)
        self._watchdog = Watchdog(_SILENT_AFTER)
        self._looked = 0.0
        self._grace = 0.0
        self.cluster = ClusterSpec({})

    # --- from start to end -----------------------------------------------------------------------------------------

    def __enter__(self) -> Gang:
        try:
            self._start()
        except BaseException:
            self._hosting.close(0)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._hosting.close(self._grace)

    def dismiss(self, grace: float = 5.0) -> None:
        """All work is done: tell everybody to exit, for which they have `grace` seconds when the block ends."""
        self.tell("exit")
        self._grace = grace

    def _start(self) -> None:
        self._began = dict.fromkeys(self._tasks, time.monotonic())
        self._hosting.start(list(self._tasks.values()), self._sink(0), self._say)
        for so_far, to_do in ((self._bound, "to start"), (self._serving, "to serve")):
            self._say(f"waiting for {', '.join(self._tasks)} {to_do}")
            said = time.monotonic()
            while len(so_far) < len(self._tasks):
                self._advance(_LOOK_EVERY)
                if any(name == DRIVER for name, _ in self._for_driver):
                    raise KeyboardInterrupt  # nothing has begun: there is nothing to save
                if len(so_far) < len(self._tasks) and time.monotonic() - said >= _REMIND_EVERY:
                    said = time.monotonic()
                    self._say(f"still waiting for {', '.join(name for name in self._tasks if name not in so_far)} {to_do}")

    # --- messages --------------------------------------------------------------------------------------------------

    def tell(self, kind: str, *names: str, **content: Any) -> None:
        """Send a message to these tasks; to all of them without names. One that is being started again does not get it."""
        for name in names or self._tasks:
            if name in self._told:
                self._hosting.tell(name, {"kind": kind, **content})

    def wake(self, kind: str) -> None:
        """Put a message from DRIVER into the queue; a signal handler may."""
        self._events.put((DRIVER, 0, {"kind": kind}))

    def next(self, timeout: float | None = None) -> tuple[str, Message]:
        """The next word of a task's work or of its fate; raises TaskFailed, HostingError, and queue.Empty after `timeout`
        seconds.
        """
        ends = float("inf") if timeout is None else time.monotonic() + timeout
        while not self._for_driver:
            left = ends - time.monotonic()
            self._advance(max(0.0, min(_LOOK_EVERY, left)))
            if left <= 0 and not self._for_driver:
                raise queue.Empty
        return self._for_driver.popleft()

    def _advance(self, seconds: float) -> None:
        """Deal with the next event, for which there are so many seconds, and with what comes with time."""
        self._look()
        try:
            name, process, message = self._events.get(timeout=seconds)
        except queue.Empty:
            return
        if name != DRIVER and process != self._process[name]:
            return  # the last words of one that was replaced
        found = self._taken(name, message)
        if found is not None:
            self._for_driver.append((name, found))

    def _sink(self, process: int) -> Any:
        def sink(name: str, message: Message) -> None:
            self._watchdog.hear(name, time.monotonic())
            if message["kind"] == "log":
                with self.log(name).open("ab") as log:
                    log.write(message["printed"])
            elif message["kind"] != "alive":
                self._events.put((name, process, message))

        return sink

    def _taken(self, name: str, message: Message) -> Message | None:
        """Deal with what is between the gang and the task; the rest is the driver's."""
        match message["kind"]:
            case "failed" | "exited":
                return self._lost(name, message)
            case "gone":
                raise HostingError(message["why"])
            case "bound":
                self._is_bound(name, message)
                return None
            case "serving":
                return self._serves(name, message)
            case "ended":
                self._ended.add(name)
        return message

    # --- up ----------------------------------------------------------------------------------------------------------

    def _is_bound(self, name: str, message: Message) -> None:
        first = len(self._bound) < len(self._tasks)
        self._bound[name] = message
        self._addresses[name] = message["address"]
        if len(self._bound) < len(self._tasks):
            return
        tasks: dict[str, dict[str, str]] = {}
        for other, task in self._tasks.items():
            tasks.setdefault(task.job, {})[str(task.index)] = self._addresses[other]
        self.cluster = ClusterSpec({job: {int(i): a for i, a in of.items()} for job, of in tasks.items()})
        on_host = collections.Counter(bound["host"] for bound in self._bound.values())
        if first:
            self._told.update(self._tasks)
            for other, bound in self._bound.items():
                self.tell("cluster", other, tasks=tasks, tasks_on_host=on_host[bound["host"]])
            return
        # Those that only serve hear of it first: whoever opens sessions must not know more than they do.
        others = [other for other in self._tasks if other != name]
        for other in sorted(others, key=lambda other: self._tasks[other].work is not None):
            self.tell("moved", other, tasks=tasks, task=name)
        self._told.add(name)
        self.tell("cluster", name, tasks=tasks, tasks_on_host=on_host[message["host"]])

    def _serves(self, name: str, message: Message) -> Message | None:
        if name not in self._told:
            return None  # a server that was gone again before this was heard
        again = self.restarted[name] > 0
        began = self._began.pop(name)
        self._serving[name] = message
        self._watchdog.watch(name, time.monotonic())
        return {"kind": "back", "seconds": time.monotonic() - began} if again else None

    def _look(self) -> None:
        """Find who says nothing, and who does not come up."""
        now = time.monotonic()
        if now - self._looked < _LOOK_EVERY / 2:
            return
        self._looked = now
        for change in self._watchdog.look(now):
            kind = "silent" if isinstance(change, Silent) else "heard"
            self._for_driver.append((change.task, {"kind": kind, "seconds": change.seconds}))
        if self._restarts.after_silence and self._hosting.starts_again:
            for name in self._watchdog.silent_for(self._restarts.after_silence, now):
                self._replace(name, f"nobody has heard of it for {self._restarts.after_silence:g} s")
        # Those that are bound may only wait for the others.
        starting = [name for name in self._began if name not in self._bound] or list(self._began)
        for name in starting:
            if now - self._began[name] <= self._start_within:
                continue
            if not self.restarted[name]:
                raise TaskFailed(name, f"did not come up within {self._start_within:g} s", self.log(name))
            if self._hosting.starts_again:
                self._replace(name, f"it did not come up within {self._start_within:g} s")

    def _replace(self, name: str, why: str) -> None:
        lost = self._lost(name, {"kind": "exited", "why": why})
        if lost is not None:
            self._for_driver.append((name, lost))

    # --- failures --------------------------------------------------------------------------------------------------

    def log(self, name: str) -> Path:
        return self._logs / f"{name.replace(':', '-')}.log"

    def _lost(self, name: str, message: Message) -> Message | None:
        """Start the task again, if it may; else raises TaskFailed. None if nobody needs it any more."""
        if message["kind"] == "exited" and name in self._ended:
            self._watchdog.leave(name)
            return None
        if not self._restarts.most or (message["kind"] == "failed" and not message["of_a_peer"]):
            raise self._blame(name, message)
        if self.restarted[name] >= self._restarts.most:
            times = self.restarted[name]
            failure = self._failure(name, message)
            again = f"after it was started again {plural(times, 'time')}, which is all that it may"
            raise TaskFailed(name, f"{failure.why}, {again}", failure.log)
        why = self._failure(name, message).why
        self.restarted[name] += 1
        self._serving.pop(name, None)
        self._told.discard(name)
        if len(self._bound) < len(self._tasks):
            self._bound.pop(name, None)
        self._watchdog.leave(name)
        self._began[name] = time.monotonic()
        if not message.get("same_process"):
            self._process[name] += 1
        self._hosting.restart(self._tasks[name], self._addresses.get(name), self._sink(self._process[name]))
        same = bool(message.get("same_process"))
        count = {"attempt": self.restarted[name], "of": self._restarts.most}
        return {"kind": "lost", "why": why, "same_process": same, **count}

    def _blame(self, name: str, message: Message) -> TaskFailed:
        """The failure that came first in fact: a task that misses another may be heard before that one's end is."""
        ends = time.monotonic() + _BLAME_WITHIN
        while message["kind"] == "failed" and message["of_a_peer"]:
            try:
                other, _, said = self._events.get(timeout=max(0.0, ends - time.monotonic()))
            except queue.Empty:
                break
            if said["kind"] == "exited" or (said["kind"] == "failed" and not said["of_a_peer"]):
                name, message = other, said
        return self._failure(name, message)

    def _failure(self, name: str, message: Message) -> TaskFailed:
        if message["kind"] == "failed":
            return TaskFailed(name, f"failed: {message['error']}: {message['message']}", self.log(name))
        where = None if self.restarted[name] and name in self._began else self._bound.get(name)
        which = f" (process {where['pid']} on {where['host']})" if where and where["pid"] else ""
        return TaskFailed(name, f"is gone{which}: {message['why']}", self.log(name))

    # --- where they are ---------------------------------------------------------------------------------------------

    @property
    def rows(self) -> list[Row]:
        rows = []
        for name in self._tasks:
            bound = self._bound[name]
            port = (bound["address"] or "").rpartition(":")[2]
            rows.append(
                Row(
                    task=name,
                    host=bound["host"],
                    port=int(port) if port else None,
                    pid=bound["pid"],
                    place=bound["place"],
                    cores=bound["cores"],
                    blas_threads=self._serving[name]["blas_threads"] if name in self._serving else None,
                )
            )
        return rows
