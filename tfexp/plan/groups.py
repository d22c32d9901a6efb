"""Which nodes of a step can be computed together, element by element, so that what lies between them is never an array.

A group has one result that others read, of the same shape as all values in between, and runs where its last node ran.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from tfexp.core.kernel import Call, Kernel
from tfexp.core.op import parse_signature
from tfexp.plan.alias import Updates, find_roots
from tfexp.plan.cost import seconds
from tfexp.plan.ir import Draft, Node, Value

MAX_NODES = 64

FUSED = parse_signature("_Fused(inputs: T) -> (output: U) {T: list(type); U: type; nodes: list(string); seconds: float}")
"""What a group is in a plan; no graph has it."""


class Groups:
    """The nodes of a draft that can be part of a group, and what keeps them from being in the same one."""

    def __init__(self, draft: Draft, nodes: Sequence[Node]):
        """`nodes`: those that can be, each with one output of a known shape; in the order of the draft."""
        self._nodes = nodes
        self._all = set(nodes)
        self._fetched = set(draft.fetches)
        self._readers: dict[Value, list[Node]] = defaultdict(list)
        for node in draft.nodes:
            for value in node.inputs:
                self._readers[value].append(node)
        self._position = {node: i for i, node in enumerate(draft.nodes)}
        self._roots = find_roots(draft)
        self._updates = Updates(draft, self._roots)

    def found(self) -> list[list[Node]]:
        """Disjoint groups, in order of their last nodes; the nodes of each in the order in which they run."""
        taken: set[Node] = set()
        groups = []
        for last in reversed(self._nodes):
            if last in taken:
                continue
            group = self._group_before(last, taken)
            taken |= group
            groups.append(sorted(group, key=self._position.__getitem__))
        return groups[::-1]

    def can_be_one(self, chain: Sequence[Node]) -> bool:
        """Whether nodes that only each other read, but for the last one, can all run where that one does."""
        group = set(chain)
        return all(self._joins(node, group, chain[-1]) for node in chain[:-1])

    def _group_before(self, last: Node, taken: set[Node]) -> set[Node]:
        group = {last}
        candidates = [value.node for value in last.inputs]
        while candidates and len(group) < MAX_NODES:
            node = candidates.pop()
            if node is None or node in group or node in taken or not self._joins(node, group, last):
                continue
            group.add(node)
            candidates.extend(value.node for value in node.inputs)
            # One that was turned down for a reader that has come in now may join.
            candidates.extend(value.node for member in group for value in member.inputs if value.node not in group)
        return group

    def _joins(self, node: Node, group: set[Node], last: Node) -> bool:
        if node not in self._all:
            return False
        result = node.outputs[0]
        return (
            result.shape.known_dims == last.outputs[0].shape.known_dims
            and node.device == last.device
            and result not in self._fetched
            and all(reader in group for reader in self._readers[result])
            and not self._is_disturbed(node, last)
        )

    def _is_disturbed(self, node: Node, last: Node) -> bool:
        """Whether a variable that the node reads is updated before the last node runs."""
        read = frozenset().union(*(self._roots[value] for value in node.inputs))
        return self._updates.between(read, self._position[node], self._position[last])


def inputs_of(group: Sequence[Node]) -> list[Value]:
    """What the nodes of a group read and none of them makes."""
    made = {node.outputs[0] for node in group}
    return list(dict.fromkeys(v for node in group for v in node.inputs if v not in made))


def node_of(group: Sequence[Node], inputs: Sequence[Value], call: Call, shares: bool) -> Node:
    """One node in place of a group, with the name and the output of the last, that makes this call (`Kernel.shares`)."""
    last = group[-1]
    attrs = {
        "T": [value.dtype.base_dtype for value in inputs],
        "U": last.outputs[0].dtype.base_dtype,
        "nodes": [name for node in group for name in (node.attrs["nodes"] if node.op is FUSED else [node.name])],
        "seconds": sum(map(seconds, group)),
    }
    fused = Node(last.name, FUSED, attrs, last.device, last.origin, last.serial)
    fused.inputs, fused.outputs = list(inputs), last.outputs
    fused.outputs[0].node = fused
    fused.controls = list(dict.fromkeys(c for node in group for c in node.controls if c not in group))
    fused.behind = frozenset().union(*(node.behind for node in group))
    fused.call, fused.kernel = call, Kernel(lambda ctx, arrays: call.function(*arrays), (), shares=shares)
    return fused


def replace(draft: Draft, groups: Mapping[Node, Sequence[Node]]) -> None:
    """Put each node in place of its group, where that one's last node was."""
    replaced = {member: node for node, group in groups.items() for member in group}
    if not replaced:
        return
    sinks = {group[-1] for group in groups.values()}
    draft.nodes = [replaced.get(n, n) for n in draft.nodes if n not in replaced or n in sinks]
    later = set(groups)
    for node in draft.nodes:
        # Who waited for a member may have run before the last one does: that was about the order, which is fixed by now.
        node.controls = [c for c in dict.fromkeys(replaced.get(c, c) for c in node.controls) if c not in later]
        later.discard(node)
