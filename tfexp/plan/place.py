"""Which device runs a node, and with which kernel. One task, for now with one CPU."""

from __future__ import annotations

from dataclasses import dataclass

from tfexp.core.device import DeviceName
from tfexp.core.errors import InvalidArgumentError
from tfexp.plan.ir import Draft, Node


@dataclass(frozen=True)
class Devices:
    """What a session may use: full device names, the first being the default. `soft`: a missing GPU becomes the CPU."""

    names: tuple[str, ...] = ("/job:localhost/replica:0/task:0/device:CPU:0",)
    soft: bool = False


def place(draft: Draft, devices: Devices) -> None:
    """Give every node its device and kernel; InvalidArgumentError for devices that are not there or lack a kernel."""
    chosen: dict[str, str] = {}
    for node in draft.nodes:
        if node.device not in chosen:
            chosen[node.device] = _device_for(node, devices)
        node.device = chosen[node.device]
        _find_kernel(node)


def _device_for(node: Node, devices: Devices) -> str:
    wanted = DeviceName.parse(node.device)
    full = [DeviceName.parse(name) for name in devices.names]
    for name, text in zip(full, devices.names, strict=True):
        if wanted.matches(name):
            return text
    if devices.soft:
        # Only type and index may give way: another job or task is another place altogether.
        place_only = DeviceName(wanted.job, wanted.replica, wanted.task)
        for name, text in zip(full, devices.names, strict=True):
            if place_only.matches(name):
                return text
    raise InvalidArgumentError(
        None,
        node.origin,
        f"Cannot assign a device for operation {node.name}: {{{{node {node.name}}}}} was explicitly assigned to "
        f"{node.device} but available devices are [ {', '.join(devices.names)} ]. Make sure the device specification refers "
        "to a valid device.",
    )


def _find_kernel(node: Node) -> None:
    kind = DeviceName.parse(node.device).device_type or "CPU"
    kernel = node.op.kernels.get(kind)
    if kernel is None:
        known = ", ".join(sorted(node.op.kernels)) or "no device"
        raise InvalidArgumentError(
            None,
            node.origin,
            f"No OpKernel was registered to support Op {node.type!r} used by {{{{node {node.name}}}}} on {kind} "
            f"(it has kernels for: {known})\n\t [[{node.name}]]",
        )
    node.kernel = kernel
