"""Who runs the ops of eager execution, and whether it waits for them. Source: TF 1.15's `python.eager.executor`, `context`.

Here ops are done when they return, also those of an asynchronous executor: there is never one to wait for.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from tfexp.runtime.eager import ASYNC, SYNC


class Executor:
    """Runs ops in the thread that calls them, whatever it was asked for."""

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


@contextlib.contextmanager
def executor_scope(e: Executor) -> Iterator[None]:
    """A block whose ops that executor runs."""
    before = _of_thread.executor
    _of_thread.executor = e
    try:
        yield
    finally:
        _of_thread.executor = before


def set_execution_mode(mode: int | None) -> None:
    """Have this thread's ops run in a mode: ASYNC, or SYNC, which is also None. ValueError for another.

    Source: `tf.contrib.eager.set_execution_mode`.
    """
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")
    _of_thread.executor = Executor(enable_async=mode == ASYNC)


@contextlib.contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """The same for a block. Source: `tf.contrib.eager.execution_mode`."""
    with executor_scope(current_executor()):
        set_execution_mode(mode)
        yield


def async_wait() -> None:
    """Returns when this thread's ops are done: at once. Source: `tf.contrib.eager.async_wait`."""
    current_executor().wait()


def async_clear_error() -> None:
    """Does nothing: an op that fails says so in its call. Source: `tf.contrib.eager.async_clear_error`."""
    current_executor().clear_error()
