"""Processes that tests start, and whether those have ended that need not be children of this one (Linux)."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Iterable, Iterator
from typing import Any


@contextlib.contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """As a block of `Popen`, but killed where a check fails: that one would wait for ever for what no one ends any more."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def all_ended(pids: Iterable[int], seconds: float = 60) -> bool:
    """Wait until all have ended, whether or not their parents have asked how (`pidfd_open`); False if that takes longer."""
    ends = time.monotonic() + seconds
    return all(_ended(pid, max(0.0, ends - time.monotonic())) for pid in pids)


def _ended(pid: int, seconds: float) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)
