"""Where the tasks of a run live: the interface that Ray actors, local processes and servers elsewhere have in common.

A hosting starts one process (or finds one server) per task, carries messages to and from it, and says when it is gone. It
knows nothing of training: what a task does beside serving is `Work`, a function that is named, never sent. What the tasks
say to each other goes over their servers; here are only the few messages of a run's life:

from a task   `bound` (its port is found), `serving`, `alive` (every second), whatever its work sends, then `ended` with a
              result or `failed`
to a task     `begin`, `cluster` (all addresses), `moved` (all addresses, one of which is new), `stop` (end the work when it
              suits), whatever the work waits for, `exit`
of a hosting  `log` (bytes for the task's log), `exited` (the process is gone; the last word until it is started again; with
              `same_process` it is only the server that is gone, which is another one's); of no task, `gone`: what it runs
              on is not there any more, with all of them
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Hosting", "HostingError", "Message", "Say", "Sink", "TaskSpec", "Work", "begin_message", "port_of"]

Message = dict[str, Any]
"""`kind` and content, in JSON's types (bytes, too, in a `log`)."""
Sink = Callable[[str, Message], None]
"""Takes a task's name and a message; may be called by any thread."""
Say = Callable[[str], None]
"""Tells the person what is being waited for."""


class HostingError(Exception):
    """The tasks cannot be started; the message says which, and what to do."""


@dataclass(frozen=True)
class Work:
    """What a task does beside serving: `target` is "package.module:function", called with the Member and `arguments`.

    The arguments and the function's result are of JSON's types.
    """

    target: str
    arguments: dict[str, Any] = field(default_factory=dict)

    def function(self) -> Callable[..., Any]:
        module, _, name = self.target.partition(":")
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found


@dataclass(frozen=True)
class TaskSpec:
    """A task to host: the resources that it needs, and its work (None: it serves, and nothing else)."""

    job: str
    index: int
    work: Work | None = None
    cpus: float = 0.0
    gpus: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.job}:{self.index}"


class Hosting(ABC):
    """Starts tasks once, and ends them. Implementations pass `tests/contract/test_hostings.py`."""

    kind: str
    """What `tasks.json` calls it."""
    starts_again = True
    """Whether `restart` starts a process; if not, it waits for one that somebody else starts."""

    @abstractmethod
    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        """Bring up a process per task, which then sends `bound`; returns as soon as each has a place.

        Raises HostingError, with nothing left running, if that cannot be. What takes time is said before it is waited for.
        """

    @abstractmethod
    def restart(self, task: TaskSpec, address: str | None, sink: Sink) -> None:
        """Have the task again, which is gone or of no use any more: it sends `bound` anew, with `address` if it can.

        What is left of its process is ended first, and the new one's messages go to `sink`. Does not wait for it. Raises
        HostingError if no process can be started.
        """

    @abstractmethod
    def tell(self, task: str, message: Message) -> None:
        """Send a message to a task; nothing happens when it is gone."""

    @abstractmethod
    def close(self, grace: float) -> None:
        """End every task: those told to `exit` have `grace` seconds for it. Nothing is left running. May be repeated."""


def begin_message(
    task: TaskSpec,
    host: str,
    *,
    port: int = 0,
    target: str | None = None,
    place: str | None = None,
    environment: dict[str, str] | None = None,
) -> Message:
    """What a task's process gets first: where to bind its port, and what `tasks.json` calls its place.

    With `target` it serves nothing itself: the server there is its own. `port` is that of a former process of the task; it
    is taken if it is free. `environment` is added to its environment.
    """
    return {
        "kind": "begin",
        "job": task.job,
        "index": task.index,
        "host": host,
        "port": port,
        "target": target,
        "place": place,
        "environment": environment or {},
        "work": None if task.work is None else {"target": task.work.target, "arguments": task.work.arguments},
    }


def port_of(address: str | None) -> int:
    """The port of `host:port`; 0 where there is none."""
    port = (address or "").rpartition(":")[2]
    return int(port) if port else 0
