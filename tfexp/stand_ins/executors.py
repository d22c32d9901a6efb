"""`tensorflow.python.eager.executor`: who runs the ops of eager execution. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from tfexp.runtime.eager import ASYNC, SYNC


class Executor:
    """Here ops are done when they return, also those of an asynchronous executor: there is never one to wait for."""

    def __init__(self, enable_async: bool):
        self._is_async = enable_async

    def is_async(self) -> bool:
        """Whether it may return before an op is done."""
        return self._is_async

    def wait(self) -> None:
        """All ops are done."""

    def clear_error(self) -> None:
        """Errors were raised by the ops that had them: none is left."""


def new_executor(enable_async: bool) -> Executor:
    return Executor(enable_async)


class _OfThread(threading.local):
    executor = Executor(enable_async=False)


_of_thread = _OfThread()


def current_executor() -> Executor:
    """This thread's."""
    return _of_thread.executor


def set_execution_mode(mode: int | None) -> None:
    """Have this thread's ops run in a mode: ASYNC, or SYNC, which is also None. ValueError for another."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")
    _of_thread.executor = Executor(enable_async=mode == ASYNC)


@contextlib.contextmanager
def executor_scope(e: Executor) -> Iterator[None]:
    """A block whose ops that executor runs."""
    before = _of_thread.executor
    _of_thread.executor = e
    try:
        yield
    finally:
        _of_thread.executor = before
