"""Work that may have to wait, in a simulation: each in a thread, of which one runs at a time, in an order that a seed gives.

Whoever would sleep hands over to the simulation, which lets him look again after every event.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from tfexp.runtime import flow, waiting

__all__ = ["Killed", "Strand", "asleep", "handing_over"]


class Killed(BaseException):
    """Ends a strand whose process was killed, wherever it is."""


class _Current(threading.local):
    strand: Strand | None = None


_current = _Current()


class Strand:
    """Begins `work` at once; it is over, or asleep, when the constructor, and `advance`, return.

    `woken` is called in the strand whenever the runtime, which slept, goes on.
    """

    def __init__(self, work: Callable[[], None], woken: Callable[[], None] = lambda: None):
        self._work, self.woken = work, woken
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._arrived: Callable[[], bool] = lambda: True
        self._killed = self.over = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._stopped.acquire()

    def _run(self) -> None:
        _current.strand = self
        try:
            self._work()
        except Killed:
            pass  # as it was told to
        finally:
            self.over = True
            self._stopped.release()

    def advance(self) -> bool:
        """Let it go on if what it waits for is there; whether it has."""
        if self.over or not self._arrived():
            return False
        self._resume()
        return True

    def kill(self) -> None:
        self._killed = True
        while not self.over:
            self._resume()
        self._thread.join()

    def _resume(self) -> None:
        self._go.release()
        self._stopped.acquire()

    def sleep(self, arrived: Callable[[], bool]) -> None:
        if self._killed:
            raise Killed
        if arrived():
            return
        self._arrived = arrived
        self._stopped.release()
        self._go.acquire()
        if self._killed:
            raise Killed


def asleep(arrived: Callable[[], bool]) -> None:
    """In a strand: sleep until that holds."""
    assert _current.strand is not None
    _current.strand.sleep(arrived)


@contextlib.contextmanager
def handing_over() -> Iterator[None]:
    """In the block, what the runtime does in strands sleeps as they do."""
    original = waiting.sleep_until

    def sleep_until(arrived: Callable[[float], bool], *others: Any, **more: Any) -> None:
        if _current.strand is None:
            original(arrived, *others, **more)
        else:
            _current.strand.sleep(lambda: arrived(0.0))
            _current.strand.woken()

    with mock.patch.object(flow, "sleep_until", sleep_until), mock.patch.object(waiting, "sleep_until", sleep_until):
        yield
