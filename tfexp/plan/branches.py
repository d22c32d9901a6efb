"""When values of a step are dead: the branches of conditionals that nodes are in, found from their Switch and Merge nodes.

With it a conditional can be cut (`partition`): a value of a branch crosses a border as what it is or, where the branch is
not taken, as a stand-in; behind the border it is switched off again. That takes no more than Switch and Merge, so any
TensorFlow worker can run it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.primitives import BACK_EDGES, ENTERS, EXITS, MERGES, SWITCHES

_LOOPS = ENTERS | EXITS | BACK_EDGES | {"LoopCond"}


@dataclass(frozen=True)
class Taken:
    """That a predicate is true (`side` 1) or false (0)."""

    predicate: Tensor
    side: int


# What has to hold for a value to be alive, the outermost conditional first.
Conditions = tuple[Taken, ...]


class Irregular(Exception):  # noqa: N818  (an answer, and no error of anybody's)
    """The nodes are no nest of conditionals: when their values are alive cannot be said beforehand."""


class Branches:
    """The conditions of a step's values. Nodes of loops, and what `tf.cond` does not make, have none that can be said."""

    def __init__(self, ops: Collection[Operation], fed: Collection[Tensor]):
        self._known, self._fed = set(ops), fed
        self._of: dict[Operation, Conditions] = {}
        self.irregular: set[Operation] = set()
        for op in _inputs_first(ops, self._before):
            try:
                self._of[op] = self._find(op)
            except Irregular:
                self.irregular.add(op)

    def _before(self, op: Operation) -> list[Operation]:
        inputs = [t.op for t in op._inputs if t not in self._fed]
        return inputs + [c for c in op._control_inputs if c in self._known]

    def of_op(self, op: Operation) -> Conditions:
        """What has to hold for the node to run."""
        return self._of.get(op, ())

    def of(self, tensor: Tensor) -> Conditions:
        """What has to hold for the value to be alive."""
        if tensor in self._fed:
            return ()
        conditions = self.of_op(tensor.op)
        if tensor.op.type in SWITCHES and tensor.op in self._of:
            taken = Taken(self._root(tensor.op._inputs[1]), tensor._value_index)
            return conditions if taken in conditions else (*conditions, taken)
        return conditions

    def _find(self, op: Operation) -> Conditions:
        if op.type in _LOOPS or any(b not in self._of for b in self._before(op)):
            raise Irregular
        if op.type in MERGES:
            return self._merged([self.of(t) for t in op._inputs])
        found: dict[Taken, None] = {}
        for tensor in op._inputs:
            found.update(dict.fromkeys(self.of(tensor)))
        for before in op._control_inputs:  # those of fed placeholders have none
            found.update(dict.fromkeys(self.of_op(before)))
        return tuple(found)

    def _root(self, predicate: Tensor) -> Tensor:
        """What a predicate is another name of."""
        while predicate not in self._fed and predicate.op.type == "Identity" and not predicate.op._control_inputs:
            predicate = predicate.op._inputs[0]
        return predicate

    def _merged(self, inputs: list[Conditions]) -> Conditions:
        """Two values of which one is alive where what they have in common holds; Irregular if that cannot be seen."""
        if len(inputs) != 2:
            raise Irregular
        one, other = inputs
        rest = [t for t in one if t not in other], [t for t in other if t not in one]
        if len(rest[0]) != 1 or len(rest[1]) != 1:
            raise Irregular
        (a,), (b,) = rest
        if a.predicate is not b.predicate or a.side == b.side:
            raise Irregular
        return tuple(t for t in one if t in other)


def _inputs_first(ops: Iterable[Operation], before: Callable[[Operation], list[Operation]]) -> list[Operation]:
    """The nodes in an order in which they could run; those of loops in any."""
    found: dict[Operation, None] = {}
    visiting: set[Operation] = set()
    stack = list(ops)
    while stack:
        op = stack[-1]
        missing = [b for b in before(op) if b not in found and b not in visiting] if op not in found else []
        if missing and op not in visiting:
            visiting.add(op)
            stack.extend(missing)
            continue
        found[op] = None
        stack.pop()
    return list(found)
