"""How much memory each device has: what the machine, its control group and the session's options allow.

A CPU has what the machine has, or the process's control group where that is less, or what the environment's
`TF_CPU_BFC_MEM_LIMIT_IN_MB` says (TensorFlow's name for it). A virtual GPU has the part of it that
`gpu_options.per_process_gpu_memory_fraction` says; all, if it says nothing.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence
from typing import Any

from tfexp.core.device import DeviceName
from tfexp.core.errors import InvalidArgumentError

CPU_LIMIT = "TF_CPU_BFC_MEM_LIMIT_IN_MB"
_GROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory_limits(devices: Sequence[str], config: Any = None) -> dict[str, int]:
    """Bytes, by device. InvalidArgumentError for a fraction or a limit that is none."""
    cpu = _cpu_limit()
    fraction = 0.0 if config is None else config.gpu_options.per_process_gpu_memory_fraction
    if not 0.0 <= fraction <= 1.0:
        raise InvalidArgumentError(
            None, None, f"per_process_gpu_memory_fraction has to be in [0, 1] on virtual GPUs, but is {fraction:g}"
        )
    gpu = int(machine_memory() * (fraction or 1.0))
    return {name: cpu if (DeviceName.parse(name).device_type or "CPU") == "CPU" else gpu for name in devices}


def _cpu_limit() -> int:
    text = os.environ.get(CPU_LIMIT, "")
    if not text:
        return machine_memory()
    if not text.isdigit() or int(text) == 0:
        raise InvalidArgumentError(None, None, f"{CPU_LIMIT} has to be a number of MiB above 0, but is {text!r}")
    return min(machine_memory(), int(text) << 20)


@functools.cache
def machine_memory() -> int:
    """Bytes that this process may use at most: the machine's, or its control group's where that is less."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in _GROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError), open(path) as file:  # no such group, or "max"
            limits.append(int(file.read()))
    return min(limits)
