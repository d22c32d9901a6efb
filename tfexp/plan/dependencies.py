"""What has to run before what in a step: inputs and control edges, and what variables and the outside world add to them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from tfexp.core import dtypes
from tfexp.plan.alias import find_roots, writes
from tfexp.plan.ir import Draft, Node


def acts(node: Node) -> bool:
    """Whether the node changes or looks at something that is neither a variable nor its own."""
    if node.op.on_variables or (node.kernel is not None and node.kernel.handle):
        return False
    kinds = (dtypes.resource, dtypes.variant)
    if any(value.dtype.base_dtype in kinds for value in (*node.inputs, *node.outputs)):
        return True
    return node.op.is_stateful and not node.op.writes_refs and "seed" not in node.attrs


def before(draft: Draft) -> dict[Node, list[Node]]:
    """For each node those that have to run before it.

    By its inputs and control edges, by the variables that it reads and updates, and, among those that act on the outside, by
    the step's order.
    """
    roots = find_roots(draft)
    present = set(draft.nodes)
    readers: dict[Hashable, list[Node]] = defaultdict(list)
    writer: dict[Hashable, Node] = {}
    edges_of: dict[Node, list[Node]] = {}
    acted: Node | None = None
    for node in draft.nodes:
        edges = [v.node for v in node.inputs if v.node is not None and v.node in present]
        edges.extend(c for c in node.controls if c in present)
        updated = writes(node, roots)
        touched = frozenset().union(*(roots[v] for v in node.inputs)) | updated
        for key in touched:
            if not isinstance(key, tuple):
                continue
            if key in writer:
                edges.append(writer[key])
            if key in updated:
                edges.extend(readers.pop(key, ()))
                writer[key] = node
            else:
                readers[key].append(node)
        if acts(node):
            if acted is not None:
                edges.append(acted)
            acted = node
        edges_of[node] = list(dict.fromkeys(edge for edge in edges if edge is not node))
    return edges_of
