"""Whether the process that a run's manifest names is still at it."""

from __future__ import annotations

import datetime
import functools
import os
import platform
from pathlib import Path
from typing import Any

__all__ = ["at_work"]

_SLACK = 2.0
"""Seconds. The kernel rounds the time of its own start."""


def at_work(process: dict[str, Any]) -> bool | None:
    """Whether {"pid", "host", "began"} runs; None if it is another machine's. A pid that was given again does not count."""
    if process.get("host") != platform.node():
        return None
    pid = process.get("pid")
    if not isinstance(pid, int) or pid <= 0:
        return None
    if not Path("/proc/self/stat").exists():
        return _answers(pid)
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return False
    if fields[0] in "ZX":
        return False
    try:
        began = datetime.datetime.fromisoformat(str(process.get("began"))).timestamp()
    except ValueError:
        return True
    started = _boot_time() + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return started <= began + _SLACK


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@functools.cache
def _boot_time() -> float:
    for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    return 0.0
