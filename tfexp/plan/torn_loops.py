"""Loops whose state is on several tasks: taken apart into what the master runs again and again (`partition`).

A stage of a step receives at its start and sends at its end, so a loop that goes round inside of a stage cannot have values
cross between tasks on its way. TensorFlow gives every device a control loop of its own for that; here the master goes round:
the condition and the body are graphs of their own, each cut into stages like any step, and a loop variable is what the body
gives in one round and is fed in the next. So nothing in a stage knows of the loop, every round is a step of its own on the
tasks (any TensorFlow worker can run it), and conditionals and further loops inside are cut as they are outside.

What comes in from outside is the variables' first values and the invariants; both pass through the master. Handles and
references of variables, queues and the like need not: a round makes them anew. What lives for one step (a TensorArray, the
stacks that a gradient needs) has a handle that is made once. It is an invariant, too, but stays where it is: the task holds
it until the step has ended, and gives the master a name for it (`stages.HELD`). (TensorFlow's own workers drop such things
with each graph that has run; on them, only loops without these go round.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from tensorboard.compat.proto import graph_pb2

from tfexp.core import dtypes
from tfexp.graph.calls import add_called_functions
from tfexp.graph.graph import PRODUCER_VERSION, Graph
from tfexp.graph.graphdef import extend_graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.assign import Places
from tfexp.plan.cohesion import frames_of
from tfexp.plan.primitives import BACK_EDGES, ENTERS, EXITS, MERGES, SWITCHES


class Whole(Exception):  # noqa: N818  (an answer, and no error of anybody's)
    """Why a loop cannot be taken apart."""


@dataclass(frozen=True)
class Part:
    """The condition or the body as a graph: what it is fed, in the order of the loop's values, what it gives, what it runs.

    `devices`: where its nodes are, by name.
    """

    feeds: tuple[Tensor, ...]
    fetches: tuple[Tensor, ...]
    targets: tuple[Operation, ...]
    devices: Mapping[str, str]


@dataclass(frozen=True)
class TornLoop:
    """A loop of which the first so many `values` are variables, and the others invariants.

    `values` are the tensors outside that they come from; `exits` say which variable leaves the loop as which tensor.
    """

    name: str
    variables: int
    values: tuple[Tensor, ...]
    exits: Mapping[Tensor, int]
    condition: Part
    body: Part


class PlacedByName:
    """The devices of a part's nodes: those that the nodes have that they are copies of."""

    def __init__(self, devices: Mapping[str, str], client: str, places: Places):
        self._devices, self._client = devices, client
        self.device_for = places.device_for

    def place(self, ops: Iterable[Operation]) -> None:
        pass

    def __getitem__(self, op: Operation) -> str:
        return self._devices.get(op.name, self._client)

    def is_heavy(self, op: Operation) -> bool:
        return False


IsSource = Callable[[Operation], bool]


def take_apart(
    members: list[Operation],
    fed: Collection[Tensor],
    fetches: Iterable[Tensor],
    device: Mapping[Operation, str],
    is_source: IsSource,
) -> TornLoop:
    """The loop that the nodes are. `is_source`: whether a node is a constant or a handle, the same wherever it is asked.

    Whole for nodes that are no single loop, as `tf.while_loop` makes it, outside of conditionals; for references that are
    not a source's; and for values inside that are fed or fetched.
    """
    loop = _Apart(members, fed, device, is_source).loop()
    inside = set(members)
    for tensor in fetches:
        if tensor.op in inside and tensor not in loop.exits:
            raise Whole(f"{tensor.op.name} ({tensor.op.type}) is inside of it and cannot be fetched from outside")
    return loop


