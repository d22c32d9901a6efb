"""What a handle's read (`ReadVariableOp`) gives is the value of its moment, whatever becomes of the variable afterwards.

Usually it is the variable's own array, which costs nothing: `order` has updates run after the readers. Where one has to run
before the last of them, or before the value is fetched, the read is a copy.
"""

from __future__ import annotations

from tfexp.core import dtypes
from tfexp.plan.alias import RootMap, Roots, find_roots
from tfexp.plan.ir import Draft, Node


def copy_reads(draft: Draft) -> RootMap:
    """Set `copies` where it is needed; returns the roots, as they are then. The nodes are in the order in which they run."""
    roots = find_roots(draft)
    reads = [node for node in draft.nodes if node.kernel is not None and node.kernel.reads_variable]
    if not reads:
        return roots
    updates = [(position, keys) for position, node in enumerate(draft.nodes) if (keys := _updated(node, roots))]
    if not updates:
        return roots
    last_use: dict[object, int] = {}
    positions: dict[Node, int] = {}
    for position, node in enumerate(draft.nodes):
        positions[node] = position
        for value in node.inputs:
            last_use.update(dict.fromkeys(roots[value], position))
    for value in draft.fetches:
        last_use.update(dict.fromkeys(roots[value], len(draft.nodes)))
    for node in reads:
        first, last = positions[node], last_use.get(node.outputs[0], 0)
        read = roots[node.inputs[0]]
        node.copies = any(first < position < last and _may_meet(keys, read) for position, keys in updates)
    return find_roots(draft) if any(node.copies for node in reads) else roots


def _updated(node: Node, roots: RootMap) -> Roots:
    """The variables that a node may update through handles."""
    if not node.op.writes_refs:
        return frozenset()
    return frozenset().union(*(roots[v] for v in node.ref_inputs() if v.dtype is dtypes.resource))


def _may_meet(some: Roots, others: Roots) -> bool:
    """Whether two handles may be one variable's; of a handle that came from outside (into a loop) nothing is known."""
    return not some.isdisjoint(others) or not all(isinstance(root, tuple) for root in some | others)
