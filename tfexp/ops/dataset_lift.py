"""Lifting: from a function of one element to a function of many at once, where every node allows it.

Each value of the function either depends on the element, and then has a new first axis in the lifted function, or it does
not, and stays as it is. A table (`dataset_lift_rules`) says for each op how its node has to change when inputs have that
axis. Random numbers are drawn for all elements beforehand, those that each would have drawn (`random_rows`). Functions with
other state (py_func), with loops, and with ops that are not in the table are not lifted. As in pfor (Agarwal 2019,
"Auto-vectorizing TensorFlow graphs"), of which this is the part that data sets use most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import OpError
from tfexp.core.shape import TensorShape
from tfexp.graph.function import Function
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_lift_rules import RULES, Lifted, Nodes, NotLiftableError, fixed, rank_of
from tfexp.ops.random_rows import DRAWN, RowDraws

_OF_LOOPS = frozenset({"Enter", "Exit", "LoopCond", "NextIteration"})

# The branches of conditions that a value is computed in, outermost first: (the condition, whether it holds).
Guards = tuple[tuple[Tensor, bool], ...]


class OfBlocks:
    """The function of a node as a function of blocks: stacked components in, stacked results out.

    `draws`: it has random numbers, so that who takes more elements than are needed changes those of later runs.
    """

    def __init__(self, call: Any, captured: Sequence[Any], bound: Any, lifting: LiftedFunction):
        self._captured, self._bound, self._many = list(captured), bound, lifting.many
        self._draws = [(draw, draw.stream(call.node_state(draw.op.name))) for draw in lifting.draws]
        self.draws = bool(self._draws)

    def __call__(self, block: Sequence[np.ndarray]) -> list[np.ndarray]:
        size = len(block[0])
        places = [state.here for _, state in self._draws]
        drawn = [draw(state, size) for draw, state in self._draws]
        try:
            results = self._bound([*block, *self._captured, *drawn])
        except OpError:
            for place, (_, state) in zip(places, self._draws, strict=True):
                state.here = place  # the elements are mapped one by one, and draw again
            raise
        return [
            value if many else np.broadcast_to(value, (size, *np.shape(value)))
            for value, many in zip(results, self._many, strict=True)
        ]


def lifted(call: Any, captured: Sequence[Any]) -> OfBlocks | None:
    """A bound function of an element and what it captured as a function of blocks. None if not liftable."""
    if call not in _liftings:
        lifting = _lift(call.function, len(captured))
        _liftings[call] = None if lifting is None else (call.rebound(lifting.function), lifting)
    found = _liftings[call]
    return None if found is None else OfBlocks(call, captured, *found)


@dataclass(frozen=True)
class LiftedFunction:
    """`many`: which results have the new axis. `draws`: the random numbers that are further arguments."""

    function: Function
    many: list[bool]
    draws: list[RowDraws]


# Of the functions that a node has bound: a node that makes a data set again and again lifts its function once.
_liftings: WeakKeyDictionary[Any, tuple[Any, LiftedFunction] | None] = WeakKeyDictionary()


def _lift(function: Function, captured: int) -> LiftedFunction | None:
    if any(op.type not in DRAWN for op in function.effects):
        return None
    graph = Graph()
    graph._functions = dict(function.body._functions)
    draws: list[RowDraws] = []
    lifting = _Lifting(graph, draws)
    elements = len(function.inputs) - captured
    try:
        with graph.as_default():
            inputs = [lifting.argument(tensor, position < elements) for position, tensor in enumerate(function.inputs)]
            outputs = lifting.of(function.outputs)
    except NotLiftableError:
        return None
    inputs += [lifting.values[draw.op.outputs[0]].tensor for draw in draws]
    made = Function(f"{function.name}_of_blocks", graph, inputs, [value.tensor for value in outputs])
    return LiftedFunction(made, [value.many for value in outputs], draws)


class _Lifting(Nodes):
    """Makes the lifted nodes of tensors; NotLiftableError when there are none.

    `draws`: where to put the random numbers that become arguments.
    """

    def __init__(self, graph: Graph, draws: list[RowDraws]):
        super().__init__(graph)
        self.draws = draws
        self.values: dict[Tensor, Lifted] = {}
        self.guards: dict[Tensor, Guards] = {}

    def argument(self, tensor: Tensor, many: bool) -> Tensor:
        """The lifted function's argument for a tensor that is given."""
        if tensor.dtype in (dtypes.resource, dtypes.variant) or tensor.shape.rank is None:
            raise NotLiftableError
        shape = tensor.shape
        if many:
            shape = TensorShape([None, *shape.as_list()])
        argument = self.node("Placeholder", [], {"dtype": tensor.dtype, "shape": shape}, name=tensor.op.name)
        self.values[tensor] = Lifted(argument, many)
        return argument

    def of(self, outputs: Sequence[Tensor]) -> list[Lifted]:
        """What these tensors are in the lifted function."""
        for op in _needed(outputs, self._knows):
            self._lift(op)
        return [self.values[tensor] for tensor in outputs]

    def _knows(self, op: Operation) -> bool:
        """Whether a node's values are there, so that what it depends on does not matter."""
        return any(tensor in self.values for tensor in op.outputs)

    def _lift(self, op: Operation) -> None:
        if op.type in _OF_LOOPS:
            raise NotLiftableError
        if not all(tensor in self.values for tensor in op.inputs):
            raise NotLiftableError
        if not all(before.outputs or self._knows(before) for before in op.control_inputs):
            raise NotLiftableError
        inputs = [self.values[tensor] for tensor in op.inputs]
        self.guards.update(dict.fromkeys(op.outputs, self._guards(op)))
        many = any(value.many for value in inputs)
        if op._op_def.is_stateful:
            self._draw(op)
            return
        if op.type in ("Switch", "Merge"):
            (self._switch if op.type == "Switch" else self._merge)(op, inputs)
            return
        if many:
            rule = RULES.get(op.type)
            if rule is None:
                raise NotLiftableError
            outputs = rule(self, op, inputs)
        else:
            outputs = self.same(op, [value.tensor for value in inputs])
        self.values.update((old, Lifted(new, many)) for old, new in zip(op.outputs, outputs, strict=True))

    def _guards(self, op: Operation) -> Guards:
        """The branches that a node is in: those of its innermost input. Its control inputs have no other effect."""
        before = [*op.inputs, *(other.outputs[0] for other in op.control_inputs if other.outputs)]
        return max((self.guards.get(tensor, ()) for tensor in before), key=len, default=())

    def _switch(self, op: Operation, inputs: list[Lifted]) -> None:
        """Both branches are computed for all elements: where one of them fails, the elements are looked at singly."""
        condition = op.inputs[1]
        while condition.op.type == "Identity":
            condition = condition.op.inputs[0]
        outer = self.guards[op.outputs[0]]
        for branch, output in enumerate(op.outputs):
            self.values[output] = inputs[0]
            self.guards[output] = (*outer, (condition, bool(branch)))

    def _merge(self, op: Operation, inputs: list[Lifted]) -> None:
        """For each element, what comes from the branch that it takes."""
        guards = [self.guards.get(tensor, ()) for tensor in op.inputs]
        depth = len(guards[0]) - 1
        if len(inputs) != 2 or depth < 0 or len(guards[1]) != depth + 1 or guards[0][:depth] != guards[1][:depth]:
            raise NotLiftableError
        (condition, first), (other, second) = guards[0][depth], guards[1][depth]
        shapes = [tensor.shape for tensor in op.inputs]
        if condition is not other or first == second or not shapes[0].is_fully_defined() or shapes[0] != shapes[1]:
            raise NotLiftableError
        holds = self.values[condition]
        if not holds.many or condition.shape.rank != 0:
            raise NotLiftableError
        rank = rank_of(op.inputs[0])
        parts = [value.tensor for value in inputs]
        taken, left = parts if first else reversed(parts)
        chosen = self.node("SelectV2", [self.with_rank(holds, 0, rank), taken, left], {"T": op.inputs[0].dtype})
        self.values[op.outputs[0]] = Lifted(chosen, True)
        self.guards[op.outputs[0]] = guards[0][:depth]

    def _draw(self, op: Operation) -> None:
        """Random numbers that each element draws, once."""
        if op.type not in DRAWN or self.guards[op.outputs[0]]:
            raise NotLiftableError
        draw = RowDraws(op, [fixed(op, position) for position in range(len(op.inputs))])
        if not draw.possible:
            raise NotLiftableError
        self.draws.append(draw)
        self.argument(op.outputs[0], True)


def _needed(outputs: Iterable[Tensor], known: Callable[[Operation], bool]) -> list[Operation]:
    """The nodes that the outputs depend on, each after those that it depends on, as far as they are not known."""
    order: list[Operation] = []
    seen: set[Operation] = set()
    pending = [(tensor.op, False) for tensor in outputs]
    while pending:
        op, its_inputs_are_there = pending.pop()
        if its_inputs_are_there:
            order.append(op)
        elif op not in seen and not known(op):
            seen.add(op)
            pending.append((op, True))
            pending.extend((before, False) for before in (*(tensor.op for tensor in op.inputs), *op.control_inputs))
    return order
