"""Ctrl-C and SIGTERM as a request that the training loop reads between two steps."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

__all__ = ["StopRequest"]


class StopRequest:
    """Within `with StopRequest() as stop`, the first SIGINT or SIGTERM only sets `stop.signal`; a second one
    acts. `noted` is called from the handler: it may put something into a queue, not more.

    Only the main thread may set handlers; a run in another thread is not stopped by signals.
    """

    def __init__(self, noted: Callable[[], None] = lambda: None) -> None:
        self._noted = noted
        self.signal: int | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopRequest:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.signal = number
        self._restore()
        self._noted()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()
