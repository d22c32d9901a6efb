"""Loops: the nodes of a frame become one node that runs a plan for the condition and a plan for the body, again and again.

A graph says how a loop runs with five kinds of nodes: Enter brings a value into a frame, Merge is a variable (what entered,
or what NextIteration brings from the iteration before), LoopCond is the condition, Switch sends a variable into the body or,
at the end, to an Exit. Whatever was made by `tf.while_loop` or its gradient, here or in TensorFlow, has this form: so there
is no need to move values between frames one by one, and each part of a loop is planned like any other graph. A loop made by
hand may do without LoopCond: its condition is what decides the Switches of its variables. Iterations run one after another,
whatever `parallel_iterations` says, which no value can tell.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tfexp.core.errors import InternalError, InvalidArgumentError, UnimplementedError
from tfexp.core.kernel import Kernel
from tfexp.core.op import Arg, Op, get_op
from tfexp.plan.ir import Draft, LoopDraft, Node, Value, drafts_within, is_pure, ref_flags
from tfexp.plan.loop_waits import let_go
from tfexp.plan.primitives import BACK_EDGES, ENTERS, EXITS, MERGES, SWITCHES

# Where a node is: the names of the frames around it, outermost first.
Frame = tuple[str, ...]


def contract_loops(draft: Draft) -> None:
    """Put one node in place of each loop.

    InvalidArgumentError for edges between frames that do not go through an Enter or an Exit.
    """
    if not any(node.type in ENTERS for node in draft.nodes):
        return
    frames = _frames(draft)
    let_go(draft, frames)
    replaced: dict[Node, Node] = {}
    draft.nodes = _contract(draft.nodes, (), frames, replaced)
    for node in draft.nodes:
        node.controls = _outside(node.controls, replaced)
    draft.targets = list(dict.fromkeys(replaced.get(node, node) for node in draft.targets))
    present = set(draft.nodes)
    for value in draft.fetches:
        if value.node is not None and value.node not in present:
            raise InvalidArgumentError(
                None, value.node.origin, f"{value.name} is inside of a while loop and cannot be fetched from outside of it"
            )


def _outside(controls: list[Node], replaced: dict[Node, Node]) -> list[Node]:
    return list(dict.fromkeys(replaced.get(node, node) for node in controls))


# --- frames -------------------------------------------------------------------------------------------------------


def _frames(draft: Draft) -> dict[Node, Frame]:
    """The frame that each node runs in; for an Enter the one that it leads to, for an Exit the one that it leads out of."""
    waiting: dict[Node, int] = {}
    successors: dict[Node, list[Node]] = defaultdict(list)
    for node in draft.nodes:
        before = {v.node for v in node.inputs if v.node is not None}
        before.update(node.controls)
        if node.type in MERGES:
            before = {b for b in before if b.type not in BACK_EDGES}
        waiting[node] = len(before)
        for other in before:
            successors[other].append(node)
    frames: dict[Node, Frame] = {}
    ready = [node for node in draft.nodes if waiting[node] == 0]
    while ready:
        node = ready.pop()
        frames[node] = _frame_of(node, frames)
        for after in successors[node]:
            waiting[after] -= 1
            if waiting[after] == 0:
                ready.append(after)
    if len(frames) < len(draft.nodes):
        stuck = next(node for node in draft.nodes if node not in frames)
        raise InvalidArgumentError(
            None, stuck.origin, f"The graph has a cycle through node {stuck.name} ({stuck.type}) that is no while loop"
        )
    return frames


def _frame_of(node: Node, frames: dict[Node, Frame]) -> Frame:
    found: tuple[Frame, str] | None = None
    for value in node.inputs:
        if value.node is not None and value.node not in frames:
            continue  # the back edge of a loop
        frame = () if value.node is None else _leads_to(value.node, frames)
        if found is not None and found[0] != frame:
            raise InvalidArgumentError(
                None,
                node.origin,
                f"{{{{node {node.name}}}}} has inputs from different frames. The input {{{{node {found[1]}}}}} is in frame "
                f"'{'/'.join(found[0])}'. The input {{{{node {_name(value)}}}}} is in frame '{'/'.join(frame)}'.",
            )
        found = frame, _name(value)
    # Control edges may come from the frames around.
    around = max((_leads_to(c, frames) for c in node.controls), key=len, default=())
    frame = around if found is None else found[0]
    if node.type in ENTERS:
        return (*frame, node.attrs["frame_name"])
    return frame


def _leads_to(node: Node, frames: dict[Node, Frame]) -> Frame:
    return frames[node][:-1] if node.type in EXITS else frames[node]


def _name(value: Value) -> str:
    return value.name.rpartition(":")[0]


# --- loops --------------------------------------------------------------------------------------------------------


def _contract(nodes: list[Node], around: Frame, frames: dict[Node, Frame], replaced: dict[Node, Node]) -> list[Node]:
    """`nodes`, all of them in the frame `around` or inside of it, with one node for each loop in that frame."""
    own: list[Node] = []
    inside: dict[Frame, list[Node]] = defaultdict(list)
    for node in nodes:
        frame = frames[node]
        if frame == around:
            own.append(node)
        else:
            inside[frame[: len(around) + 1]].append(node)
    for frame, members in inside.items():
        parts = _contract(members, frame, frames, replaced)
        if not any(node.type in BACK_EDGES for node in parts):
            own.extend(map(_run_once, parts))
            continue
        loop = _Loop(frame[-1], parts, replaced).as_node()
        replaced.update((node, loop) for node in parts)
        own.append(loop)
    return own


def _run_once(node: Node) -> Node:
    """A node of a frame that nothing goes round in: what enters such a frame, or leaves it, stays what it is."""
    if node.type in ("Enter", "Exit", "LoopCond"):
        _read(node)
    elif node.type in ("RefEnter", "RefExit"):
        node.op, node.attrs = get_op("RefIdentity"), {"T": node.outputs[0].dtype.base_dtype}
        node.kernel = node.op.kernels["CPU"]
    return node


def _read(node: Node) -> Value:
    """Let a node that passes something on read it: the value."""
    value, read = node.inputs[0], node.outputs[0]
    read.dtype = value.dtype.base_dtype
    node.op, node.attrs = get_op("Identity"), {"T": read.dtype}
    return read


def _passed_on(node: Node, part: list[Node]) -> Value:
    """What comes to a back edge or the condition as a value; the node itself, in `part`, reads what comes as a reference."""
    value = node.inputs[0]
    if not value.dtype._is_ref_dtype:
        return value
    part.append(node)
    return _read(node)


def _never_called(ctx: Any, *inputs: Any) -> Any:
    raise InternalError(None, None, "A loop was not bound to what runs it")


class _Loop:
    """The nodes of one frame, sorted by what they do."""

    def __init__(self, frame: str, nodes: list[Node], replaced: dict[Node, Node]):
        self.frame = frame
        self.nodes = nodes
        for node in nodes:
            node.controls = _outside(node.controls, replaced)
        self.enters = [node for node in nodes if node.type in ENTERS]
        self.exits = [node for node in nodes if node.type in EXITS]
        self.back_edges = [node for node in nodes if node.type in BACK_EDGES]
        backs = set(self.back_edges)
        self.merges = [n for n in nodes if n.type in MERGES and any(v.node in backs for v in n.inputs)]
        self.condition = self._condition()
        self.switches = [n for n in nodes if n.type in SWITCHES and n.inputs[1] is self.condition.outputs[0]]
        self.ways_out = self._ways_out()
        self.initial = [self._input_from(merge, ENTERS) for merge in self.merges]
        self.following = [self._input_from(merge, BACK_EDGES) for merge in self.merges]
        starts = set(self.initial)
        self.constants = [node for node in self.enters if node not in starts]

    def _unimplemented(self, node: Node, why: str) -> UnimplementedError:
        return UnimplementedError(
            None, node.origin, f"The loop of frame {self.frame!r}, through node {node.name}, cannot be run: {why}"
        )

    def _condition(self) -> Node:
        """The LoopCond; where a loop has none, a new one for what decides the Switches of its variables."""
        given = [node for node in self.nodes if node.type == "LoopCond"]
        if len(given) == 1:
            return given[0]
        merges = set(self.merges)
        switches = [node for node in self.nodes if node.type in SWITCHES and node.inputs[0].node in merges]
        decisive = {switch.inputs[1] for switch in switches}
        if given or len(decisive) != 1:
            raise self._unimplemented(self.nodes[0], f"it has {len(given)} LoopCond nodes, not one")
        (decided,) = decisive
        condition = Node(self.frame, get_op("LoopCond"), {}, switches[0].device, switches[0].origin, switches[0].serial)
        condition.inputs = [decided]
        condition.outputs = [Value(condition, 0, decided.name, decided.dtype.base_dtype, decided.shape)]
        for switch in switches:
            switch.inputs[1] = condition.outputs[0]
        return condition

    def _ways_out(self) -> dict[Value, Value]:
        """What nodes before an Exit give, and what of a Switch they hand on: gradients that wait for each other do that."""
        leaving = {switch.outputs[0] for switch in self.switches}
        found: dict[Value, Value] = {}
        for node in sorted(self.nodes, key=lambda node: node.serial):
            if node.type == "Identity" and node.inputs[0] in leaving and all(c.type == "NoOp" for c in node.controls):
                found[node.outputs[0]] = node.inputs[0]
                leaving.add(node.outputs[0])
        return found

    def _input_from(self, merge: Node, types: frozenset[str]) -> Node:
        found = [v.node for v in merge.inputs if v.node is not None and v.node.type in types]
        if len(found) != 1 or len(merge.inputs) != 2:
            raise self._unimplemented(merge, "a Merge must have one input from an Enter and one from a NextIteration")
        return found[0]

    def as_node(self) -> Node:
        skeleton = {self.condition, *self.enters, *self.exits, *self.back_edges, *self.switches, *self.merges}
        skeleton |= {value.node for value in self.ways_out if value.node is not None}
        rest = [node for node in self.nodes if node not in skeleton]
        in_body = self._nodes_of_body(rest)
        condition_part = [node for node in rest if node not in in_body]
        decided = _passed_on(self.condition, condition_part)
        condition = _Part(condition_part, self.merges, self.constants, [])
        for switch in self.switches:
            if switch.inputs[0].node not in self.merges:
                raise self._unimplemented(switch, "a Switch on its condition must be for a variable of the loop")
        aliases = {s.outputs[1]: s.inputs[0] for s in self.switches}
        aliases[self.condition.outputs[0]] = decided
        body_nodes = [node for node in rest if node in in_body]
        wanted = [*(v for n in body_nodes for v in n.inputs), *(b.inputs[0] for b in self.back_edges)]
        following = [
            edge.inputs[0] if merge.type == "RefMerge" else _passed_on(edge, body_nodes)
            for edge, merge in zip(self.following, self.merges, strict=True)
        ]
        made_by_condition = set(condition_part)
        handed_on = list(
            dict.fromkeys(v for w in wanted if (v := aliases.get(w, w)).node in made_by_condition or v is decided)
        )
        body = _Part(body_nodes, self.merges, self.constants, handed_on, aliases)
        known = set(body_nodes)
        targets = [c for b in self.back_edges for c in b.controls if c in known]
        loop = LoopDraft(
            len(self.merges),
            condition.draft([decided, *handed_on], []),
            body.draft(following, list(dict.fromkeys(targets))),
            [self._result(exit_) for exit_ in self.exits],
        )
        return self._node(loop)

    def _nodes_of_body(self, rest: list[Node]) -> set[Node]:
        """What depends on a variable that the condition has let into the body, and what only the body needs."""
        entrances = {switch.outputs[1] for switch in self.switches}
        leaving = {switch.outputs[0] for switch in self.switches}
        consumers: dict[Node, list[Node]] = defaultdict(list)
        body: set[Node] = set()
        own = set(rest)
        for node in rest:
            for value in node.inputs:
                if value in leaving:
                    raise self._unimplemented(node, "a variable goes elsewhere than to an Exit when the loop ends")
                if value in entrances:
                    body.add(node)
            for before in {*(v.node for v in node.inputs if v.node is not None), *node.controls}:
                consumers[before].append(node)
        pending = list(body)
        while pending:
            for after in consumers[pending.pop()]:
                if after not in body and after in own:
                    body.add(after)
                    pending.append(after)
        needed: set[Node] = set()
        pending = [self.condition]
        while pending:
            node = pending.pop()
            for before in {*(v.node for v in node.inputs if v.node is not None), *node.controls}:
                if before in own and before not in needed:
                    needed.add(before)
                    pending.append(before)
        wrong = next((node for node in rest if node in body and node in needed), None)
        if wrong is not None:
            raise self._unimplemented(wrong, "its condition depends on its body")
        # In the condition, a node would run once more than in the body.
        for node in sorted(own - needed - body, key=lambda n: -n.serial):
            if node.loop is None and is_pure(node) and all(after in body for after in consumers[node] if after in own):
                body.add(node)
        return body

    def _result(self, exit_: Node) -> int:
        value = exit_.inputs[0]
        while value in self.ways_out:
            value = self.ways_out[value]
        switch = value.node
        if switch not in self.switches or value.index != 0:
            raise self._unimplemented(exit_, "an Exit must be for a variable of the loop")
        merge = switch.inputs[0].node
        assert merge is not None
        return self.merges.index(merge)

    def _node(self, loop: LoopDraft) -> Node:
        inputs = [enter.inputs[0] for enter in (*self.initial, *self.constants)]
        outputs = [exit_.outputs[0] for exit_ in self.exits]
        refs = [enter.type == "RefEnter" for enter in (*self.initial, *self.constants)]
        node = Node(
            self.frame,
            _loop_op(inputs, refs, outputs, _writes(loop)),
            {},
            self.condition.device,
            self.condition.origin,
            self.condition.serial,
        )
        node.kernel = Kernel(_never_called, (), view=True)
        node.inputs = inputs
        own = {*self.nodes}
        node.controls = list(dict.fromkeys(c for n in self.nodes for c in n.controls if c not in own))
        node.outputs = outputs
        for index, value in enumerate(outputs):
            value.node, value.index = node, index
        node.loop = loop
        return node


def _writes(loop: LoopDraft) -> bool:
    """Whether anything in the loop may update a variable."""
    return any(
        node.op.writes_refs and any(ref_flags(node))
        for part in (loop.condition, loop.body)
        for draft in drafts_within(part)
        for node in draft.nodes
    )


def _loop_op(inputs: list[Value], refs: list[bool], outputs: list[Value], writes: bool) -> Op:
    """An op for this one node, which no graph has."""
    return Op(
        name="While",
        inputs=tuple(
            Arg(f"input_{i}", dtype=v.dtype.base_dtype, is_ref=ref)
            for i, (v, ref) in enumerate(zip(inputs, refs, strict=True))
        ),
        outputs=tuple(
            Arg(f"output_{i}", dtype=v.dtype.base_dtype, is_ref=v.dtype._is_ref_dtype) for i, v in enumerate(outputs)
        ),
        attrs={},
        is_stateful=True,
        is_commutative=False,
        is_aggregate=False,
        allows_uninitialized_input=True,
        signature="",
        writes_refs=writes,
        on_variables=True,
    )


class _Part:
    """The condition or the body as a draft of its own: what comes from elsewhere in the loop is fed."""

    def __init__(
        self,
        nodes: list[Node],
        merges: list[Node],
        constants: list[Node],
        handed_on: list[Value],
        aliases: dict[Value, Value] | None = None,
    ):
        self.nodes = nodes
        self.aliases = aliases or {}
        sources = [*(merge.outputs[0] for merge in merges), *(enter.outputs[0] for enter in constants), *handed_on]
        self.feeds = [Value(None, i, v.name, v.dtype, v.shape) for i, v in enumerate(sources)]
        self.instead = dict(zip(sources, self.feeds, strict=True))

    def _inside(self, value: Value) -> Value:
        value = self.aliases.get(value, value)
        return self.instead.get(value, value)

    def draft(self, fetches: list[Value], targets: list[Node]) -> Draft:
        own = set(self.nodes)
        for node in self.nodes:
            node.inputs = [self._inside(value) for value in node.inputs]
            node.controls = [before for before in node.controls if before in own]
        return Draft(self.nodes, self.feeds, [self._inside(value) for value in fetches], targets)
