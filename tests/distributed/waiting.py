"""An op that waits until it is cancelled or let go, for tests of time-outs and cancellation.

Other tests look through the registry, so it is there only while a test that uses `registered` runs.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tfexp.core import op as registry
from tfexp.core.errors import CancelledError
from tfexp.core.op import define_op
from tfexp.core.shape import TensorShape

started = threading.Semaphore(0)
let_go = threading.Event()

wait = define_op("TestWait(x: float) -> (y: float) #stateful")


@wait.shape
def _(x: TensorShape) -> TensorShape:
    return x


@wait.kernel("CPU")
def _(ctx: Any, x: Any) -> Any:
    """`x`, once `let_go` is set; CancelledError when the step ends before that."""
    cancelled = threading.Event()
    undo = ctx.on_cancel(lambda: (cancelled.set(), let_go.set()))
    started.release()
    let_go.wait()
    undo()
    if cancelled.is_set():
        let_go.clear()
        raise CancelledError(None, None, "woken")
    return np.copy(x)


del registry._OPS[wait.name]


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The op is known, and nothing is left of earlier uses."""
    monkeypatch.setitem(registry._OPS, wait.name, wait)
    let_go.clear()
    while started.acquire(blocking=False):
        pass
    yield
    let_go.set()  # whoever still waits: the test is over
