"""When each node of a step that is cut by task can run: by how many times data has come over from other tasks before it.

Nodes of one task and one level are one request (`partition`). So everything here is about having as few levels on a task as
the data allows: nodes run as early as they can, but wait for a later request to their task where that costs nobody
anything; and what does nothing but wait for others is done where it is waited for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.plan.cohesion import Groups

# Constants of at most so many elements are repeated on every task that reads them, rather than sent.
_SMALL_CONSTANT = 1 << 12

# What only looks at a reference or resource.
_READS = frozenset(
    {"Identity", "ReadVariableOp", "ResourceGather", "ResourceGatherNd", "Shape", "VariableShape", "VarIsInitializedOp"}
)

# Level, task, and the node if it is alone.
Place = tuple[int, str, str]


class Levels:
    """The levels of a step's nodes. `task`: of each; `kept`: what is fetched or a target; `repeatable`: what every stage
    of its task has a copy of that wants one. InvalidArgumentError for a graph with a cycle.

    A node that may have to wait for other steps (a dequeue) is in a stage by itself, `alone`, where that lets nodes go on,
    here or on other tasks, that would have to wait with it. `is_heavy`: what is worth a request of its own, so that others
    compute at the same time. `loops`: what stands for tasks of loops that the master runs, each a stage of its own.
    """

    def __init__(
        self,
        ops: list[Operation],
        fed: Collection[Tensor],
        task: dict[Operation, str],
        groups: Groups,
        repeatable: set[Operation],
        kept: set[Operation],
        is_heavy: Callable[[Operation], bool] = lambda op: False,
        loops: Collection[str] = (),
    ):
        self._loops = loops
        self._is_heavy = is_heavy
        self._ops, self._fed, self._task = ops, fed, task
        self._repeatable, self._kept = repeatable, kept
        self._root = groups.root
        self._members: dict[Operation, list[Operation]] = defaultdict(list)
        self._readers: dict[Operation, list[Operation]] = defaultdict(list)
        for op in ops:
            self._members[self._root(op)].append(op)
            for before in self.inputs(op):
                self._readers[before].append(op)
        self.level: dict[Operation, int] = {}
        self.alone: set[Operation] = set()
        self.kept_sources: set[Operation] = set()  # repeatable nodes that are in a stage for others' sake
        # On a single task the executor sees to it that others go on; a conditional or loop stays whole.
        several = len(set(task.values())) > 1
        waiting = [op for op in ops if several and _waits(op) and len(self._members[self._root(op)]) == 1]
        self._place()
        while hindering := [op for op in waiting if op not in self.alone and self._hinders(op)]:
            self.alone.update(hindering)
            self._place()

    def inputs(self, op: Operation) -> Iterable[Operation]:
        """The nodes of the step that have to run before `op`."""
        for tensor in op._inputs:
            if tensor not in self._fed:
                yield tensor.op
        for before in op._control_inputs:
            if before in self._task:
                yield before

    def is_repeated_for(self, before: Operation, op: Operation) -> bool:
        """Whether `op`'s stage gets its own copy of `before`."""
        return self.is_repeated_on(before, self._task[op])

    def is_repeated_on(self, before: Operation, task: str) -> bool:
        if before not in self._repeatable:
            return False
        return self._task[before] == task or _is_small_constant(before) or (task in self._loops and _is_handle(before))

    def place_of(self, op: Operation) -> Place:
        """What the nodes of a stage have in common. Sorted, stages can run in this order."""
        return self.level[op], self._task[op], op.name if op in self.alone else ""

    def places(self) -> list[Place]:
        return sorted({self.place_of(op) for op in self._ops if op not in self._repeatable or op in self.kept_sources})

    # --- levels ------------------------------------------------------------------------------------------------------

    def _place(self) -> None:
        self._find_levels()
        self._delay()
        self._settle_repeatable()

    def _find_levels(self) -> None:
        """As early as the data allows."""
        root, members = self._root, self._members
        level: dict[Operation, int] = {}
        visiting: set[Operation] = set()
        stack = [root(op) for op in reversed(self._ops)]
        while stack:
            current = stack[-1]
            if current in level:
                stack.pop()
                continue
            before = [
                (root(b), self._task[b] != self._task[op] or b in self.alone)
                for op in members[current]
                for b in self.inputs(op)
                if root(b) is not current and not self.is_repeated_for(b, op)
            ]
            missing = [b for b, _ in before if b not in level]
            if missing:
                if current in visiting and any(b in visiting for b in missing):
                    raise InvalidArgumentError(
                        None, current, f"The graph has a cycle through node {current.name} ({current.type})"
                    )
                visiting.add(current)
                stack.extend(missing)
                continue
            level[current] = max((level[b] + crosses for b, crosses in before), default=0)
            visiting.discard(current)
            stack.pop()
        self.level = {op: level[root(op)] for op in self._ops}

    def _delay(self) -> None:
        """As late as that costs nobody anything, which saves whole stages."""
        for op in sorted(self._ops, key=lambda o: (self.level[o], o._id), reverse=True):
            single = len(self._members.get(op, ())) == 1 and op not in self.alone
            after = self._readers[op]
            if (
                single
                and op not in self._kept
                and not self._is_heavy(op)
                and after
                and all(self._task[r] == self._task[op] and r not in self._repeatable for r in after)
            ):
                self.level[op] = max(self.level[op], min(self.level[r] for r in after))

    def _settle_repeatable(self) -> None:
        """Sources that something outside of their stages' copies wants: they get a stage of their own to be in."""
        first: dict[str, int] = {}
        for number, task, *_ in sorted({self.place_of(op) for op in self._ops if op not in self._repeatable}):
            first.setdefault(task, number)
        self.kept_sources = {op for op in self._kept if op in self._repeatable}
        latest: dict[Operation, int] = {}  # of those that other tasks want
        for op in self._ops:
            for before in self.inputs(op):
                if before in self._repeatable and not self.is_repeated_for(before, op):
                    self.kept_sources.add(before)
        for op in self._ops:
            for before in self.inputs(op):
                if before in self.kept_sources and self._task[op] != self._task[before]:
                    latest[before] = min(latest.get(before, self.level[op]), self.level[op] - 1)
        for op in self.kept_sources:
            self.level[op] = self._level_of_source(op, latest[op]) if op in latest else first.get(self._task[op], 0)

    def _level_of_source(self, source: Operation, latest: int) -> int:
        """A stage that is there anyway and early enough for the others, and before what may change what is read; else 0."""
        task, read = self._task[source], {t.op for t in source._inputs}
        levels = set()
        for op in self._ops:
            if self._task[op] != task or op in self._repeatable:
                continue
            if _acts(op) and not read.isdisjoint(t.op for t in op._inputs):
                latest = min(latest, self.level[op] - 1)
            elif op not in self.alone:
                levels.add(self.level[op])
        return max((level for level in levels if level <= latest), default=0)

    # --- nodes that wait for other steps -----------------------------------------------------------------------------

    def _hinders(self, waiting: Operation) -> bool:
        """Whether others wait in vain for a node's stage, or it for theirs, if the node shares one.

        What that stage sends is sent when all of it has run; it begins when all that it receives is there. To get a value
        later does no harm to nodes that only compute: harm is done where a node acts later than it could, since what the
        other steps do that are waited for may depend on it.
        """
        place = self.place_of(waiting)
        members = {
            op for op in self._ops if self.place_of(op) == place and (op not in self._repeatable or op in self.kept_sources)
        }
        if len(members) == 1:
            return False
        later, sooner = _reached([waiting], self._after), _reached([waiting], self._before)
        if any(b not in members and b not in sooner for op in members for b in self._before(op)):
            return True
        held_up = _reached(members - later, lambda op: [r for r in self._after(op) if r not in later])
        return any(_acts(op) for op in held_up - members)

    def _after(self, op: Operation) -> Iterable[Operation]:
        return [reader for reader in self._readers[op] if not self.is_repeated_for(op, reader)]

    def _before(self, op: Operation) -> Iterable[Operation]:
        return [before for before in self.inputs(op) if not self.is_repeated_for(before, op)]


def _reached(starts: Iterable[Operation], step: Callable[[Operation], Iterable[Operation]]) -> set[Operation]:
    found = set(starts)
    pending = list(found)
    while pending:
        for op in step(pending.pop()):
            if op not in found:
                found.add(op)
                pending.append(op)
    return found


def _acts(op: Operation) -> bool:
    """Whether the node may change something that other nodes see."""
    if op.type in _READS:
        return False
    bound = any(t.dtype._is_ref_dtype or t.dtype is dtypes.resource for t in op._inputs)
    return bound or (op._op_def.is_stateful and "seed" not in op._attrs)


def _waits(op: Operation) -> bool:
    kernel = op._op_def.kernels.get("CPU")
    return kernel is not None and kernel.waits


def _is_handle(op: Operation) -> bool:
    """Whether the node says where state is: a round of a loop that uses it has a copy of the node."""
    return any(t.dtype._is_ref_dtype or t.dtype is dtypes.resource for t in op._outputs)


def _is_small_constant(op: Operation) -> bool:
    return op.type == "Const" and (op._outputs[0]._shape.num_elements() or 0) <= _SMALL_CONSTANT
