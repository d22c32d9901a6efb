"""`tf.train.checkpoints_iterator`: the checkpoints of a folder, as they are written. Source: TF 1.15."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from tfexp.formats.checkpoint_state import latest_checkpoint

__all__ = ["checkpoints_iterator"]

_LOOK_EVERY = 1.0
"""Seconds between two looks at the folder: nobody tells who reads it."""


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The newest checkpoint, and each time another one is the newest that one, `min_interval_secs` apart at least.

    If there is none for `timeout` seconds (None: ever), that is the end, unless there is a `timeout_fn` and it says False.
    """
    last: str | None = None
    while True:
        found = _another(checkpoint_dir, last, timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        last, began = found, time.monotonic()
        yield found
        threading.Event().wait(max(0.0, began + min_interval_secs - time.monotonic()))


def _another(folder: str, last: str | None, timeout: float | None) -> str | None:
    """The newest checkpoint once it is not `last`; None when that takes too long."""
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        found: str | None = latest_checkpoint(folder)
        if found is not None and found != last:
            return found
        left = _LOOK_EVERY if until is None else min(_LOOK_EVERY, until - time.monotonic())
        if left <= 0:
            return None
        threading.Event().wait(left)
