"""The simple placer: which device of which task runs a node, by TensorFlow's rules for partial names.

A node that has been placed stays where it is; one that is pinned goes there; any other goes to the default device, which is
the first GPU if there is one and it has a kernel, else the CPU. Nodes that share a reference or a resource, and nodes with
`_class: loc:@…`, go together. What a name leaves open is filled in so: the master's own task where that fits (as with no
job at all), else the first that does, for a job its task 0. One thing is for a cluster to settle: a variable that is pinned
nowhere lives on the first task by name, so that every master of the cluster finds the same one (chapter 12 of the course:
one client's `x` is every other client's `x`, whatever server each talks to).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from tfexp.core import dtypes
from tfexp.core.device import DeviceName
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op
from tfexp.core.text import as_text
from tfexp.graph.operation import Operation
from tfexp.plan.gpu import has_gpu_kernel

_VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})


class Places(Protocol):
    """Who says where nodes are."""

    def place(self, ops: Iterable[Operation]) -> None: ...

    def __getitem__(self, op: Operation) -> str: ...

    def device_for(self, name: str, op: Op, attrs: Mapping[str, Any], wanted: str, origin: Operation | None) -> str: ...

    def is_heavy(self, op: Operation) -> bool:
        """Whether the node is known to take longer than a request to another task."""
        ...


class Assignment:
    """The devices of a session's nodes.

    `devices`: full names, the master's own first. `soft`: where a device is missing or has no kernel, the task's CPU does.
    `log`: called with each node and its device, once.
    """

    def __init__(self, devices: Sequence[str], soft: bool = False, log: Callable[[Operation, str], None] | None = None):
        self._names = tuple(devices)
        self._parsed = tuple(DeviceName.parse(name) for name in devices)
        self._home = self._parsed[0]
        self._only_cpu = len(self._parsed) == 1 and self._home.device_type == "CPU"
        self._shared = min(self._parsed, key=lambda d: (d.job or "", d.task or 0, d.device_type != "CPU"))
        self._soft = soft
        self._log = log
        self._device_of: dict[Operation, str] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    def __getitem__(self, op: Operation) -> str:
        return self._device_of[op]

    def place(self, ops: Iterable[Operation]) -> None:
        """Give every one of these nodes its device. InvalidArgumentError when one cannot have what it asks for."""
        with self._lock:
            new = [op for op in ops if op not in self._device_of]
            # With one device, who has to be with whom is no question; a CPU has every node that asks for nothing else.
            for group in colocated(new) if len(self._names) > 1 else [[op] for op in new]:
                anywhere = self._only_cpu and not group[0].device
                device = self._names[0] if anywhere else self._device_for(group)
                self._device_of.update(dict.fromkeys(group, device))
        if self._log is not None:
            for op in new:
                self._log(op, self._device_of[op])

    def device_for(self, name: str, op: Op, attrs: Mapping[str, Any], wanted: str, origin: Operation | None) -> str:
        """The device of a node that is no operation of the graph; not remembered."""
        return self._choose(name, origin, [(op, attrs)], DeviceName.parse(wanted), self._home)

    def is_heavy(self, op: Operation) -> bool:
        """What nodes take is not the simple placer's business."""
        return False

    def choices(self, op: Operation) -> list[str]:
        """The devices that the node may be on, by its name for one and its kernels; without any, where it is already."""
        matching = self._matching(DeviceName.parse(op.device) if op.device else DeviceName())
        nodes = [(op._op_def, op._attrs)]
        return [self._names[n] for n in matching if self._has_kernels(n, nodes)] or [self._device_of[op]]

    def _has_kernels(self, device: int, nodes: Sequence[tuple[Op, Mapping[str, Any]]]) -> bool:
        return self._parsed[device].device_type != "GPU" or all(has_gpu_kernel(op, attrs) for op, attrs in nodes)

    def _device_for(self, group: list[Operation]) -> str:
        wanted = DeviceName()
        for op in group:
            for neighbour in _partners(op):
                if neighbour in self._device_of:
                    return self._device_of[neighbour]
        # What works on a variable or a queue goes to it, whatever it asks for itself.
        for op in sorted(group, key=_follows) if len(group) > 1 else group:
            mine = DeviceName.parse(op.device) if op.device else DeviceName()
            if not _agree(mine, wanted, self._soft):
                if _follows(op):
                    continue
                raise InvalidArgumentError(
                    None,
                    op,
                    f"Cannot colocate nodes {{{{colocation_node {op.name}}}}} and {{{{colocation_node {group[0].name}}}}}: "
                    f"Cannot merge devices with incompatible {_difference(mine, wanted)}: '{mine}' and '{wanted}'\n\t "
                    f"[[{{{{node {op.name}}}}}]]",
                )
            wanted = wanted.merged_over(mine)
        has_variable = any(op.type in _VARIABLES for op in group)
        nodes = [(op._op_def, op._attrs) for op in group]
        return self._choose(group[0].name, group[0], nodes, wanted, self._shared if has_variable else self._home)

    def _choose(
        self,
        name: str,
        origin: Operation | None,
        nodes: Sequence[tuple[Op, Mapping[str, Any]]],
        wanted: DeviceName,
        preferred: DeviceName,
    ) -> str:
        matching = self._matching(wanted)
        found = self._best(matching, nodes, preferred)
        if found is None and self._soft:
            # Only type and index may give way: another job or task is another place altogether.
            matching = matching or self._matching(DeviceName(wanted.job, wanted.replica, wanted.task))
            place_only = self._matching(DeviceName(wanted.job, wanted.replica, wanted.task, "CPU"))
            found = self._best(place_only, nodes, preferred)
        if found is not None:
            return found
        prefix = f"Cannot assign a device for operation {name}: "
        if matching:
            raise InvalidArgumentError(
                None,
                origin,
                f"{prefix}Could not satisfy explicit device specification '{wanted}' because no supported kernel for "
                f"{wanted.device_type} devices is available.\n\t [[{{{{node {name}}}}}]]",
            )
        raise InvalidArgumentError(
            None,
            origin,
            f"{prefix}{{{{node {name}}}}} was explicitly assigned to {wanted} but available devices are "
            f"[ {', '.join(sorted(self._names))} ]. Make sure the device specification refers to a valid device."
            + (" The requested device appears to be a GPU, but there is none." if self._lacks_gpus(wanted) else ""),
        )

    def _lacks_gpus(self, wanted: DeviceName) -> bool:
        return wanted.device_type == "GPU" and all(device.device_type != "GPU" for device in self._parsed)

    def _matching(self, wanted: DeviceName) -> list[int]:
        return [n for n, device in enumerate(self._parsed) if wanted.matches(device)]

    def _best(
        self, candidates: Sequence[int], nodes: Sequence[tuple[Op, Mapping[str, Any]]], preferred: DeviceName
    ) -> str | None:
        """The candidate that is nearest to `preferred` and has kernels for all nodes; GPUs come first."""

        def rank(n: int) -> tuple[bool, str, int, bool, int]:
            device = self._parsed[n]
            elsewhere = (device.job, device.task) != (preferred.job, preferred.task)
            return elsewhere, device.job or "", device.task or 0, device.device_type != "GPU", n

        for n in sorted(candidates, key=rank) if len(candidates) > 1 else candidates:
            if self._has_kernels(n, nodes):
                return self._names[n]
        return None


