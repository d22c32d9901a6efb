"""Whether eager execution waits for its ops: it always does here, whatever mode is asked for. Source: `tf.contrib.eager`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tfexp.runtime.eager import ASYNC, SYNC


def set_execution_mode(mode: int | None) -> None:
    """Accepts SYNC, ASYNC and None, and changes nothing. ValueError for others."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")


@contextlib.contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """The same for a block."""
    set_execution_mode(mode)
    yield


def async_wait() -> None:
    """Returns at once: every op has run when its call is over."""


def async_clear_error() -> None:
    """Does nothing: an op that fails says so in its call."""
