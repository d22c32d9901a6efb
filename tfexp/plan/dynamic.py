"""The dynamic placer: of the nodes that nobody pinned, those that only compute go where the step ends earliest.

It starts from what the simple placer says (`plan.assign`). Variables, queues, random numbers, whatever reads or updates a
reference, and the nodes of conditionals and loops stay there: where state lives must not depend on what was measured. The
rest is placed by simulation (`plan.schedule`, which names the algorithm), at costs that come from steps that ran
(`plan.measured`), or until there are any from the ops and their shapes (`plan.cost`). Pins, also partial ones, hold, and so
do colocation and the memory of devices. `ConfigProto.placement_period` turns it on.

The devices of one task share its threads, and on these a step's heavy nodes are spread anyway (`plan.strands`). So in one
process it is memory that makes it move anything, or devices that are not equally fast; with several tasks it is time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfexp.core.device import DeviceName
from tfexp.core.op import Op
from tfexp.core.shape import TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.assign import Assignment, Places, colocated
from tfexp.plan.cost import seconds
from tfexp.plan.ir import Draft, Node, Value, is_pure
from tfexp.plan.loops import contract_loops
from tfexp.plan.measured import Measured
from tfexp.plan.mortal import find_mortal
from tfexp.plan.order import order
from tfexp.plan.place import place
from tfexp.plan.prune import prune
from tfexp.plan.schedule import Hardware, Job, simulate
from tfexp.plan.schedule import place as schedule
from tfexp.plan.specialise import specialise
from tfexp.plan.stage_times import step_seconds
from tfexp.plan.stages import Partition, task_of

# Seconds from which a node is worth a request of its own to another task.
_HEAVY = 300e-6


@dataclass(frozen=True)
class Costs:
    """What a placement was reckoned with: seconds by node, bytes by value, and who makes what for whom, with the bytes."""

    seconds: Mapping[str, float]
    sizes: Mapping[str, int]
    edges: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class Placement:
    """Where the nodes of one step are (`plan.assign.Places`): as the simple placer says, but for those that `moved`.

    `estimate`, `simple_estimate`: the seconds of a step, with these moves and without.
    """

    assignment: Assignment
    moved: Mapping[Operation, str]
    estimate: float
    simple_estimate: float
    costs: Costs

    def place(self, ops: Iterable[Operation]) -> None:
        self.assignment.place(ops)

    def __getitem__(self, op: Operation) -> str:
        return self.moved.get(op) or self.assignment[op]

    def device_for(self, name: str, op: Op, attrs: Mapping[str, Any], wanted: str, origin: Operation | None) -> str:
        return self.assignment.device_for(name, op, attrs, wanted, origin)

    def is_heavy(self, op: Operation) -> bool:
        return self.costs.seconds.get(op.name, 0.0) >= _HEAVY

    def describe(self) -> str:
        """The estimates, in words."""
        without = f", {self.simple_estimate * 1e3:.2f} ms without moves" if self.moved else ""
        return f"dynamic placement: {len(self.moved)} nodes moved; estimated: {self.estimate * 1e3:.2f} ms a step{without}"

    def unmoved(self) -> Placement:
        """The simple placer's, at the same costs."""
        return replace(self, moved={}, estimate=self.simple_estimate)


