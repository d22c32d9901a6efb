"""What would have a loop wait for its own results, let go before the loop becomes one node.

A gradient adds a count of iterations to the loop that it differentiates. Where gradients are made under control
dependencies, on the updates of a batch normalisation that follows the loop, say, the count waits for these: its first
value, a constant, does so by a control edge, and its sum by way of an Enter that carries nothing but the waiting. In
TensorFlow the count alone stays behind while the loop runs; here nothing could ever start. No value needs this order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from tfexp.plan.ir import Draft, Node, is_pure
from tfexp.plan.primitives import ENTERS, EXITS


def let_go(draft: Draft, frames: dict[Node, tuple[str, ...]]) -> None:
    """Free the loops in `draft`, whose nodes run in these frames, from waiting for themselves.

    An order that impure nodes were given stays, and with it the cycle.
    """
    readers: dict[Node, list[Node]] = defaultdict(list)
    waiters: dict[Node, list[Node]] = defaultdict(list)
    exits: dict[tuple[str, ...], set[Node]] = defaultdict(set)
    for node in draft.nodes:
        for value in node.inputs:
            if value.node is not None:
                readers[value.node].append(node)
        for before in node.controls:
            waiters[before].append(node)
        if node.type in EXITS:
            exits[frames[node]].add(node)
    gone: set[Node] = set()
    for enter in draft.nodes:
        source = enter.inputs[0].node if enter.type in ENTERS else None
        if source is None:
            continue
        if source.controls and not source.inputs and is_pure(source):
            if _depends(source, exits[frames[enter]]):
                _hand_on_waiting(source, [node for node in readers[source] if node is not enter])
            continue
        carriers = readers[enter]
        if all(
            node.type == "Identity" and not readers[node] and all(map(is_pure, waiters[node])) for node in carriers
        ) and _depends(source, exits[frames[enter]]):
            gone.update([enter, *carriers])
    if gone:
        draft.nodes = [node for node in draft.nodes if node not in gone]
        for node in draft.nodes:
            node.controls = [before for before in node.controls if before not in gone]


def _hand_on_waiting(constant: Node, users: list[Node]) -> None:
    """A constant is the same at any time: let those who use it wait in its place."""
    for user in users:
        user.controls = list(dict.fromkeys([*user.controls, *constant.controls]))
    constant.controls = []


def _depends(node: Node, on: Collection[Node]) -> bool:
    """Whether `node` cannot run before one of these has."""
    seen, pending = {node}, [node]
    while pending:
        following = pending.pop()
        before = {*(v.node for v in following.inputs if v.node is not None), *following.controls} - seen
        if not before.isdisjoint(on):
            return True
        seen |= before
        pending.extend(before)
    return False
