"""What `Session.list_devices` and `device_lib.list_local_devices` list."""

from __future__ import annotations

from typing import Any

from tfexp.core.device import DeviceName
from tfexp.formats.protos import devices


class DeviceAttributes:
    """A device of a session: full name, type, memory limit in bytes, incarnation. Source: `_DeviceAttributes`, TF 1.15."""

    def __init__(self, name: str, memory_limit_bytes: int = 268435456, incarnation: int = 0):
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

    def __repr__(self) -> str:
        return f"_DeviceAttributes({self._name}, {self.device_type}, {self._memory_limit_bytes}, {self._incarnation})"


def list_local_devices(session_config: Any = None) -> list[Any]:
    """This process's devices as DeviceAttributes messages: its CPU. Source: `device_lib.list_local_devices`, TF 1.15."""
    cpu = DeviceAttributes("/device:CPU:0")
    return [
        devices.DeviceAttributes(
            name=cpu.name, device_type=cpu.device_type, memory_limit=cpu.memory_limit_bytes, incarnation=cpu.incarnation
        )
    ]
