"""Tells tests when a step has gone to sleep, and ends it then, so that they need not guess how long that takes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

import tfexp as tf
from tfexp.runtime import flow, waiting
from tfexp.runtime.step import StepState

# More than any step takes to go to sleep, or to wake up, on a busy machine.
PATIENCE = 30.0


class Asleep:
    """`wait()` returns when one more step sleeps."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self._fell_asleep = threading.Semaphore(0)
        real = waiting.sleep_until

        def sleep_until(*args: Any, **kwargs: Any) -> None:
            self._fell_asleep.release()
            real(*args, **kwargs)

        for module in (waiting, flow):
            monkeypatch.setattr(module, "sleep_until", sleep_until)

    def wait(self, count: int = 1) -> None:
        for _ in range(count):
            assert self._fell_asleep.acquire(timeout=PATIENCE), "no step went to sleep"


def soon(session: Any, fetches: Any, feeds: Any = None) -> Any:
    """A run whose time is up when it has to sleep, and not before, however busy the machine is."""
    real = waiting.sleep_until

    def sleep_until(arrived: Callable[[float], bool], state: StepState | None, *rest: Any) -> None:
        if state is not None and state.deadline is not None:
            if arrived(0.0):
                return
            state.expire()
        real(arrived, state, *rest)

    with patch.object(waiting, "sleep_until", sleep_until), patch.object(flow, "sleep_until", sleep_until):
        return session.run(fetches, feeds, options=tf.RunOptions(timeout_in_ms=60_000))


class Background:
    """A call in a thread of its own: `result()` gives what it gave, or raises what it raised."""

    def __init__(self, call: Callable[[], Any]):
        self._value: Any = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(call,), daemon=True)
        self._thread.start()

    def _run(self, call: Callable[[], Any]) -> None:
        try:
            self._value = call()
        except BaseException as error:
            self._error = error

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def result(self) -> Any:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "it does not end"
        if self._error is not None:
            raise self._error
        return self._value
