"""Tasks as threads of this process: whole cluster runs without the seconds that processes take to start."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping, Sequence

from tfexp.distributed.hosted import run_task
from tfexp.distributed.hosting import Hosting, HostingError, Message, Say, Sink, TaskSpec, begin_message
from tfexp.runtime import cpu


class ThreadHosting(Hosting):
    """`targets`: servers that tasks have instead of one of their own."""

    kind = "threads"

    def __init__(self, targets: Mapping[str, str] | None = None) -> None:
        self._targets = targets or {}
        self._links: dict[str, _Queues] = {}
        self._threads: list[threading.Thread] = []

    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        for task in tasks:
            link = self._links[task.name] = _Queues(task.name, sink)
            link.inbox.put(begin_message(task, "localhost", target=self._targets.get(task.name)))
            thread = threading.Thread(target=run_task, args=[link], name=f"task-{task.name}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def restart(self, task: TaskSpec, address: str | None, sink: Sink) -> None:
        raise HostingError(f"{task.name} was a thread, which nobody can end")

    def tell(self, task: str, message: Message) -> None:
        if task in self._links:
            self._links[task].inbox.put(message)

    def close(self, grace: float) -> None:
        for link in self._links.values():
            link.inbox.put({"kind": "exit"})
            link.inbox.put(None)
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive(), f"{thread.name} has not ended"
        cpu.share_cores(1)  # the tasks took this process for one of several


class _Queues:
    def __init__(self, name: str, sink: Sink) -> None:
        self._name, self._sink = name, sink
        self.inbox: queue.SimpleQueue[Message | None] = queue.SimpleQueue()

    def send(self, message: Message) -> None:
        self._sink(self._name, message)

    def receive(self) -> Message:
        message = self.inbox.get()
        if message is None:
            raise EOFError
        return message

    def abandon(self) -> None:
        """The thread that works ends by itself, when it is told to."""