def _agree(a: DeviceName, b: DeviceName, soft: bool) -> bool:
    pairs = [(a.job, b.job), (a.replica, b.replica), (a.task, b.task)]
    if not soft:
        pairs += [(a.device_type, b.device_type), (a.device_index, b.device_index)]
    return all(x is None or y is None or x == y for x, y in pairs)


def _difference(a: DeviceName, b: DeviceName) -> str:
    if a.device_type != b.device_type and None not in (a.device_type, b.device_type):
        return "types"
    if a.device_index != b.device_index and None not in (a.device_index, b.device_index):
        return "ids"
    return "jobs" if a.job != b.job else "tasks"


def _follows(op: Operation) -> bool:
    """Whether an input is a reference or a resource that another node has."""
    return next(_holders(op), None) is not None


def _partners(op: Operation) -> Iterable[Operation]:
    """The nodes that this one has to be with."""
    yield from _holders(op)
    for name in op._attrs.get("_class", ()):
        text = as_text(name)
        other = op.graph._by_name.get(text.removeprefix("loc:@")) if text.startswith("loc:@") else None
        if other is not None and other is not op:
            yield other


def _holders(op: Operation) -> Iterator[Operation]:
    """The nodes that have the references and resources among its inputs."""
    is_ref = _takes_ref(op) if op._op_def.has_ref_inputs else None
    for position, tensor in enumerate(op._inputs):
        kind = tensor.dtype
        base = kind.base_dtype
        shared = base is dtypes.resource or base is dtypes.variant
        if shared or (is_ref is not None and kind._is_ref_dtype and is_ref[position]):
            yield tensor.op


def _takes_ref(op: Operation) -> list[bool]:
    """For each flat input, whether it is taken as a reference."""
    return [arg.is_ref for arg in op._op_def.inputs for _ in range(arg.count(op._attrs))]


def colocated(ops: list[Operation]) -> list[list[Operation]]:
    """The nodes, grouped by who has to be with whom."""
    parent: dict[Operation, Operation] = {op: op for op in ops}

    def root(op: Operation) -> Operation:
        while parent[op] is not op:
            parent[op] = parent[parent[op]]
            op = parent[op]
        return op

    for op in ops:
        for other in _partners(op):
            if other in parent:
                parent[root(op)] = root(other)
    groups: dict[Operation, list[Operation]] = {}
    for op in ops:
        groups.setdefault(root(op), []).append(op)
    return list(groups.values())
