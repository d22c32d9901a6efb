"""`tensorflow.python.grappler.cluster`: the devices that a graph is optimised for. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from tfexp.core.op import all_ops
from tfexp.formats.protos.device_properties import DeviceProperties, NamedDevice
from tfexp.runtime.device_list import TASK, list_local_devices


class Cluster:
    """The devices given as NamedDevice messages, or this process's own. What ops cost there is not told."""

    def __init__(
        self,
        allow_soft_placement: bool = True,
        disable_detailed_stats: bool = True,
        disable_timeline: bool = True,
        devices: Sequence[Any] | None = None,
    ):
        self._devices = _own_devices() if devices is None else list(devices)

    def ListDevices(self) -> list[Any]:
        """The NamedDevice messages."""
        return list(self._devices)

    def ListAvailableOps(self) -> list[str]:
        """The names of all ops, in order."""
        return sorted(all_ops())

    def Shutdown(self) -> None:
        """Devices that are only described need no closing."""


@contextlib.contextmanager
def Provision(
    allow_soft_placement: bool = True,
    disable_detailed_stats: bool = True,
    disable_timeline: bool = True,
    devices: Sequence[Any] | None = None,
) -> Iterator[Cluster]:
    """A Cluster for the length of a `with` block."""
    cluster = Cluster(allow_soft_placement, disable_detailed_stats, disable_timeline, devices)
    try:
        yield cluster
    finally:
        cluster.Shutdown()


def _own_devices() -> list[Any]:
    return [
        NamedDevice(
            name=TASK + device.name, properties=DeviceProperties(type=device.device_type, memory_size=device.memory_limit)
        )
        for device in list_local_devices()
    ]
