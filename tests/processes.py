"""Whether processes have ended that need not be children of this one: the kernel tells (`pidfd_open`, Linux)."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterable


def all_ended(pids: Iterable[int], seconds: float = 60) -> bool:
    """Wait until all have ended, whether or not their parents have asked how; False if that takes longer."""
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
