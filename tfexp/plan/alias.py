"""Which values may live in whose memory.

Every value has roots: the things that own the memory it may be in. A root is a variable (the key of its resource), or a
Value: a feed, a constant, or what a kernel made afresh. Kernels marked `view` hand the roots of their inputs on. The handle
of a variable (`VarHandleOp`) has the variable's root, as a reference to one has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from tfexp.core import dtypes
from tfexp.plan.ir import Draft, Node, Value

Roots = frozenset[Hashable]

_NONE: Roots = frozenset()


def variable_key(node: Node) -> tuple[str, ...]:
    """What makes two nodes stand for one variable: its kind, its container and its shared name, or its own."""
    name = node.attrs.get("shared_name") or node.name
    kind = "resource variable" if node.op.on_variables else "variable"
    return (kind, node.attrs.get("container", ""), name)


class RootMap(dict[Value, Roots]):
    """Roots by value. What no node of the draft makes (feeds, constants) owns its memory."""

    def __missing__(self, value: Value) -> Roots:
        self[value] = roots = frozenset([value])
        return roots


def find_roots(draft: Draft) -> RootMap:
    """The roots of every value. `draft.nodes` must be ordered (inputs first)."""
    roots = RootMap()
    for node in draft.nodes:
        through_refs = _NONE.union(*(roots[v] for v in node.ref_inputs())) if node.op.reaches_variables else _NONE
        for value in node.outputs:
            if value.dtype._is_ref_dtype or _is_handle(node, value):
                roots[value] = through_refs or frozenset([variable_key(node)])
            elif node.kernel is not None and node.kernel.reads_variable and not node.copies:
                roots[value] = through_refs | {value}  # the variable's memory, and how long it is read is of interest
            elif node.is_view and value.constant is None:
                # An input of another type (a shape, a permutation) is no memory to look at.
                base = value.dtype.base_dtype
                through_views = _NONE.union(*(roots[v] for v in node.inputs if v.dtype.base_dtype is base))
                roots[value] = through_views or frozenset([value])
            else:
                roots[value] = frozenset([value])
    return roots


def _is_handle(node: Node, value: Value) -> bool:
    return node.op.on_variables and value.dtype is dtypes.resource and node.loop is None


def writes(node: Node, roots: RootMap) -> Roots:
    """The variables that the node may update in place."""
    if not node.op.writes_refs or not node.op.reaches_variables:
        return _NONE
    return _NONE.union(*(roots[v] for v in node.ref_inputs()))


class Updates:
    """Where in a draft variables are updated."""

    def __init__(self, draft: Draft, roots: RootMap):
        self._of: dict[Hashable, list[int]] = defaultdict(list)  # the positions of a variable's updates
        self._unknown: list[int] = []  # those of updates by handles from outside (of a loop): any variable's
        for i, node in enumerate(draft.nodes):
            for key in writes(node, roots):
                (self._of[key] if isinstance(key, tuple) else self._unknown).append(i)

    def between(self, roots: Roots, first: int, end: int) -> bool:
        """Whether something of `roots` is updated after the position `first` and before `end`."""
        updates = [*self._unknown, *(update for key in roots for update in self._of.get(key, ()))]
        return any(first < update < end for update in updates)
