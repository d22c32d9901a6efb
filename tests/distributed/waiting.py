"""An op that waits until it is cancelled, for tests of time-outs and cancellation.

Other tests look through the registry, so it is there only while a test that uses `registered` runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tfexp.core import op as registry
from tfexp.core.errors import CancelledError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape

started = threading.Semaphore(0)

wait = define_op("TestWait(x: float) -> (y: float) #stateful")


@wait.shape
def _(x: TensorShape) -> TensorShape:
    return x


@wait.kernel("CPU")
def _(ctx: Any, x: Any) -> Any:
    """Never ends by itself: CancelledError when the step is cancelled."""
    ended = threading.Event()
    undo = ctx.on_cancel(ended.set)
    started.release()
    ended.wait()
    undo()
    raise CancelledError(None, None, "woken")


del registry._OPS[wait.name]


def until_started() -> Iterator[float]:
    """Ever longer times, in seconds, until an op waits when one of them is over: how long it takes to begin nobody knows."""
    for seconds in (0.2, 2.0, 20.0):
        yield seconds
        if started.acquire(blocking=False):
            return
    pytest.fail("the op did not begin")


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The op is known, and nothing is left of earlier uses."""
    monkeypatch.setitem(registry._OPS, wait.name, wait)
    while started.acquire(blocking=False):
        pass
