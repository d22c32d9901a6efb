"""What `Session.list_devices` lists."""

from __future__ import annotations

from tfexp.core.device import DeviceName


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
