"""Which device of which task runs a node: TensorFlow's rules for partial names, applied to a whole cluster.

Nodes that share a reference or a resource, and nodes with `_class: loc:@…`, go together. What a name leaves open is filled
in so: the master's own task where that fits (as with no job at all), else the first that does, for a job its task 0; no
device type is the task's first device. One thing is for a cluster to settle: a variable that is pinned nowhere lives on the
first task by name, so that every master of the cluster finds the same one (chapter 12 of the course: one client's `x` is
every other client's `x`, whatever server each talks to). A node that has been placed stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tfexp.core.device import DeviceName
from tfexp.core.errors import InvalidArgumentError
from tfexp.graph.operation import Operation

_VARIABLES = frozenset({"Variable", "VariableV2", "VarHandleOp"})
_SHARED_KINDS = ("resource", "variant")


class Assignment:
    """The devices of a session's nodes. `devices`: full names, the master's own first; `soft`: a missing GPU is the CPU."""

    def __init__(self, devices: Sequence[str], soft: bool = False):
        self._names = tuple(devices)
        self._parsed = tuple(DeviceName.parse(name) for name in devices)
        self._home = self._parsed[0]
        self._shared = min(self._parsed, key=lambda d: (d.job or "", d.task or 0, d.device_type != "CPU"))
        self._soft = soft
        self._device_of: dict[str, str] = {}

    def __getitem__(self, op: Operation) -> str:
        return self._device_of[op.name]

    def place(self, ops: Iterable[Operation]) -> None:
        """Give every one of these nodes its device. InvalidArgumentError when one cannot have what it asks for."""
        new = [op for op in ops if op.name not in self._device_of]
        for group in _groups(new):
            device = self._device_for(group)
            self._device_of.update((op.name, device) for op in group)

    def _device_for(self, group: list[Operation]) -> str:
        wanted = DeviceName()
        for op in group:
            for neighbour in _partners(op):
                if neighbour.name in self._device_of:
                    return self._device_of[neighbour.name]
        for op in group:
            mine = DeviceName.parse(op.device) if op.device else DeviceName()
            if not _agree(mine, wanted, self._soft):
                raise InvalidArgumentError(
                    None,
                    op,
                    f"Cannot colocate nodes {{{{colocation_node {op.name}}}}} and {{{{colocation_node {group[0].name}}}}} "
                    f"because no device type supports both of those nodes and the other nodes colocated with them: "
                    f"{op.name} wants {op.device}, the others {wanted}",
                )
            wanted = wanted.merged_over(mine)
        has_variable = any(op.type in _VARIABLES for op in group)
        return self._choose(group[0], wanted, self._shared if has_variable else self._home)

    def _choose(self, op: Operation, wanted: DeviceName, preferred: DeviceName) -> str:
        found = self._matching(wanted, preferred)
        if found is None and self._soft:
            # Only type and index may give way: another job or task is another place altogether.
            found = self._matching(DeviceName(wanted.job, wanted.replica, wanted.task), preferred)
        if found is None:
            raise InvalidArgumentError(
                None,
                op,
                f"Cannot assign a device for operation {op.name}: {{{{node {op.name}}}}} was explicitly assigned to "
                f"{op.device} but available devices are [ {', '.join(sorted(self._names))} ]. Make sure the device "
                "specification refers to a valid device.",
            )
        return found

    def _matching(self, wanted: DeviceName, preferred: DeviceName) -> str | None:
        matches = [n for n, device in enumerate(self._parsed) if wanted.matches(device)]
        if not matches:
            return None

        def rank(n: int) -> tuple[bool, str, int, int]:
            device = self._parsed[n]
            elsewhere = (device.job, device.task) != (preferred.job, preferred.task)
            return elsewhere, device.job or "", device.task or 0, n

        return self._names[min(matches, key=rank)]


def _agree(a: DeviceName, b: DeviceName, soft: bool) -> bool:
    pairs = [(a.job, b.job), (a.replica, b.replica), (a.task, b.task)]
    if not soft:
        pairs += [(a.device_type, b.device_type), (a.device_index, b.device_index)]
    return all(x is None or y is None or x == y for x, y in pairs)


def _partners(op: Operation) -> Iterable[Operation]:
    """The nodes that this one has to be with."""
    is_ref = _takes_ref(op)
    for position, tensor in enumerate(op._inputs):
        kind = tensor.dtype
        if kind.base_dtype.name in _SHARED_KINDS or (kind._is_ref_dtype and is_ref[position]):
            yield tensor.op
    for name in op._attrs.get("_class", ()):
        text = name.decode() if isinstance(name, bytes) else name
        other = op.graph._by_name.get(text.removeprefix("loc:@")) if text.startswith("loc:@") else None
        if other is not None and other is not op:
            yield other


def _takes_ref(op: Operation) -> list[bool]:
    flags: list[bool] = []
    for arg in op.op_def.inputs:
        count = 1
        if arg.number_attr:
            count = op._attrs[arg.number_attr]
        elif arg.type_list_attr:
            count = len(op._attrs[arg.type_list_attr])
        flags.extend([arg.is_ref] * count)
    return flags


def _groups(ops: list[Operation]) -> list[list[Operation]]:
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
