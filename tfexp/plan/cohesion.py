"""What must not be torn apart: nodes between which values may be dead, and the frames of loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tfexp.core.text import as_str_any
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.primitives import BACK_EDGES, ENTERS, EXITS, MERGES, SWITCHES

# What hands on a value as it is, wherever it runs.
PASSING_ON = MERGES | EXITS | BACK_EDGES | frozenset({"Switch", "Enter", "LoopCond"})


class Groups:
    """The nodes of a step, grouped by what must not be torn apart; most are alone."""

    def __init__(self, ops: Iterable[Operation], fed: set[Tensor]):
        self._ops = list(ops)
        self._parent = {op: op for op in self._ops}
        if any(op.type in SWITCHES or op.type in ENTERS for op in self._ops):
            for a, b in _cohesive_pairs(self._ops, fed):
                self._parent[self.root(a)] = self.root(b)

    def root(self, op: Operation) -> Operation:
        """The node that stands for the group of `op`."""
        parent = self._parent
        while parent[op] is not op:
            parent[op] = parent[parent[op]]
            op = parent[op]
        return op

    def dissolve(self, members: Iterable[Operation]) -> None:
        """Let the nodes of a group be torn apart."""
        for op in members:
            self._parent[op] = op

    def members(self) -> list[list[Operation]]:
        """The groups of more than one node, each in the order of the step."""
        found: dict[Operation, list[Operation]] = defaultdict(list)
        for op in self._ops:
            found[self.root(op)].append(op)
        return [members for members in found.values() if len(members) > 1]


def _cohesive_pairs(ops: list[Operation], fed: set[Tensor]) -> Iterator[tuple[Operation, Operation]]:
    """The ends of every edge that a dead value may cross, or that is inside of a loop."""
    known = set(ops)
    frames = frames_of(ops, fed, known)
    mortal = _mortal(ops, fed, frames)
    for op in ops:
        for b in _before(op, fed, known):
            if op.type in MERGES or op.type in EXITS or b.type in SWITCHES or b in mortal or frames[b]:
                yield b, op


def frames_of(ops: list[Operation], fed: set[Tensor], known: set[Operation]) -> dict[Operation, tuple[str, ...]]:
    """The loops that each node's outputs are inside of, the outermost first."""
    frames: dict[Operation, tuple[str, ...]] = {}
    for op in ops:  # in order of creation: inputs first, but for loops' back edges
        inside = max((frames.get(b, ()) for b in _before(op, fed, known)), key=len, default=())
        if op.type in ENTERS:
            inside += (as_str_any(op.get_attr("frame_name")),)
        frames[op] = inside[:-1] if op.type in EXITS else inside
    return frames


def _mortal(ops: list[Operation], fed: set[Tensor], frames: dict[Operation, tuple[str, ...]]) -> set[Operation]:
    """The nodes whose outputs may be dead.

    In a loop almost all are, in its last round. What leaves it is not, unless what enters it may be: then all of it may.
    """
    perishable: set[tuple[str, ...]] = set()  # loops that something enters which may be dead
    while True:
        mortal: set[Operation] = set()
        entered: set[tuple[str, ...]] = set()
        for op in ops:
            inputs = [t.op for t in op._inputs if t not in fed]
            dangers = [b in mortal or b.type in SWITCHES for b in inputs]
            if op.type in MERGES:
                dead = bool(dangers) and all(dangers)
            else:
                dead = any(dangers) or any(c in mortal for c in op._control_inputs)
            if op.type in EXITS:
                dead = dead and any(frames.get(b, ()) in perishable for b in inputs)
            if dead:
                mortal.add(op)
                if op.type in ENTERS:
                    entered.add(frames[op])
        if entered <= perishable:
            return mortal
        perishable |= entered


def _before(op: Operation, fed: set[Tensor], known: set[Operation]) -> list[Operation]:
    return [t.op for t in op._inputs if t not in fed] + [c for c in op._control_inputs if c in known]
