"""A step of a graph, cut by task: stages that run one after another, each on one task, in one request.

A task's nodes are cut further, by how many times data must have come over from other tasks before they can run (`levels`).
So a stage never waits in its middle: everything that it receives can ride in the request that starts it, and everything that
it sends in the response. A training step with parameter servers is three stages (read the variables, compute gradients,
apply them): one request to each server in each direction. Nodes whose values may be dead (conditionals, loops) stay in one
stage, but for those that read or update state on several tasks. Such conditionals are cut, too (`branches`), and of such
loops the master runs the condition and the body again and again (`torn_loops`), in the place of a stage.

What goes from one task to another goes through the master, which costs no request of its own. Only a large tensor between
two tasks of which neither is the master's would cross the network twice so: the receiver asks the sender for it instead.

A stage is a GraphDef of TensorFlow's kind, with `_Recv` and `_Send` nodes at its borders; any TensorFlow worker can run it.
Constants, variables' handles and plain reads of variables are repeated in every stage that uses them: a read that comes
after an update's data sees the updated buffer, as it does in TensorFlow, where it aliases it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tensorboard.compat.proto import graph_pb2, tensor_pb2

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import UnimplementedError
from tfexp.graph.calls import add_called_functions
from tfexp.graph.graph import PRODUCER_VERSION
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.assign import Places
from tfexp.plan.branches import Branches, Conditions, Taken
from tfexp.plan.cohesion import PASSING_ON, Groups
from tfexp.plan.levels import Levels
from tfexp.plan.narrow import kept_exact
from tfexp.plan.primitives import MERGES
from tfexp.plan.prune import needed_operations
from tfexp.plan.stages import HELD, Edge, Loop, Partition, Round, Stage, task_of
from tfexp.plan.torn_loops import Part, PlacedByName, TornLoop, Whole, take_apart

# Bytes from which a tensor goes from one task to another by itself, when it is the master that they are both not: below,
# a request of its own costs more than the detour.
_LARGE = 1 << 18


def needed(fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Iterable[Tensor]) -> list[Operation]:
    """The nodes that a step runs, in the order in which the graph got them."""
    return sorted(needed_operations(fetches, targets, set(feeds)), key=lambda op: op._id)


def partition(
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    assignment: Places,
    incarnations: dict[str, int],
    client_device: str,
    narrow: DType | None = None,
) -> Partition:
    """Cut the step. Feeds and fetches belong to `client_device`. `incarnations`: of every device, for the keys.

    `narrow`: the type in which float32 values cross from task to task, where `plan.narrow` lets them; None: their own.
    """
    return _Partitioner(fetches, targets, feeds, assignment, incarnations, client_device, narrow).cut()


class _Partitioner:
    def __init__(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        assignment: Places,
        incarnations: dict[str, int],
        client_device: str,
        narrow: DType | None,
    ):
        self.fed = set(feeds)
        self.assignment = assignment
        self.loops: dict[str, TornLoop] = {}  # by what stands for their tasks
        self.fetches = [t for t in dict.fromkeys(fetches) if t not in self.fed]
        self.ops = needed(fetches, targets, feeds)
        self.incarnations = incarnations
        self.client = client_device
        self.device = {op: assignment[op] for op in self.ops}
        self.task = {op: task_of(device) for op, device in self.device.items()}
        self.groups = Groups(self.ops, self.fed)
        self.branches: Branches | None = None  # of conditionals that are cut
        self.torn: set[Operation] = set()  # their nodes
        self._give_groups_a_task()
        self.repeatable = {op for op in self.ops if _is_source(op, self.fed)}
        for op in self.ops:
            if op.type == "Identity" and not op._control_inputs and op._inputs[0] not in self.fed:
                before = op._inputs[0]
                if before.dtype._is_ref_dtype and before.op in self.repeatable and self.task[before.op] == self.task[op]:
                    self.repeatable.add(op)
        self._give_joints_a_task(set(targets))
        kept = set(targets) | {t.op for t in self.fetches}
        self.levels = Levels(
            self.ops, self.fed, self.task, self.groups, self.repeatable, kept, assignment.is_heavy, self.loops
        )
        self.edges: dict[tuple[Tensor, int, int], Edge] = {}
        self.front: dict[Edge, str] = {}  # what is sent in the place of a value that may be dead,
        self.behind: dict[Edge, str] = {}  # and what stands for it where it is received
        self.narrow = narrow
        self.exact = set() if narrow is None else kept_exact(self.ops)
        self.narrowed: set[Edge] = set()

    def _give_groups_a_task(self) -> None:
        """A conditional or a loop runs on one task: where its state is, else where its first node was to be.

        Nodes without state give the same values wherever they run, so those that were pinned elsewhere come along. When
        state on several tasks is read or updated inside, a conditional is cut, and a loop taken apart.
        """
        if len(set(self.task.values())) == 1:
            return
        for members in self.groups.members():
            homes = list(dict.fromkeys(self.task[op] for op in members if _has_state(op)))
            if len(homes) > 1 and self._can_be_torn(members):
                self.groups.dissolve(members)
                self.torn.update(members)
                continue
            if len(homes) > 1:
                self._take_apart(members, homes)
                continue
            home = homes[0] if homes else self.task[members[0]]
            device = next(self.device[op] for op in members if self.task[op] == home)
            for op in members:
                if self.task[op] != home:
                    self.task[op], self.device[op] = home, device

    def _take_apart(self, members: list[Operation], homes: list[str]) -> None:
        """Have the master run a loop; UnimplementedError where that cannot be."""
        try:
            loop = take_apart(members, self.fed, self.fetches, self.device, lambda op: _is_source(op, self.fed))
        except Whole as reason:
            a, b = (next(op for op in members if _has_state(op) and self.task[op] == home) for home in homes[:2])
            raise UnimplementedError(
                None,
                b,
                f"{b.name} ({b.type}) on {self.task[b]} and {a.name} ({a.type}) on {self.task[a]} belong to one loop, which "
                f"cannot go from task to task: {reason}. What it reads and updates has to be on one task",
            ) from None
        stand_in = f"loop {len(self.loops)}"
        self.loops[stand_in] = loop
        for op in members:
            self.task[op], self.device[op] = stand_in, self.client

    def _can_be_torn(self, members: list[Operation]) -> bool:
        """Whether the nodes are of conditionals alone, as `tf.cond` makes them."""
        if self.branches is None:
            self.branches = Branches(self.ops, self.fed)
        return self.branches.irregular.isdisjoint(members)

    def _give_joints_a_task(self, targets: set[Operation]) -> None:
        """Nodes that do nothing but wait for others (`tf.group`) go where they cost no request: to the task of whoever
        waits for them; at the end of a step, to that of those they wait for, or the client's if these are on several.
        """
        if len(set(self.task.values())) == 1:
            return
        grouped = {op for members in self.groups.members() for op in members}
        clients = task_of(self.client)
        for op in reversed(self.ops):
            if op.type != "NoOp" or op in grouped:
                continue
            later = [r for r in op._control_outputs if r in self.task]
            sooner = [b for b in op._control_inputs if b in self.task]
            around = sooner if op in targets or not later else later
            tasks = {self.task[other] for other in around}
            if len(tasks) == 1:
                self.task[op], self.device[op] = self.task[around[0]], self.device[around[0]]
            elif around is sooner and tasks:
                self.task[op], self.device[op] = clients, self.client

    # --- which stage -------------------------------------------------------------------------------------------------

    def cut(self) -> Partition:
        places = self.levels.places()
        self.number = {place: n for n, place in enumerate(places)}
        clients = task_of(self.client)
        self.stages = [Stage(clients if task in self.loops else task, graph_pb2.GraphDef()) for _, task, *_ in places]
        self.loop_of = {number: self.loops[task] for number, (_, task, *_) in enumerate(places) if task in self.loops}
        self.members: list[dict[Operation, None]] = [{} for _ in places]
        for op in self.ops:
            if op not in self.repeatable or op in self.levels.kept_sources:
                self.members[self._stage_of(op)][op] = None
        for number in range(len(self.stages)):
            if number in self.loop_of:
                self._build_loop(number)
            else:
                self._build(number)
        for number in range(len(self.stages)):
            self._add_sends(number)
        return Partition(tuple(self.stages), tuple(self.edges.values()))

    def _stage_of(self, op: Operation) -> int:
        return self.number[self.levels.place_of(op)]

    # --- what is in a stage ------------------------------------------------------------------------------------------

    def _build(self, number: int) -> None:
        stage, members = self.stages[number], self.members[number]
        stage.graph_def.versions.producer = PRODUCER_VERSION
        pending = list(members)
        while pending:
            for before in self.levels.inputs(pending.pop()):
                if self.levels.is_repeated_on(before, stage.task) and before not in members:
                    members[before] = None
                    pending.append(before)
        for op in list(members):
            members.update(dict.fromkeys(self._foreign_references(op, number).values()))
        # Copies first, then the rest in order: a control edge may name any of them.
        for op in sorted(members, key=lambda o: o._id):
            node = stage.graph_def.node.add()
            op._describe(node)
            here = self.task[op] == stage.task
            node.device = self.device[op] if here else self._device_in(number)
            del node.input[:]
            foreign = self._foreign_references(op, number)
            for tensor in op._inputs:
                known = foreign.get(tensor)
                node.input.append(self._input_name(tensor, number) if known is None else known.name)
            for tensor in foreign:
                stage.after.add(self._stage_of(tensor.op))
                node.input.extend(f"^{self._when(taken, number)}" for taken in self._conditions(tensor))
            for before in op._control_inputs:
                if before in members:
                    node.input.append(f"^{before.name}")
                elif before in self.task:
                    stage.after.add(self._stage_of(before))
                    if before in self.torn and self.branches is not None:
                        node.input.extend(f"^{self._when(taken, number)}" for taken in self.branches.of_op(before))
            if "_class" in node.attr:
                del node.attr["_class"]
        add_called_functions(stage.graph_def, members)

    def _build_loop(self, number: int) -> None:
        stage, loop = self.stages[number], self.loop_of[number]
        inside = self.members[number]
        for op in inside:
            before = [b for b in self.levels.inputs(op) if b not in inside and not self.levels.is_repeated_for(b, op)]
            stage.after.update(map(self._stage_of, before))
        values: list[Edge | tensor_pb2.TensorProto] = []
        for tensor in loop.values:
            if tensor not in self.fed and self.levels.is_repeated_for(tensor.op, next(iter(inside))):
                values.append(tensor.op.node_def.attr["value"].tensor)
                continue
            source = -1 if tensor in self.fed else self._stage_of(tensor.op)
            edge = self.edges.get((tensor, source, number))
            if edge is None:
                edge = self._edge(tensor, source, number)
                stage.received.append(edge)
            values.append(edge)
        exits = {tensor.name: variable for tensor, variable in loop.exits.items()}
        condition, body = self._round(loop.condition), self._round(loop.body)
        holds = any(tensor.dtype is dtypes.resource for tensor in loop.values)
        stage.loop = Loop(loop.name, loop.variables, tuple(values), exits, condition, body, holds)

    def _round(self, part: Part) -> Round:
        places = PlacedByName(part.devices, self.client, self.assignment)
        cut = partition(part.fetches, part.targets, part.feeds, places, self.incarnations, self.client, self.narrow)
        return Round(cut, tuple(t.name for t in part.feeds), tuple(t.name for t in part.fetches))

    def _foreign_references(self, op: Operation, number: int) -> dict[Tensor, Operation]:
        """The references and handles that a node works on and that another stage of its task hands on, each with its source.

        They do not cross a border, but every stage of the task has the variables, queues and the like.
        """
        found: dict[Tensor, Operation] = {}
        arguments = op._op_def.inputs  # what works on references takes no lists
        for position, tensor in enumerate(op._inputs):
            works_on_it = position < len(arguments) and arguments[position].is_ref
            if not (works_on_it or tensor.dtype is dtypes.resource) or tensor in self.fed or tensor.op in self.repeatable:
                continue
            if self.task[op] == self.task[tensor.op] and self._stage_of(tensor.op) != number:
                source = self._referred_to(tensor)
                if source is not None:
                    found[tensor] = source
        return found

    def _referred_to(self, reference: Tensor) -> Operation | None:
        """Where a reference or handle that was handed on comes from; None if that may be one of several."""
        op = reference.op
        while op not in self.repeatable:
            if op.type in MERGES or not op._inputs:
                return None
            before = op._inputs[0]
            if not (before.dtype._is_ref_dtype or before.dtype is dtypes.resource):
                return None
            op = before.op
        return op

    def _device_in(self, number: int) -> str:
        if number in self.loop_of:
            return self.client
        own = next(op for op in self.members[number] if self.task[op] == self.stages[number].task)
        return self.device[own]

    def _input_name(self, tensor: Tensor, number: int) -> str:
        members = self.members[number]
        if tensor in self.fed:
            return self._receive(tensor, -1, number)
        if tensor.op in members:
            return tensor.name.removesuffix(":0")
        return self._receive(tensor, self._stage_of(tensor.op), number)

    def _receive(self, tensor: Tensor, source: int, number: int) -> str:
        """The `_Recv` node for a value, made if there is none yet."""
        stage = self.stages[number]
        edge = self.edges.get((tensor, source, number))
        if edge is None:
            edge = self._edge(tensor, source, number)
            stage.received.append(edge)
            if source >= 0:
                stage.after.add(source)
            self._narrow(edge, tensor, number)
            self._border_node(stage, "_Recv", edge, tensor)
            self._switch_off(edge, tensor, number)
        return self.behind.get(edge, _node_name("_recv", edge))

    def _narrow(self, edge: Edge, tensor: Tensor, number: int) -> None:
        """Have a value cross to another task in fewer bits, if it may."""
        if self.narrow is None or edge.source < 0 or tensor in self.exact or self._conditions(tensor):
            return
        if edge.source in self.loop_of:
            return  # it comes from the master
        sender, receiver = self.stages[edge.source], self.stages[number]
        if sender.task != receiver.task:
            own, name = tensor.dtype.base_dtype, _node_name("_recv", edge)
            here = [tensor.name.removesuffix(":0")]
            self.narrowed.add(edge)
            self.front[edge] = self._node(
                sender.graph_def, "Cast", f"{name}_narrow", here, edge.source, SrcT=own, DstT=self.narrow
            ).name
            self.behind[edge] = self._node(
                receiver.graph_def, "Cast", f"{name}_wide", [name], number, SrcT=self.narrow, DstT=own
            ).name

    # --- conditionals that are cut -----------------------------------------------------------------------------------

    def _conditions(self, tensor: Tensor) -> Conditions:
        """What has to hold for a value that crosses a border to be alive."""
        if self.branches is None or tensor.op not in self.torn or tensor in self.fed:
            return ()
        return self.branches.of(tensor)

    def _switch_off(self, edge: Edge, tensor: Tensor, number: int) -> None:
        """Have a value of a branch cross as something that is alive, and be dead again behind the border if it was."""
        conditions = self._conditions(tensor)
        kind = tensor.dtype.base_dtype
        front, name = tensor.name.removesuffix(":0"), _node_name("_recv", edge)
        sender, receiver = self.stages[edge.source].graph_def, self.stages[number].graph_def
        for depth, taken in reversed(list(enumerate(conditions))):
            stand_in = self._node(sender, "Const", f"{name}_else_{depth}", [], edge.source, dtype=kind)
            stand_in.attr["value"].tensor.CopyFrom(_empty(kind))
            off = self._node(
                sender,
                "Switch",
                f"{name}_off_{depth}",
                [stand_in.name, self._input_name(taken.predicate, edge.source)],
                edge.source,
                T=kind,
            )
            other = f"{off.name}:1" if taken.side == 0 else off.name
            front = self._node(sender, "Merge", f"{name}_any_{depth}", [front, other], edge.source, T=kind, N=2).name
        behind = name
        for depth, taken in enumerate(conditions):
            inputs = [behind, self._input_name(taken.predicate, number)]
            node = self._node(receiver, "Switch", f"{name}_if_{depth}", inputs, number, T=kind)
            behind = f"{node.name}:1" if taken.side else node.name
        if conditions:
            self.front[edge], self.behind[edge] = front, behind

    def _when(self, taken: Taken, number: int) -> str:
        """A node of the stage that runs only if the predicate says so."""
        name = f"_when_{len(self.edges)}_{len(self.stages[number].graph_def.node)}"
        graph_def = self.stages[number].graph_def
        predicate = self._input_name(taken.predicate, number)
        switch = self._node(graph_def, "Switch", name, [predicate, predicate], number, T=dtypes.bool)
        taken_side = f"{switch.name}:1" if taken.side else switch.name
        return str(self._node(graph_def, "Identity", f"{name}_pivot", [taken_side], number, T=dtypes.bool).name)

    def _node(self, graph_def: Any, op_type: str, name: str, inputs: list[str], number: int, **attrs: DType | int) -> Any:
        node = graph_def.node.add(name=name, op=op_type, input=inputs, device=self._device_in(number))
        for key, value in attrs.items():
            if isinstance(value, int):
                node.attr[key].i = value
            else:
                node.attr[key].type = value.as_datatype_enum
        return node

    def _add_sends(self, number: int) -> None:
        stage = self.stages[number]
        sent = [(edge, tensor) for (tensor, source, _), edge in self.edges.items() if source == number]
        sent += [(self._edge(t, number, -1), t) for t in self.fetches if self._stage_of(t.op) == number]
        for edge, tensor in sent:
            stage.sent.append(edge)
            if number not in self.loop_of:
                self._border_node(stage, "_Send", edge, tensor)

    def _edge(self, tensor: Tensor, source: int, target: int) -> Edge:
        from_device = self.client if source < 0 else self.device[tensor.op]
        to_device = self.client if target < 0 else self._device_in(target)
        name = f"edge_{len(self.edges)}_{tensor.name.replace(':', '_')}"
        if source >= 0 and target >= 0 and self._goes_by_itself(tensor, source, target):
            sent_as = received_as = self._key(from_device, to_device, name)
        else:
            # What a loop takes or gives is the master's, and stays in no task: not even in the master's own.
            own = "_of_loop" if source in self.loop_of or target in self.loop_of else ""
            sent_as = self._key(from_device, from_device, name)
            received_as = self._key(to_device, to_device, name + own)
        edge = Edge(tensor.name, source, target, sent_as, received_as)
        self.edges[(tensor, source, target)] = edge
        return edge

    def _goes_by_itself(self, tensor: Tensor, source: int, target: int) -> bool:
        """Whether the value stays in its task, where another stage finds it or its task asks for it."""
        if source in self.loop_of or target in self.loop_of:
            return False
        tasks = {self.stages[source].task, self.stages[target].task}
        if len(tasks) == 1:
            return True
        elements, size = tensor._shape.num_elements(), tensor.dtype.base_dtype.size
        if elements is None or size is None or task_of(self.client) in tasks:
            return False
        return elements * size >= _LARGE

    def _key(self, from_device: str, to_device: str, name: str) -> str:
        return f"{from_device};{self.incarnations[from_device]:016x};{to_device};{name};0:0"

    def _border_node(self, stage: Stage, op_type: str, edge: Edge, tensor: Tensor) -> None:
        device, incarnation, other, name, _ = (edge.sent_as if op_type == "_Send" else edge.received_as).split(";")
        node = stage.graph_def.node.add(name=_node_name(op_type.lower(), edge), op=op_type)
        kind: DType = self.narrow if self.narrow is not None and edge in self.narrowed else tensor.dtype.base_dtype
        node.device = device if op_type == "_Send" else other
        node.experimental_debug_info.original_node_names.append(tensor.op.name)  # whom errors are to name
        if op_type == "_Send":
            node.input.append(self.front.get(edge, tensor.name.removesuffix(":0")))
            node.attr["T"].type = kind.as_datatype_enum
        else:
            node.attr["tensor_type"].type = kind.as_datatype_enum
        node.attr["tensor_name"].s = name.encode()
        node.attr["send_device"].s = device.encode()
        node.attr["recv_device"].s = other.encode()
        number = int(incarnation, 16)
        node.attr["send_device_incarnation"].i = number - (1 << 64) if number >= 1 << 63 else number
        if kind is dtypes.resource and (edge.source < 0 or edge.target in self.loop_of):
            node.attr[HELD].b = True
        node.attr["client_terminated"].b = edge.sent_as != edge.received_as


def _empty(dtype: DType) -> tensor_pb2.TensorProto:
    """A scalar of that type, of no meaning."""
    proto = tensor_pb2.TensorProto(dtype=dtype.as_datatype_enum)
    proto.tensor_shape.SetInParent()
    if dtype is dtypes.string:
        proto.string_val.append(b"")
    else:
        proto.tensor_content = bytes(dtype.size)
    return proto


def _node_name(kind: str, edge: Edge) -> str:
    # Node names of a graph cannot begin with an underscore, so this one is free.
    return f"{kind}_{edge.sent_as.split(';')[3]}"


def _has_state(op: Operation) -> bool:
    """Whether the node is bound to its task: it works on references or resources, or does what cannot be done elsewhere."""
    if op.type in PASSING_ON:
        return False
    kinds = (dtypes.resource, dtypes.variant)
    if any(t.dtype._is_ref_dtype or t.dtype in kinds for t in (*op._inputs, *op._outputs)):
        return True
    # Random numbers depend on their seeds, not on where they are drawn.
    return op._op_def.is_stateful and "seed" not in op._attrs


def _is_source(op: Operation, fed: set[Tensor]) -> bool:
    """Whether the node is the same thing wherever and whenever it is asked: a constant or a handle, waiting for nothing."""
    if op._inputs or op._control_inputs or any(t in fed for t in op._outputs):
        return False
    if op.type == "Const":
        return True
    kernel = op._op_def.kernels.get("CPU")
    return kernel is not None and kernel.handle