class DynamicPlacer:
    """Places the steps of a session. `threads`: how many a task has; `memory`: bytes, by device."""

    def __init__(self, assignment: Assignment, threads: int = 1, memory: Mapping[str, int] | None = None):
        self.measured = Measured()
        names = assignment.names
        tasks = {name: task_of(name) for name in names}
        self._assignment = assignment
        self._threads = threads
        self._hardware = Hardware(tasks, dict.fromkeys(tasks.values(), threads), self.measured.transfer, memory or {})

    def place(
        self,
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        feeds: Sequence[Tensor],
        feed_shapes: Sequence[TensorShape],
    ) -> Placement:
        """Where the step's nodes go, by what is known now. Raises what the simple placer raises."""
        draft = prune(fetches, targets, feeds, feed_shapes)
        as_built = {node: node.origin for node in draft.nodes}
        place(draft, self._assignment)
        contract_loops(draft)
        order(draft)
        specialise(draft)
        jobs, numbers = self._jobs(draft, {node: op for node, op in as_built.items() if node.loop is None})
        found = schedule(jobs, self._hardware)
        simple = simulate(jobs, [job.home for job in jobs], self._hardware)
        moved = {
            as_built[node]: found.devices[number]
            for node, number in numbers.items()
            if node in as_built and found.devices[number] != jobs[number].home
        }
        return Placement(self._assignment, moved, found.makespan, simple.makespan, self._costs(draft, jobs, numbers))

    def of_stages(self, placement: Placement, cut: Callable[[Places], Partition]) -> Placement:
        """The placement with what its stages take, which is more than its nodes would; unmoved, where that is not less."""
        if not placement.moved:
            return placement
        estimate, simple = (self._step_seconds(cut(p), placement.costs) for p in (placement, placement.unmoved()))
        timed = replace(placement, estimate=estimate, simple_estimate=simple)
        return timed if estimate < simple else timed.unmoved()

    def learn(self, step_stats: Any, placement: Placement) -> None:
        """Take note of what a step took that was placed so."""
        self.measured.learn(step_stats, placement.costs.edges)

    def _step_seconds(self, partition: Partition, costs: Costs) -> float:
        return step_seconds(
            partition,
            self._assignment.names[0],
            lambda name: costs.seconds.get(name, 0.0),
            lambda name: costs.sizes.get(name, 0),
            self.measured.transfer,
            self._threads,
        )

    def _costs(self, draft: Draft, jobs: Sequence[Job], numbers: Mapping[Node, int]) -> Costs:
        names = {number: node.name for node, number in numbers.items()}
        edges = tuple(
            (names[maker], names[taker], size)
            for taker, job in enumerate(jobs)
            for maker, size in job.before.items()
            if maker in names and taker in names
        )
        values = [*draft.feeds, *(value for node in draft.nodes for value in node.outputs)]
        times = {node.name: min(jobs[number].seconds.values()) for node, number in numbers.items()}
        return Costs(times, {value.name: self._size(value) for value in values}, edges)

    def _jobs(self, draft: Draft, as_built: Mapping[Node, Operation]) -> tuple[list[Job], dict[Node, int]]:
        """The step as jobs: its feeds, which are at the client's, its nodes, and its fetches, which go there."""
        client = self._assignment.names[0]
        jobs = [Job({client: 0.0}, client, memory=self._size(feed)) for feed in draft.feeds]
        fed = {feed: number for number, feed in enumerate(draft.feeds)}
        numbers: dict[Node, int] = {}
        choices, groups = self._choices(draft, as_built)
        for node in draft.nodes:
            before: dict[int, int] = {}
            for value in node.inputs:
                maker = fed.get(value) if value.node is None else numbers.get(value.node)
                if maker is not None and value.constant is None:
                    before[maker] = before.get(maker, 0) + self._size(value)
            for control in node.controls:
                if control in numbers:
                    before.setdefault(numbers[control], 0)
            costs = {device: self._seconds(node, device) for device in choices.get(node, [node.device])}
            memory = sum(self._size(value) for value in node.outputs)
            numbers[node] = len(jobs)
            jobs.append(Job(costs, node.device, before, memory, groups.get(node)))
        for value in draft.fetches:
            if value.node in numbers:
                jobs.append(Job({client: 0.0}, client, {numbers[value.node]: self._size(value)}))
        return jobs, numbers

    def _choices(self, draft: Draft, as_built: Mapping[Node, Operation]) -> tuple[dict[Node, list[str]], dict[Node, int]]:
        """The devices of those nodes that have a choice; and the group of those that have to be with others."""
        mortal = find_mortal(draft.nodes)
        node_of = {op: node for node, op in as_built.items()}
        choices: dict[Node, list[str]] = {}
        groups: dict[Node, int] = {}
        for number, group in enumerate(colocated(list(node_of))):
            members = [node_of[op] for op in group]
            if all(_is_free(node) and node not in mortal for node in members):
                choices.update((node_of[op], self._assignment.choices(op)) for op in group)
                if len(members) > 1:
                    groups.update((node, number) for node in members)
        return choices, groups

    def _seconds(self, node: Node, device: str) -> float:
        if node.is_constant:
            return 0.0
        known = self.measured.seconds(node.name, DeviceName.parse(device).device_type or "CPU")
        return seconds(node) if known is None else known

    def _size(self, value: Value) -> int:
        elements = value.shape.num_elements() if value.shape.is_fully_defined() else None
        if elements is None:
            return self.measured.size(value.name) or 0
        return elements * (value.dtype.base_dtype.size or 0)


def _is_free(node: Node) -> bool:
    """Whether the node gives the same wherever it runs, and nobody finds it there but by its values."""
    refers = any(value.dtype._is_ref_dtype for value in (*node.inputs, *node.outputs))
    return bool(node.outputs) and node.loop is None and is_pure(node) and not refers
