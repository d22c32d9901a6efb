"""How a request gets to a task: the interface that gRPC's channel and its in-process twin have in common."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from tfexp.core.errors import CancelledError, OpError, UnavailableError
from tfexp.distributed.inbox import Inbox
from tfexp.distributed.messages import Reply, Request

# Called once, with a reply or with an error.
OnDone = Callable[[Reply | None, OpError | None], None]


class Transport(Protocol):
    """A way to one task. May be used by several threads at once."""

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """The task's answer; raises its error, DeadlineExceededError after `timeout` seconds, UnavailableError."""
        ...

    def start(
        self, request: Request, done: OnDone, wait: bool = False, inbox: Inbox | None = None
    ) -> Callable[[OpError], None]:
        """Ask without waiting. `wait`: until the task is up. Returns what gives up on it, for a reason.

        `inbox`: of a thread that has nothing better to do than to read the answer, if the transport can use it.
        """
        ...

    def close(self) -> None:
        """What is under way ends with CancelledError."""
        ...


class Host(Protocol):
    """Whoever answers requests in this process (`task.Task`)."""

    def call(self, request: Request, timeout: float | None = None) -> Reply: ...

    def begin(self) -> int:
        """A number under which a call can be cancelled."""
        ...

    def run(self, number: int, request: Request, timeout: float | None = None) -> Reply: ...

    def cancel(self, number: int, error: OpError) -> None: ...


class InProcess:
    """A task of this process: nothing is copied, nothing encoded."""

    def __init__(self, host: Host):
        self._host = host
        self._threads = ThreadPoolExecutor(max_workers=64, thread_name_prefix="tfexp-in-process")
        self._lock = threading.Lock()
        self._calls: set[int] = set()
        self._closed = False

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        with self._lock:
            number = self._enter()
        try:
            return self._host.run(number, request, timeout)
        finally:
            self._leave(number)

    def _enter(self) -> int:
        if self._closed:
            raise UnavailableError(None, None, "The channel was closed")
        number = self._host.begin()
        self._calls.add(number)
        return number

    def _leave(self, number: int) -> None:
        with self._lock:
            self._calls.discard(number)

    def start(
        self, request: Request, done: OnDone, wait: bool = False, inbox: Inbox | None = None
    ) -> Callable[[OpError], None]:
        def run() -> None:
            try:
                reply, failure = self._host.run(number, request), None
            except OpError as error:
                reply, failure = None, error
            self._leave(number)
            done(reply, failure)

        with self._lock:
            number = self._enter()
            self._threads.submit(run)
        return lambda error: self._host.cancel(number, error)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            calls = list(self._calls)
            self._threads.shutdown(wait=False)
        for number in calls:
            self._host.cancel(number, CancelledError(None, None, "The channel was closed"))
