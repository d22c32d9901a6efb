"""Give every node of a step its device and its kernel; which device it is, `plan.assign` says."""

from __future__ import annotations

from tfexp.core.device import DeviceName
from tfexp.core.errors import InvalidArgumentError
from tfexp.plan.assign import Places
from tfexp.plan.ir import Draft, Node


def place(draft: Draft, assignment: Places) -> None:
    """InvalidArgumentError for devices that are not there or lack a kernel."""
    assignment.place([node.origin for node in draft.nodes if _is_as_built(node)])
    for node in draft.nodes:
        if _is_as_built(node):
            node.device = assignment[node.origin]
        else:
            node.device = assignment.device_for(node.name, node.op, node.attrs, node.device, node.origin)
        _find_kernel(node)


def _is_as_built(node: Node) -> bool:
    """Whether the node is where the graph's is: not one that a call put somewhere else, or that a pass made."""
    return node.origin is not None and node.device == node.origin.device


def _find_kernel(node: Node) -> None:
    kind = DeviceName.parse(node.device).device_type or "CPU"
    # What stands in for a GPU computes on the CPU.
    kernel = node.op.kernels.get(kind) or (node.op.kernels.get("CPU") if kind == "GPU" else None)
    if kernel is None:
        known = ", ".join(sorted(node.op.kernels)) or "no device"
        raise InvalidArgumentError(
            None,
            node.origin,
            f"No OpKernel was registered to support Op {node.type!r} used by {{{{node {node.name}}}}} on {kind} "
            f"(it has kernels for: {known})\n\t [[{node.name}]]",
        )
    node.kernel = kernel
