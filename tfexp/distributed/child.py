"""A process of this machine that is ours: messages to it on its standard input, from it on a pipe of its own, JSON lines.

What it prints goes to its log. When the pipe to it closes, its parent is gone, however that came: it ends at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tfexp.distributed.hosting import Message, Sink

__all__ = ["Child", "Pipes", "pipes"]


class Child:
    """`python -m module NAME FD`, where FD is what it sends its messages to; its last word to `sink` is `exited`."""

    def __init__(self, module: str, name: str, log_path: Path, sink: Sink):
        self._name, self._sink = name, sink
        reading, writing = os.pipe()
        try:
            with log_path.open("ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", module, name, str(writing)],
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

    def send(self, message: Message) -> None:
        # A process that is gone has said so by the end of its pipe.
        with self._lock, contextlib.suppress(BrokenPipeError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, "rb") as messages:
            for line in messages:
                if line.endswith(b"\n"):  # the last one is torn if the process was killed while it wrote
                    self._sink(self._name, json.loads(line))
        code = self._process.wait()
        self._close_input()
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

    def _close_input(self) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError):
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


class Pipes:
    """The process's own side: a Link."""

    def __init__(self, sending: IO[bytes]):
        self._sending = sending
        self._lock = threading.Lock()

    def send(self, message: Message) -> None:
        try:
            with self._lock:
                self._sending.write(json.dumps(message).encode() + b"\n")
                self._sending.flush()
        except BrokenPipeError:
            self.abandon()  # what it does here is for nobody any more, and no failure of its own

    def receive(self) -> Message:
        line = sys.stdin.buffer.readline()
        if not line:
            raise EOFError
        message: Message = json.loads(line)
        return message

    def abandon(self) -> None:
        sys.stdout.flush()
        os._exit(1)


@contextlib.contextmanager
def pipes(arguments: list[str]) -> Iterator[Pipes]:
    """What a process that a Child has started with these arguments, NAME FD, has in the block."""
    # Raised in the main thread, while others wait for messages, it would end in an abort that hides what came.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    descriptor = int(arguments[1])
    os.set_inheritable(descriptor, False)
    with os.fdopen(descriptor, "wb") as sending:
        yield Pipes(sending)
