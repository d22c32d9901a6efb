"""The last pass: a Draft becomes a Plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import NamedTuple

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.plan.alias import RootMap, Roots, writes
from tfexp.plan.ir import Draft, LoopDraft, Node, Value, ref_flags
from tfexp.plan.mortal import find_mortal, may_be_dead
from tfexp.plan.plan import Fetch, Keep, Loop, PassRecord, Plan, Section, Slot, Step
from tfexp.plan.reads import copy_reads


def freeze(
    draft: Draft,
    fed_shapes: tuple[TensorShape, ...],
    inter_op: int,
    passes: tuple[PassRecord, ...] = (),
    inner: bool = False,
) -> Plan:
    """Number the values, decide how fetches are handed out, and freeze everything. `inner`: a part of a loop."""
    mortal = find_mortal(draft.nodes)
    roots = copy_reads(draft)
    # A constant inside a branch still has to die with it.
    nodes = [node for node in draft.nodes if node in mortal or not node.is_constant]
    _complete_behind(nodes, roots, inter_op)
    values = list(dict.fromkeys([*draft.feeds, *(v for n in nodes for v in (*n.inputs, *n.outputs)), *draft.fetches]))
    freezer = _Freezer(
        positions={node: i for i, node in enumerate(nodes)},
        number={value: i for i, value in enumerate(values)},
        mortal=mortal,
        parking=_find_parking(nodes),
        roots=roots,
        inter_op=inter_op,
    )
    steps = tuple(freezer.step(node) for node in nodes)
    computed = {v for node in nodes for v in node.outputs}
    return Plan(
        slots=tuple(freezer.slot(value, draft.buffer_of.get(value), value in computed) for value in values),
        feeds=tuple(freezer.number[v] for v in draft.feeds),
        steps=steps,
        fetches=_fetches(draft, freezer.number, roots, inner),
        passes=passes,
        buffers=tuple(draft.buffer_sizes),
        may_wait=any(_may_wait(node) for node in nodes),
        fed_shapes=fed_shapes,
        shares=draft.shares or bool(draft.sections) or any(_shares(step) for step in steps),
        parks=bool(freezer.parking),
        inter_op=inter_op,
        sections=tuple(_section(strands, freezer.positions) for strands in draft.sections),
        inner=inner,
    )


class _Freezer(NamedTuple):
    """What is known of a whole draft, and turns its parts into a plan's."""

    positions: dict[Node, int]
    number: dict[Value, int]
    mortal: set[Node]
    parking: set[Node]
    roots: RootMap
    inter_op: int

    def step(self, node: Node) -> Step:
        assert node.kernel is not None
        flags = ref_flags(node)
        updated = writes(node, self.roots)
        return Step(
            name=node.name,
            op=node.op,
            attrs=node.attrs,
            device=node.device,
            origin=node.origin,
            kernel=node.kernel,
            call=node.call,
            inputs=tuple(self.number[v] for v in node.inputs),
            outputs=tuple(self.number[v] for v in node.outputs),
            reads_through=tuple(v.dtype._is_ref_dtype and not f for v, f in zip(node.inputs, flags, strict=True)),
            needs_value=() if node.op.allows_uninitialized_input else tuple(i for i, f in enumerate(flags) if f),
            copied=_copied(node, flags, updated, self.roots),
            waits_for_dead=tuple(self.positions[c] for c in node.controls if c in self.mortal),
            may_be_dead=node in self.mortal,
            writes=tuple(self.number[v] for v in node.ref_inputs()) if updated else (),
            input_names=tuple(v.name for v in node.inputs),
            controls=tuple(c.name for c in node.controls),
            loop=None if node.loop is None else _freeze_loop(node.loop, self.inter_op),
            behind=tuple(sorted(self.positions[b] for b in node.behind if b in self.positions)),
            waits=node.waits,
            own_thread=node.own_thread,
            parks=node in self.parking,
            copies=node.copies,
        )

    def slot(self, value: Value, buffer: int | None, computed: bool) -> Slot:
        return Slot(
            name=value.name,
            dtype=value.dtype,
            shape=value.shape,
            constant=None if computed else value.constant,
            buffer=buffer,
            may_be_dead=may_be_dead(value, self.mortal),
        )


def _copied(node: Node, flags: list[bool], updated: Roots, roots: RootMap) -> tuple[int, ...]:
    """The inputs in a variable that the node updates: an update in several strokes must not see its own first ones.

    A loop is to see them: what its body reads after an update is the variable as it is then.
    """
    if node.loop is not None:
        return ()
    return tuple(i for i, v in enumerate(node.inputs) if not flags[i] and not updated.isdisjoint(roots[v]))


