"""What must not be torn apart: nodes between which values may be dead, and the frames of loops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

_SWITCHES = ("Switch", "RefSwitch")
_MERGES = ("Merge", "RefMerge")
# Primitives of loops, by whether their inputs and their outputs are inside of the loop.
_INSIDE = {
    **dict.fromkeys(["Enter", "RefEnter"], (False, True)),
    **dict.fromkeys(["Exit", "RefExit"], (True, False)),
    **dict.fromkeys(["NextIteration", "RefNextIteration", "LoopCond"], (True, True)),
}


def cohesive_pairs(ops: Iterable[Operation], fed: set[Tensor]) -> Iterator[tuple[Operation, Operation]]:
    """Pairs of nodes that have to be in one stage: the ends of every edge that a dead value or a frame may cross."""
    ops = list(ops)
    known = set(ops)
    mortal: set[Operation] = set()
    for op in ops:  # in order of creation: inputs first, but for loops' back edges
        inputs = [t for t in op._inputs if t not in fed]
        dangers = [t.op in mortal or t.op.type in _SWITCHES for t in inputs]
        dead = bool(dangers) and all(dangers) if op.type in _MERGES else any(dangers)
        if dead or (op.type not in _MERGES and any(c in mortal for c in op._control_inputs)):
            mortal.add(op)
    for op in ops:
        takes_inside = op.type in _MERGES or _INSIDE.get(op.type, (False, False))[0]
        for before in [t.op for t in op._inputs if t not in fed] + [c for c in op._control_inputs if c in known]:
            gives_inside = before.type in _SWITCHES or before in mortal or _INSIDE.get(before.type, (False, False))[1]
            if takes_inside or gives_inside:
                yield before, op
