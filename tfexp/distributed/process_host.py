"""Tasks as processes of this machine: `cluster.hosting=process`, and the process's own main program.

How messages get to a process and back, and how it ends with its parent, is `child`'s business.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tfexp.core.wording import plural
from tfexp.distributed.child import Child, pipes
from tfexp.distributed.hosting import (
    Hosting,
    HostingError,
    Message,
    Say,
    Sink,
    TaskSpec,
    begin_message,
    port_of,
)

__all__ = ["ProcessHosting"]


class ProcessHosting(Hosting):
    """`logs`: the folder of `ps-0.log` and so on. `targets`: servers that tasks have instead of one of their own."""

    kind = "process"

    def __init__(self, logs: Path, targets: dict[str, str] | None = None):
        self._logs = logs
        self._targets = targets or {}
        self._processes: dict[str, Child] = {}

    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        say(f"starting {plural(len(tasks), 'process')}")
        try:
            for task in tasks:
                self._begin(task, 0, sink)
        except HostingError:
            self.close(0)
            raise

    def _begin(self, task: TaskSpec, port: int, sink: Sink) -> None:
        begin = begin_message(task, "localhost", port=port, target=self._targets.get(task.name))
        log = self._logs / f"{task.name.replace(':', '-')}.log"
        try:
            process = self._processes[task.name] = Child("tfexp.distributed.process_host", task.name, log, sink)
        except OSError as error:
            raise HostingError(f"a process for {task.name} cannot be started: {error}") from error
        process.send(begin)

    def restart(self, task: TaskSpec, address: str | None, sink: Sink) -> None:
        former = self._processes.pop(task.name, None)
        if former is not None:
            former.end(0)
        self._begin(task, port_of(address), sink)

    def tell(self, task: str, message: Message) -> None:
        process = self._processes.get(task)
        if process is not None:
            process.send(message)

    def close(self, grace: float) -> None:
        for process in self._processes.values():
            process.end(grace)
        self._processes.clear()


def main(arguments: list[str]) -> int:
    """`python -m tfexp.distributed.process_host NAME FD`: only a ProcessHosting starts this."""
    from tfexp.distributed.hosted import run_task

    with pipes(arguments) as link:
        run_task(link)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
