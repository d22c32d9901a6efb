"""The devices of this process: which there are, what lists them, and where placements are logged."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from tfexp.core.device import DeviceName
from tfexp.core.errors import InvalidArgumentError
from tfexp.graph.operation import Operation
from tfexp.runtime.device_memory import memory_limits
from tfexp.runtime.gpus import real_gpus

TASK = "/job:localhost/replica:0/task:0"
CPU = f"{TASK}/device:CPU:0"


def local_devices(config: Any, task: str = TASK) -> tuple[str, ...]:
    """The devices that a ConfigProto (or None) asks for: its CPUs, and its GPUs.

    `device_count` says how many. Without it, there are the GPUs that JAX sees, and no more than those; where it sees none,
    GPUs are virtual and compute on the CPU. Of the GPUs, those are left that `gpu_options.visible_device_list` and the
    environment's `CUDA_VISIBLE_DEVICES` name. Raises InvalidArgumentError for a list that names no device of these.
    """
    counts = {} if config is None else dict(config.device_count)
    real = real_gpus(config)
    gpus = min(counts.get("GPU", real), real) if real else counts.get("GPU", 0)
    environment = os.environ.get("CUDA_VISIBLE_DEVICES")
    if environment is not None:
        gpus = min(gpus, len([number for number in environment.split(",") if number.strip() not in ("", "-1")]))
    visible = "" if config is None else config.gpu_options.visible_device_list
    if gpus and visible:
        for number in visible.split(","):
            if not number.strip().isdigit() or int(number) >= gpus:
                raise InvalidArgumentError(
                    None,
                    None,
                    f"'visible_device_list' ({visible!r}) names GPU {number.strip()!r}, but there are {gpus}, from 0 on",
                )
        gpus = len(visible.split(","))
    names = [f"{task}/device:CPU:{i}" for i in range(max(1, counts.get("CPU", 1)))]
    return (*names, *(f"{task}/device:GPU:{i}" for i in range(gpus)))


def is_virtual(device: str) -> bool:
    """Whether the device only stands in for one: a GPU that JAX does not see, and every CPU but the first."""
    name = DeviceName.parse(device)
    if name.device_type == "GPU":
        return not real_gpus(None)
    return (name.device_type, name.device_index) != ("CPU", 0)


def log_devices(devices: Sequence[str]) -> None:
    """Say on standard error which devices a session has. Source: `ConfigProto.log_device_placement`."""
    virtual = [name for name in devices if is_virtual(name)]
    lines = ["Device mapping:", *(f"{name} -> virtual, computes on the CPU" for name in virtual)]
    print("\n".join(lines) if virtual else "Device mapping: no known devices.", file=sys.stderr, flush=True)


def log_placement(op: Operation, device: str) -> None:
    """Say on standard error where a node is: `name: (Type): /job:…/device:…`."""
    print(f"{op.name}: ({op.type}): {device}", file=sys.stderr, flush=True)


class DeviceAttributes:
    """A device of a session: full name, type, memory limit in bytes, incarnation. Source: `_DeviceAttributes`, TF 1.15."""

    def __init__(self, name: str, memory_limit_bytes: int, incarnation: int = 0):
        self._name = name
        self._memory_limit_bytes = memory_limit_bytes
        self._incarnation = incarnation

    @property
    def name(self) -> str:
        return self._name

    @property
    def device_type(self) -> str:
        return DeviceName.parse(self._name).device_type or ""

    @property
    def memory_limit_bytes(self) -> int:
        return self._memory_limit_bytes

    @property
    def incarnation(self) -> int:
        return self._incarnation

    @property
    def is_virtual(self) -> bool:
        """Whether it only stands in for a device, and computes on the CPU."""
        return is_virtual(self._name)

    def __repr__(self) -> str:
        virtual = ", virtual" if self.is_virtual else ""
        return (
            f"_DeviceAttributes({self._name}, {self.device_type}, {self._memory_limit_bytes}, {self._incarnation}{virtual})"
        )


def list_local_devices(session_config: Any = None) -> list[Any]:
    """This process's devices as DeviceAttributes messages. Source: `device_lib.list_local_devices`, TF 1.15."""
    from tfexp.formats.protos.devices import DeviceAttributes as Message  # few list them

    limits = memory_limits(local_devices(session_config), session_config)
    listed = [DeviceAttributes(name.removeprefix(TASK), limit) for name, limit in limits.items()]
    return [
        Message(
            name=device.name,
            device_type=device.device_type,
            memory_limit=device.memory_limit_bytes,
            incarnation=device.incarnation,
            physical_device_desc="virtual, computes on the CPU" if device.is_virtual else "",
        )
        for device in listed
    ]
