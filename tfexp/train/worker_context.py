"""What a thread knows of the task that it is the client of, where a coordinator (`tfexp.distribute.coordinator`) started it.

Source: `distribute_coordinator_context`, TF 1.15.
"""

from __future__ import annotations

import threading
from typing import Any


class _Current(threading.local):
    context: Any = None


_current = _Current()


def get_current_worker_context() -> Any:
    """The `WorkerContext` of this thread; None where no coordinator started it."""
    return _current.context


class Enterable:
    """What is this thread's context within a `with` block. ValueError inside of another's."""

    def __enter__(self) -> Any:
        if _current.context is not None:
            raise ValueError("You cannot run distribute coordinator in a `worker_fn`.")
        _current.context = self
        return self

    def __exit__(self, *_: object) -> None:
        _current.context = None