def _section(strands: list[list[Node]], positions: dict[Node, int]) -> Section:
    within = [[positions[node] for node in strand if node in positions] for strand in strands]
    return Section(tuple(range(strand[0], strand[-1] + 1) for strand in within if strand))


def _shares(step: Step) -> bool:
    return step.kernel.shares or (step.loop is not None and (step.loop.condition.shares or step.loop.body.shares))


def _complete_behind(nodes: list[Node], roots: RootMap, inter_op: int) -> None:
    """Make `behind` true of the nodes as the passes left them, which are in the order in which they run.

    A node that stands for several waits for all that any of them waited for, but for nothing that runs later. And what
    touches a variable keeps its place beside the variable's updates when it has to wait for a function of the user's.
    """
    if not any(node.waits for node in nodes):
        return
    crowded = sum(node.own_thread for node in nodes) > inter_op  # then not even these begin in this order
    before_readers: dict[Hashable, frozenset[Node]] = defaultdict(frozenset)
    before_updates: dict[Hashable, frozenset[Node]] = defaultdict(frozenset)
    seen: set[Node] = set()
    for node in nodes:
        before = {v.node for v in node.inputs if v.node is not None}.union(node.controls)
        waiting = {other for other in before if other.waits}
        updated = writes(node, roots)
        touched = updated.union(*(roots[v] for v in node.inputs))
        behind = node.behind.union(waiting, *(other.behind for other in before), *(before_updates[k] for k in touched))
        node.behind = behind.union(*(before_readers[key] for key in updated)) & seen
        functions = frozenset(other for other in node.behind if other.own_thread)
        if node.own_thread and crowded:
            functions |= {node}
        for key in touched:
            before_readers[key] |= functions
        for key in updated:
            before_updates[key] |= functions
        seen.add(node)


def _find_parking(nodes: list[Node]) -> set[Node]:
    """The nodes that may have to wait while some later node need not wait for them."""
    waiting = [(i, node) for i, node in enumerate(nodes) if node.waits]
    return {node for i, node in waiting if any(node not in after.behind for after in nodes[i + 1 :])}


def _freeze_loop(loop: LoopDraft, inter_op: int) -> Loop:
    condition, body = (
        freeze(draft, tuple(feed.shape for feed in draft.feeds), inter_op, inner=True)
        for draft in (loop.condition, loop.body)
    )
    return Loop(loop.variables, condition, body, tuple(loop.results))


def _may_wait(node: Node) -> bool:
    """Kernels wait on what they share with others: queues, barriers, tables, reached through handles. Loops may not end."""
    if node.loop is not None or node.waits:
        return True
    kinds = (dtypes.resource, dtypes.variant)
    return node.op.is_stateful and any(
        v.dtype.base_dtype in kinds or (v.dtype._is_ref_dtype and v.dtype.base_dtype is dtypes.string) for v in node.inputs
    )


def _fetches(draft: Draft, number: dict[Value, int], roots: RootMap, inner: bool) -> tuple[Fetch, ...]:
    """A fetched value is handed out as it is only if it owns its memory and nobody else was given that.

    Within a loop nobody writes to what is handed on, except to variables.
    """
    if inner:
        return tuple(Fetch(number[v], _kept_inside(v, roots)) for v in draft.fetches)
    given: set[object] = set()
    fetches = []
    for value in draft.fetches:
        owners = roots[value]
        fresh = all(
            isinstance(owner, Value) and owner.node is not None and owner.constant is None and owner not in given
            for owner in owners
        )
        given.update(owners)
        handle = value.dtype.base_dtype in (dtypes.resource, dtypes.variant)  # nothing that is written to
        fetches.append(Fetch(number[value], Keep.AS_IT_IS if fresh or handle else Keep.COPY))
    return tuple(fetches)


def _kept_inside(value: Value, roots: RootMap) -> Keep:
    if value.dtype._is_ref_dtype or value.dtype in (dtypes.resource, dtypes.variant):
        return Keep.AS_IT_IS
    in_variable = any(
        isinstance(root, tuple) or (isinstance(root, Value) and (root.dtype._is_ref_dtype or root.dtype is dtypes.resource))
        for root in roots[value]
    )
    return Keep.COPY if in_variable else Keep.AS_IT_IS