class _Apart:
    def __init__(
        self,
        members: list[Operation],
        fed: Collection[Tensor],
        device: Mapping[Operation, str],
        is_source: IsSource,
    ):
        self._members, self._device, self._is_source = set(members), device, is_source
        frames = frames_of(members, set(fed), self._members)
        enters = [op for op in members if op.type in ENTERS and len(frames[op]) == 1]
        names = {frames[op][0] for op in enters}
        if len(names) != 1:
            raise Whole("it is not by itself")
        for op in members:
            if not frames[op] and op.type not in EXITS:
                raise Whole(f"it belongs to a conditional, with {op.name} ({op.type})")
            if any(t in fed for t in op._outputs):
                raise Whole(f"{op.name} ({op.type}) is fed inside of it")
        self._name = names.pop()
        inside = [op for op in members if len(frames[op]) == 1]
        self._merges = [op for op in inside if op.type in MERGES and any(t.op.type in BACK_EDGES for t in op._inputs)]
        self._conditions = [op for op in inside if op.type == "LoopCond"]
        if len(self._conditions) != 1 or any(len(op._inputs) != 2 for op in self._merges):
            raise Whole("it has not the form of a while loop")
        first = [next(t for t in op._inputs if t.op.type not in BACK_EDGES) for op in self._merges]
        if any(t.op not in enters for t in first):
            raise Whole("it has not the form of a while loop")
        entered = {t.op for t in first}
        self._handles = {op for op in enters if op not in entered and self._source(op._outputs[0]) is not None}
        self._invariants = [op for op in enters if op not in entered and op not in self._handles]
        for op in (*entered, *self._invariants):
            if _is_handle(op._inputs[0]) and not (op in self._invariants and op._inputs[0].dtype is dtypes.resource):
                raise Whole(f"{op.name} ({op.type}) brings in what is no value that can be sent")
        self._switches = [
            op
            for op in inside
            if op.type in SWITCHES and op._inputs[0].op in self._merges and op._inputs[1].op is self._conditions[0]
        ]
        # What brings values in and makes them go round.
        self._rounds = {*self._merges, *self._conditions, *self._switches, *enters}

    def loop(self) -> TornLoop:
        number = {merge: n for n, merge in enumerate(self._merges)}
        first = [next(t for t in op._inputs if t.op.type not in BACK_EDGES) for op in self._merges]
        last = [next(t for t in op._inputs if t.op.type in BACK_EDGES) for op in self._merges]
        values = [t.op._inputs[0] for t in first] + [op._inputs[0] for op in self._invariants]
        borders: dict[Tensor, int] = {op._outputs[0]: len(first) + n for n, op in enumerate(self._invariants)}
        borders.update({merge._outputs[0]: n for merge, n in number.items()})
        condition = self._part([self._conditions[0]._inputs[0]], self._conditions, borders)
        borders.update({op._outputs[1]: number[op._inputs[0].op] for op in self._switches})
        body = self._part([t.op._inputs[0] for t in last], [t.op for t in last], borders)
        left = {op._outputs[0]: number[op._inputs[0].op] for op in self._switches}
        exits = {
            reader._outputs[0]: variable for t, variable in left.items() for reader in t._consumers if reader.type in EXITS
        }
        return TornLoop(self._name, len(first), tuple(values), exits, condition, body)

    def _part(self, fetches: list[Tensor], ends: list[Operation], borders: Mapping[Tensor, int]) -> Part:
        """A graph with copies of what the fetches need and their `ends` wait for; the loop's values are placeholders."""
        graph_def = graph_pb2.GraphDef()
        graph_def.versions.producer = PRODUCER_VERSION
        names: dict[int, str] = {}
        for tensor, number in borders.items():
            if number not in names:
                names[number] = tensor.op.name
                node = graph_def.node.add(name=tensor.op.name, op="Placeholder")
                node.attr["dtype"].type = tensor.dtype.base_dtype.as_datatype_enum
                node.attr["shape"].shape.CopyFrom(tensor._shape.as_proto())

        def text(tensor: Tensor) -> str:
            return names[borders[tensor]] if tensor in borders else self._behind(tensor).name.removesuffix(":0")

        targets = [before for op in ends for before in self._controls(op)]
        ops = self._needed([self._behind(t).op for t in fetches if t not in borders] + targets, borders)
        for op in ops:
            node = graph_def.node.add()
            op._describe(node)
            del node.input[:]
            node.input.extend([text(t) for t in op._inputs] + [f"^{before.name}" for before in self._controls(op)])
            if "_class" in node.attr:
                del node.attr["_class"]
        add_called_functions(graph_def, ops)
        graph = Graph()
        extend_graph(graph, graph_def, {})
        known = graph._by_name
        feeds = tuple(known[names[number]]._outputs[0] for number in range(len(names)))
        found = [text(t).partition(":") for t in fetches]
        fetched = tuple(known[name]._outputs[int(index or 0)] for name, _, index in found)
        return Part(feeds, fetched, tuple(known[op.name] for op in targets), {op.name: self._device[op] for op in ops})

    def _needed(self, ends: list[Operation], borders: Collection[Tensor]) -> list[Operation]:
        """The nodes that have to run for these, from the borders on, in the order in which the graph got them."""
        found: set[Operation] = set()
        pending = list(ends)
        while pending:
            op = pending.pop()
            if op not in found:
                if op in self._rounds:
                    raise Whole(f"{op.name} ({op.type}) has not the place that it has in a while loop")
                found.add(op)
                pending.extend(self._behind(t).op for t in op._inputs if t not in borders)
                pending.extend(self._controls(op))
        return sorted(found, key=lambda op: op._id)

    def _controls(self, op: Operation) -> list[Operation]:
        """What the node waits for inside; that it waits for its round is a matter of course."""
        return [before for before in op._control_inputs if before in self._members and before not in self._rounds]

    def _behind(self, tensor: Tensor) -> Tensor:
        """What a handle that comes in is outside."""
        source = self._source(tensor) if tensor.op in self._handles else None
        return tensor if source is None else source

    def _source(self, tensor: Tensor) -> Tensor | None:
        """The source that a handle or reference comes from, however it was handed on; None if there is none."""
        while _is_handle(tensor) and not self._is_source(tensor.op):
            if tensor.op.type in MERGES or not tensor.op._inputs:
                return None
            tensor = tensor.op._inputs[0]
        return tensor if _is_handle(tensor) else None


def _is_handle(tensor: Tensor) -> bool:
    return tensor.dtype._is_ref_dtype or tensor.dtype in (dtypes.resource, dtypes.variant)
