"""`tensorflow.python.framework.device` and `training.device_util`: merging and completing device names. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.device import DeviceName, DeviceSpec
from tfexp.graph.scopes import device, get_default_graph


def is_device_spec(obj: Any) -> bool:
    return isinstance(obj, DeviceSpec)


def check_valid(spec: str) -> None:
    """ValueError unless it is the name of a device, or part of one."""
    DeviceName.parse(spec)


def merge_device(spec: Any) -> Callable[[Any], str]:
    """A device function: what `spec` leaves open is as the node's device says."""
    own = DeviceName.parse(spec.to_string() if isinstance(spec, DeviceSpec) else spec or "")
    return lambda node_def: str(DeviceName.parse(node_def.device or "").merged_over(own))


def current() -> str:
    """The device that a node would get here, as far as names say."""
    name = DeviceName()
    for entry in reversed(get_default_graph()._device_stack):
        if entry is None:
            break
        if isinstance(entry, str):
            name = name.merged_over(DeviceName.parse(entry))
    return str(name)


def canonicalize(d: str, default: str | None = None) -> str:
    """The whole name: of this process's first device, but for what `default`, and before it `d`, say."""
    name = DeviceName.parse(d).merged_over(DeviceName.parse(default or ""))
    if name.job is None:
        name = name.merged_over(DeviceName("localhost"))
    return str(name.merged_over(DeviceName(None, 0, 0, "CPU", 0)))


def resolve(d: str) -> str:
    """The whole name, with what is open as here."""
    return canonicalize(d, default=current())


__all__ = ["canonicalize", "check_valid", "current", "device", "is_device_spec", "merge_device", "resolve"]
