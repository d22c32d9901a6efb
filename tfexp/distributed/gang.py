"""The tasks of one run as the driver sees them: all up or none, messages in one queue, the first failure named."""

from __future__ import annotations

import collections
import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.hosting import Hosting, Message, Say, TaskSpec

__all__ = ["DRIVER", "Gang", "Row", "TaskFailed"]

DRIVER = ""
"""Whose messages `wake` puts in."""

_REMIND_EVERY = 5.0
# Seconds in which a task that is gone is noticed: whoever misses it first may be heard before.
_BLAME_WITHIN = 2.0
_LINES = 12


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

    `logs`: the folder of the tasks' logs. `start_within`: the seconds that the tasks have to be up.
    """

    def __init__(self, hosting: Hosting, tasks: Sequence[TaskSpec], logs: Path, say: Say, start_within: float = 120.0):
        self._hosting, self._tasks, self._logs, self._say = hosting, {task.name: task for task in tasks}, logs, say
        self._start_within = start_within
        self._events: queue.SimpleQueue[tuple[str, Message]] = queue.SimpleQueue()
        self._early: collections.deque[tuple[str, Message]] = collections.deque()  # from work that began before all served
        self._bound: dict[str, Message] = {}
        self._serving: dict[str, Message] = {}
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
        ends = time.monotonic() + self._start_within
        self._hosting.start(list(self._tasks.values()), self._sink, self._say)
        self._gather("bound", self._bound, "to start", ends)
        addresses: dict[str, dict[str, str]] = {}
        for name, task in self._tasks.items():
            addresses.setdefault(task.job, {})[str(task.index)] = self._bound[name]["address"]
        self.cluster = ClusterSpec({job: {int(i): a for i, a in tasks.items()} for job, tasks in addresses.items()})
        on_host = collections.Counter(message["host"] for message in self._bound.values())
        for name, message in self._bound.items():
            self.tell("cluster", name, tasks=addresses, tasks_on_host=on_host[message["host"]])
        self._gather("serving", self._serving, "to serve", ends)

    def _gather(self, kind: str, into: dict[str, Message], to_do: str, ends: float) -> None:
        """Wait until every task has sent a message of this kind."""
        self._say(f"waiting for {', '.join(self._tasks)} {to_do}")
        early: list[tuple[str, Message]] = []
        while len(into) < len(self._tasks):
            missing = [name for name in self._tasks if name not in into]
            try:
                name, message = self.next(min(_REMIND_EVERY, ends - time.monotonic()))
            except queue.Empty:
                if time.monotonic() >= ends:
                    why = f"did not come up within {self._start_within:g} s"
                    raise TaskFailed(missing[0], why, self.log(missing[0])) from None
                self._say(f"still waiting for {', '.join(missing)} {to_do}")
                continue
            if message["kind"] == kind:
                into[name] = message
            elif name == DRIVER:
                raise KeyboardInterrupt  # nothing has begun: there is nothing to save
            else:
                early.append((name, message))
        self._early.extend(early)

    # --- messages --------------------------------------------------------------------------------------------------

    def tell(self, kind: str, *names: str, **content: Any) -> None:
        """Send a message to these tasks; to all of them without names."""
        for name in names or self._tasks:
            self._hosting.tell(name, {"kind": kind, **content})

    def wake(self, kind: str) -> None:
        """Put a message from DRIVER into the queue; a signal handler may."""
        self._events.put((DRIVER, {"kind": kind}))

    def next(self, timeout: float | None = None) -> tuple[str, Message]:
        """The next message of a task's work; raises TaskFailed, and queue.Empty after `timeout` seconds."""
        if self._early:
            return self._early.popleft()
        name, message = self._events.get(timeout=None if timeout is None else max(0.0, timeout))
        if message["kind"] in ("failed", "exited"):
            raise self._blame(name, message)
        return name, message

    def _sink(self, name: str, message: Message) -> None:
        if message["kind"] == "log":
            with self.log(name).open("a", encoding="utf-8") as log:
                log.write(message["text"])
        else:
            self._events.put((name, message))

    # --- failures --------------------------------------------------------------------------------------------------

    def log(self, name: str) -> Path:
        return self._logs / f"{name.replace(':', '-')}.log"

    def _blame(self, name: str, message: Message) -> TaskFailed:
        """The failure that came first in fact: a task that misses another may be heard before that one's end is."""
        ends = time.monotonic() + _BLAME_WITHIN
        while message["kind"] == "failed" and message["of_a_peer"]:
            try:
                other, said = self._events.get(timeout=max(0.0, ends - time.monotonic()))
            except queue.Empty:
                break
            if said["kind"] == "exited" or (said["kind"] == "failed" and not said["of_a_peer"]):
                name, message = other, said
        if message["kind"] == "failed":
            return TaskFailed(name, f"failed: {message['error']}: {message['message']}", self.log(name))
        where = self._bound.get(name)
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
                    blas_threads=self._serving[name]["blas_threads"],
                )
            )
        return rows
