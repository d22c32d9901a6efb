"""Checkpoints as another process writes them: `tf.train.checkpoints_iterator`. Source: TF 1.15."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from tfexp.core.log import get_logger
from tfexp.formats.checkpoint_state import latest_checkpoint

_log = get_logger()


def wait_for_new_checkpoint(
    checkpoint_dir: str,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The newest checkpoint of a folder, as soon as it is another than the last; None after `timeout` seconds."""
    _log.info("Waiting for new checkpoint at %s", checkpoint_dir)
    ends = None if timeout is None else time.monotonic() + timeout
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            _log.info("Found new checkpoint at %s", found)
            return found
        if ends is not None and time.monotonic() + seconds_to_sleep > ends:
            return None
        threading.Event().wait(seconds_to_sleep)  # nobody wakes this: another process writes the file


def checkpoints_iterator(
    checkpoint_dir: str,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """The newest checkpoint again and again, each once, `min_interval_secs` apart.

    It ends when none comes for `timeout` seconds, unless `timeout_fn` is given: then when that says so.
    """
    last: str | None = None
    while True:
        found = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                _log.info("Timed-out waiting for a checkpoint.")
                return
            continue
        last, start = found, time.monotonic()
        yield found
        rest = start + min_interval_secs - time.monotonic()
        if rest > 0:
            threading.Event().wait(rest)  # nobody wakes this: it is how often the caller wants to look
