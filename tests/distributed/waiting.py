"""An op that waits until it is cancelled, for tests of time-outs and cancellation.

Other tests look through the registry, so it is there only while a test that uses `registered` runs.
"""

from __future__ import annotations

import threading
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


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The op is known, and nothing is left of earlier uses."""
    monkeypatch.setitem(registry._OPS, wait.name, wait)
    while started.acquire(blocking=False):
        pass
