"""The order in which nodes run: inputs and control inputs first, and every update after the reads that it must not disturb.

A node that updates a variable in place runs only when no other node can; so whatever reads the variable without waiting
for the update (by data or control edges) sees the old value. Among several updates that could run, one goes first whose
variable nobody is still going to read, unless the readers wait for that very update. Otherwise: order of creation.

A node that may have to wait for others (a dequeue), or that ends the step where the input ends (an iterator, a count up to a
limit), runs when no other node can but updates of what others are still going to read: so whatever does not need it has been
done by the time that the step's thread would sleep, or that the step ends. So does a node that calls code of the user's
while another such node may run: both then run at the same time.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Hashable

from tfexp.core.errors import InvalidArgumentError
from tfexp.plan.alias import Roots, find_roots, writes
from tfexp.plan.ir import Draft, Node

# What ends the step where its input ends.
_ENDING = frozenset(
    {"CountUpTo", "ResourceCountUpTo", "IteratorGetNext", "IteratorGetNextSync", "MultiDeviceIteratorGetNextFromShard"}
)


def order(draft: Draft, inter_op: int = 1) -> None:
    """Sort `draft.nodes`; InvalidArgumentError when they form a cycle (a loop that this executor does not run).

    `inter_op`: how many nodes that may block can run at the same time.
    """
    if inter_op > 1:
        _find_own_threads(draft.nodes)
    draft.nodes = _topological(draft.nodes)
    roots = find_roots(draft)
    updates = {node: keys for node in draft.nodes if (keys := _variables(writes(node, roots)))}
    if updates:
        draft.nodes = _with_updates_last(draft, updates, roots)
    if any(node.waits for node in draft.nodes):
        _find_behind(draft.nodes)


def _find_own_threads(nodes: list[Node]) -> None:
    """Set `own_thread` for the nodes that may block while another such node, which does not depend on them, is to run."""
    blocking = [node for node in nodes if node.may_block]
    if len(blocking) < 2:
        return
    edges = _Dependencies(nodes)
    reached = {node: edges.reached_from(node) for node in blocking}
    for node in blocking:
        node.own_thread = any(
            other is not node and other not in reached[node] and node not in reached[other] for other in blocking
        )


def _find_behind(nodes: list[Node]) -> None:
    """Set `behind`, while all control edges are still there."""
    waiting = frozenset(node for node in nodes if node.waits)
    for node in nodes:
        before = frozenset(v.node for v in node.inputs if v.node is not None).union(node.controls)
        node.behind = (before & waiting).union(*(b.behind for b in before))


def _urgency(node: Node) -> tuple[bool, int]:
    return node.waits or node.type in _ENDING, node.serial


def _variables(keys: Roots) -> Roots:
    return frozenset(key for key in keys if isinstance(key, tuple))


class _Dependencies:
    """Who waits for whom, by data and control edges."""

    def __init__(self, nodes: list[Node]):
        self.waiting: dict[Node, int] = {}
        self.successors: dict[Node, list[Node]] = defaultdict(list)
        for node in nodes:
            before = {v.node for v in node.inputs if v.node is not None}
            before.update(node.controls)
            self.waiting[node] = len(before)
            for other in before:
                self.successors[other].append(node)

    def finished(self, node: Node) -> list[Node]:
        """Take note that `node` has run; returns those that became ready."""
        ready = []
        for after in self.successors[node]:
            self.waiting[after] -= 1
            if self.waiting[after] == 0:
                ready.append(after)
        return ready

    def reached_from(self, node: Node) -> set[Node]:
        seen: set[Node] = set()
        pending = [node]
        while pending:
            for after in self.successors[pending.pop()]:
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        return seen


def _topological(nodes: list[Node]) -> list[Node]:
    edges = _Dependencies(nodes)
    by_serial = {node.serial: node for node in nodes}
    ready = [_urgency(node) for node in nodes if edges.waiting[node] == 0]
    heapq.heapify(ready)
    ordered: list[Node] = []
    while ready:
        node = by_serial[heapq.heappop(ready)[1]]
        ordered.append(node)
        for after in edges.finished(node):
            heapq.heappush(ready, _urgency(after))
    if len(ordered) < len(nodes):
        stuck = next(node for node in nodes if edges.waiting[node] > 0)
        raise InvalidArgumentError(
            None, stuck.origin, f"Graph is invalid, contains a cycle that is no loop's, through {stuck.name} ({stuck.type})"
        )
    return ordered


def _with_updates_last(draft: Draft, updates: dict[Node, Roots], roots: dict) -> list[Node]:
    edges = _Dependencies(draft.nodes)
    pending_readers: dict[Hashable, set[Node]] = defaultdict(set)
    watched = frozenset().union(*updates.values())
    reads: dict[Node, Roots] = {}
    for node in draft.nodes:
        # Several updates of one variable are not each other's readers: nothing but edges orders them.
        keys = (frozenset().union(*(roots[v] for v in node.inputs)) & watched) - updates.get(node, frozenset())
        if keys:
            reads[node] = keys
            for key in keys:
                pending_readers[key].add(node)
    by_serial = {node.serial: node for node in draft.nodes}
    ready: list[tuple[bool, int]] = []
    ready_updates: dict[int, Node] = {}

    def push(node: Node) -> None:
        if node in updates:
            ready_updates[node.serial] = node
        else:
            heapq.heappush(ready, _urgency(node))

    for node in draft.nodes:
        if edges.waiting[node] == 0:
            push(node)
    ordered: list[Node] = []
    while ready or ready_updates:
        late = not ready or ready[0][0]
        chosen = _choose(ready_updates, updates, pending_readers, edges, bool(ready)) if ready_updates and late else None
        if chosen is None:
            node = by_serial[heapq.heappop(ready)[1]]
        else:
            node = ready_updates.pop(chosen.serial)
        ordered.append(node)
        for key in reads.get(node, ()):
            pending_readers[key].discard(node)
        for after in edges.finished(node):
            push(after)
    return ordered


def _choose(
    candidates: dict[int, Node],
    updates: dict[Node, Roots],
    pending_readers: dict[Hashable, set[Node]],
    edges: _Dependencies,
    others: bool,
) -> Node | None:
    """The update to run next (see the module's docstring); None where one of the `others` that can run goes first."""
    turns = [candidates[serial] for serial in sorted(candidates)]
    if len(turns) == 1 and not others:
        return turns[0]
    for ending in (False, True):
        of_kind = [node for node in turns if (node.type in _ENDING) is ending]
        for node in of_kind:
            if not any(pending_readers[key] for key in updates[node]):
                return node
        for node in of_kind:
            readers = set().union(*(pending_readers[key] for key in updates[node]))
            if readers <= edges.reached_from(node):
                return node
    return None if others else turns[0]
