"""`tensorflow.python.framework.device` and `training.device_util`: merging and completing device names. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.device import DeviceName, DeviceSpec, DeviceSpecV2
from tfexp.graph.eager_tensor import DEVICE
from tfexp.graph.scopes import device, get_default_graph
from tfexp.graph.unpublished import executing_eagerly_outside_functions


def is_device_spec(obj: Any) -> bool:
    return isinstance(obj, DeviceSpecV2)


def check_valid(spec: str) -> None:
    """ValueError unless it is the name of a device, or part of one."""
    DeviceName.parse(spec)


def merge_device(spec: Any) -> Callable[[Any], str]:
    """A device function: what `spec` leaves open is as the node's device says."""
    own = DeviceName.parse(spec.to_string() if isinstance(spec, DeviceSpecV2) else spec or "")
    return lambda node_def: str(DeviceName.parse(node_def.device or "").merged_over(own))


def current() -> str:
    """The device that a node would get here, as far as names say; in eager execution, where values are computed."""
    if executing_eagerly_outside_functions():
        return DEVICE
    name = DeviceName()
    for entry in reversed(get_default_graph()._device_stack):
        if entry is None:
            break
        if isinstance(entry, str):
            name = name.merged_over(DeviceName.parse(entry))
    return str(name)


def canonicalize(d: str, default: str | None = None) -> str:
    """The whole name: of a task's first device, but for what `default`, and before it `d`, say.

    A graph's devices may be of any job, and none is put in; in eager execution they are of `localhost`.
    """
    job = "localhost" if executing_eagerly_outside_functions() else None
    name = DeviceName.parse(d).merged_over(DeviceName.parse(default or ""))
    return str(name.merged_over(DeviceName(job, 0, 0, "CPU", 0)))


def resolve(d: str) -> str:
    """The whole name, with what is open as here."""
    return canonicalize(d, default=current())


def get_host_for_device(device: str) -> str:
    """The first CPU of the task that has the device."""
    name = DeviceName.parse(device)
    return str(DeviceName(name.job, name.replica, name.task, "CPU", 0))


def local_devices_from_num_gpus(num_gpus: int) -> tuple[str, ...]:
    """The names of that many GPUs, or of the CPU where there are none."""
    return tuple(f"/device:GPU:{number}" for number in range(num_gpus)) or ("/device:CPU:0",)


__all__ = [
    "canonicalize",
    "check_valid",
    "current",
    "device",
    "get_host_for_device",
    "is_device_spec",
    "local_devices_from_num_gpus",
    "merge_device",
    "resolve",
]


class MergeDevice:
    """A device function (as `merge_device`'s) that answers with a DeviceSpec. TF 1.15's."""

    def __init__(self, spec: Any):
        self._spec = spec if isinstance(spec, DeviceSpecV2) else DeviceSpec.from_string(spec or "")

    def __call__(self, node_def: Any) -> Any:
        return DeviceSpec.from_string(merge_device(self._spec)(node_def))

    def shortcut_string_merge(self, node_def: Any) -> str:
        return merge_device(self._spec)(node_def)

    @property
    def is_null_merge(self) -> bool:
        """Whether it leaves every device as it is."""
        return not self._spec.to_string()

    def __repr__(self) -> str:
        return f"{super().__repr__()} (spec: {self._spec.to_string()})"
