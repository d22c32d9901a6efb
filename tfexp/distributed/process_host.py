"""Tasks as processes of this machine: `cluster.hosting=process`, and the process's own main program.

A process gets its messages on its standard input, a line of JSON each, and sends its own on a pipe of its own; what it
prints goes to its log. When the pipe to it closes, its parent is gone, however that came: it ends at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from tfexp.distributed.hosting import (
    Hosting,
    HostingError,
    Message,
    Say,
    Sink,
    TaskSpec,
    begin_message,
    plural,
    port_of,
)

__all__ = ["ProcessHosting"]


class ProcessHosting(Hosting):
    """`logs`: the folder of `ps-0.log` and so on. `targets`: servers that tasks have instead of one of their own."""

    kind = "process"

    def __init__(self, logs: Path, targets: dict[str, str] | None = None):
        self._logs = logs
        self._targets = targets or {}
        self._processes: dict[str, _Process] = {}

    def start(self, tasks: Sequence[TaskSpec], sink: Sink, say: Say) -> None:
        say(f"starting {plural(len(tasks), 'process')}".replace("processs", "processes"))
        try:
            for task in tasks:
                self._begin(task, 0, sink)
        except HostingError:
            self.close(0)
            raise

    def _begin(self, task: TaskSpec, port: int, sink: Sink) -> None:
        begin = begin_message(task, "localhost", port=port, target=self._targets.get(task.name))
        try:
            self._processes[task.name] = _Process(task.name, begin, self._logs, sink)
        except OSError as error:
            raise HostingError(f"a process for {task.name} cannot be started: {error}") from error

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


class _Process:
    def __init__(self, name: str, begin: Message, logs: Path, sink: Sink):
        self._name, self._sink = name, sink
        reading, writing = os.pipe()
        try:
            with (logs / f"{name.replace(':', '-')}.log").open("ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tfexp.distributed.process_host", name, str(writing)],
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    pass_fds=[writing],
                    env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
                    start_new_session=True,  # Ctrl-C is for the driver, which then says what to do
                )
        except BaseException:
            os.close(reading)
            raise
        finally:
            os.close(writing)
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, args=[reading], name=f"tfexp-{name}", daemon=True)
        self._reader.start()
        self.send(begin)

    def send(self, message: Message) -> None:
        # A process that is gone has said so by the end of its pipe.
        with self._lock, contextlib.suppress(BrokenPipeError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb") as messages:
            for line in messages:
                self._sink(self._name, json.loads(line))
        code = self._process.wait()
        self._sink(self._name, {"kind": "exited", "why": _ended(code)})

    def end(self, grace: float) -> None:
        """Give it `grace` seconds to exit by itself, then end it."""
        if grace > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        with contextlib.suppress(BrokenPipeError):
            assert self._process.stdin is not None
            self._process.stdin.close()


def _ended(code: int) -> str:
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    return f"its process was killed by {name}"


class _Pipes:
    """The process's own side."""

    def __init__(self, sending: IO[bytes]):
        self._sending = sending
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        with self._lock:
            self._sending.write(json.dumps(message).encode() + b"\n")
            self._sending.flush()

    def receive(self) -> Message:
        line = sys.stdin.buffer.readline()
        if not line:
            raise EOFError
        message: Message = json.loads(line)
        return message

    def abandon(self) -> None:
        sys.stdout.flush()
        os._exit(1)


def main(arguments: list[str]) -> int:
    """`python -m tfexp.distributed.process_host NAME FD`: only a ProcessHosting starts this."""
    from tfexp.distributed.hosted import run_task

    descriptor = int(arguments[1])
    os.set_inheritable(descriptor, False)
    with os.fdopen(descriptor, "wb") as sending:
        run_task(_Pipes(sending))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
