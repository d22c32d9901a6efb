"""What a thread knows of the task that it is the client of, where a coordinator (`tfexp.distribute.coordinator`) started it.

Source: `distribute_coordinator_context`, TF 1.15.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any


class _Current(threading.local):
    context: Any = None


_current = _Current()


def get_current_worker_context() -> Any:
    """The `WorkerContext` of this thread; None where no coordinator started it."""
    return _current.context


@contextlib.contextmanager
def entered(context: Any) -> Iterator[None]:
    """Within the block, `context` is this thread's. ValueError inside of another."""
    if _current.context is not None:
        raise ValueError("You cannot run distribute coordinator in a `worker_fn`.")
    _current.context = context
    try:
        yield
    finally:
        _current.context = None
