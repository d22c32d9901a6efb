"""Which nodes may turn out dead: those after a Switch, as far as no Merge brings them back to life."""

from __future__ import annotations

from tfexp.plan.ir import Node, Value
from tfexp.plan.primitives import SWITCHES


def find_mortal(nodes: list[Node]) -> set[Node]:
    """The nodes that do not run in every step. `nodes` are ordered and have their kernels."""
    mortal: set[Node] = set()
    if not any(node.op.name in SWITCHES for node in nodes):
        return mortal
    for node in nodes:
        assert node.kernel is not None
        dangers = [may_be_dead(v, mortal) for v in node.inputs]
        if node.kernel.takes_dead:
            # A Merge is dead only when all its inputs are.
            dead = bool(dangers) and all(dangers)
        else:
            dead = any(dangers) or any(c in mortal for c in node.controls)
        if dead:
            mortal.add(node)
    return mortal


def may_be_dead(value: Value, mortal: set[Node]) -> bool:
    return value.node is not None and (value.node in mortal or value.node.type in SWITCHES)
