"""Parts of a step that several threads run at the same time: heavy nodes that do not need each other.

A section is a stretch of the step that falls into strands: no strand needs a value of another one, or disturbs it. Each
strand is run in order by one thread; the step goes on when all have come to their end. Everything else, which is the whole
step when nothing in it is heavy, runs as if this pass did not exist.

What is a section follows from the plan alone (`cost.seconds`), never from measured times, and whoever runs the strands gets
the same results: a strand keeps BLAS to one thread, and an update of a variable never shares a section with a node that
reads it, unless they are in the same strand.

Sections are found by levels. The level of a heavy node tells how many heavy nodes follow it on the longest way to the end
of the step (it counts from there: "as late as possible"), so that nodes of one level are never in each other's way. A
section is a range of levels whose nodes form several connected components; components are dealt to the threads by size,
largest first (Graham, 1969).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tfexp.plan.cost import is_product, seconds
from tfexp.plan.dependencies import acts, before
from tfexp.plan.ir import Draft, Node
from tfexp.plan.mortal import find_mortal

_HEAVY = 100e-6  # seconds: below this, two threads spend more time on waiting for the interpreter's lock
_LIGHT = 3e-6  # what a light node costs, with the lock held
_FORKING = 80e-6  # what it costs to hand strands out and to wait for them
_WORTH_IT = 0.85  # of the time that a section takes in one thread
_FAR = 64  # levels that a section is tried to be extended by without getting better


def find_strands(draft: Draft, threads: int) -> None:
    """Set `draft.sections`, and reorder `draft.nodes` so that every strand is one stretch of them."""
    if threads < 2:
        return
    heavy = {
        node: cost
        for node in draft.nodes
        if (cost := seconds(node)) >= _HEAVY and any(value.constant is None for value in node.outputs)
    }
    if len(heavy) < 2:
        return
    step = _Step(draft, heavy, threads)
    if step.shortest() > _WORTH_IT * sum(step.alone[node] for node in heavy):
        return
    sections = list(step.sections())
    if sections:
        _rearrange(draft, step, sections)


@dataclass(frozen=True)
class _Section:
    first: int  # level
    last: int
    strands: list[list[Node]]


class _Step:
    """The nodes with everything that orders them, and their levels.

    `alone`: what a heavy node costs when the step has all threads, which some kernels use by themselves.
    """

    def __init__(self, draft: Draft, heavy: dict[Node, float], threads: int):
        self.nodes, self.heavy, self.threads = draft.nodes, heavy, threads
        self.alone = {node: cost / (threads if _shares(node) else 1) for node, cost in heavy.items()}
        self.before = before(draft)
        self.unfit = _unfit(draft)
        self.after: dict[Node, list[Node]] = defaultdict(list)
        for node, others in self.before.items():
            for other in others:
                self.after[other].append(node)
        self._find_levels()

    def _find_levels(self) -> None:
        heavy = self.heavy
        height: dict[Node, int] = {}  # heavy nodes on the longest way to the end, itself included
        for node in reversed(self.nodes):
            height[node] = max((height[a] for a in self.after[node]), default=0) + (node in heavy)
        self.count = max(height.values())
        # Of a heavy node, its own; of a light one, that of the first heavy node that needs it (`count` if none does).
        self.level = {node: self.count - height[node] for node in self.nodes}
        self.needs: dict[Node, int] = {}  # the highest level of the heavy nodes that a node needs; -1 if none
        for node in self.nodes:
            self.needs[node] = max(
                (max(self.needs[b], self.level[b] if b in heavy else -1) for b in self.before[node]), default=-1
            )

    def shortest(self) -> float:
        """The time of the longest way through the heavy nodes, were there threads without end."""
        longest: dict[Node, float] = {}
        for node in self.nodes:
            longest[node] = max((longest[b] for b in self.before[node]), default=0.0) + self.alone.get(node, 0.0)
        return max(longest.values())

    def sections(self) -> Iterable[_Section]:
        by_level: dict[int, list[Node]] = defaultdict(list)
        for node in self.nodes:
            by_level[self.level[node]].append(node)
        first = 0
        while first < self.count:
            section = self._best_from(first, by_level)
            if section is not None:
                yield section
            first = first + 1 if section is None else section.last + 1

    def _best_from(self, first: int, by_level: dict[int, list[Node]]) -> _Section | None:
        """The section from this level on that saves most, if one is worth it."""
        components = _Components()
        best, saved = None, 0.0
        for last in range(first, min(self.count, first + _FAR)):
            members = [n for n in by_level[last] if n in self.heavy or self.needs[n] >= first]
            if any(node in self.unfit for node in members):
                break
            for node in members:
                components.add(node, self.heavy.get(node, 0.0), self.alone.get(node, 0.0))
                for other in (*self.before[node], *self.after[node]):
                    components.join(node, other)
            gain = components.serial - components.longest(self.threads) - _FORKING
            if gain > saved and gain > (1 - _WORTH_IT) * components.serial:
                best, saved = last, gain
        if best is None:
            return None
        return _Section(first, best, self._strands(first, best))

    def _strands(self, first: int, last: int) -> list[list[Node]]:
        components = _Components()
        members = [n for n in self.nodes if first <= self.level[n] <= last and (n in self.heavy or self.needs[n] >= first)]
        for node in members:
            components.add(node, self.heavy.get(node, 0.0), self.alone.get(node, 0.0))
            for other in self.before[node]:
                components.join(node, other)
        strand_of = components.dealt(self.threads)
        strands: list[list[Node]] = [[] for _ in range(self.threads)]
        for node in members:
            strands[strand_of[node]].append(node)
        return [strand for strand in strands if strand]


class _Components:
    """Connected nodes, as they are added; with the cost of each component in one thread."""

    def __init__(self) -> None:
        self._parent: dict[Node, Node] = {}
        self._cost: dict[Node, float] = {}
        self._light = 0
        self.serial = 0.0  # seconds that the nodes take without strands

    def add(self, node: Node, cost: float, alone: float) -> None:
        self._parent[node] = node
        self._cost[node] = cost
        self._light += cost == 0.0
        self.serial += alone or _LIGHT

    def join(self, node: Node, other: Node) -> None:
        if other not in self._parent:
            return
        a, b = self._root(node), self._root(other)
        if a is not b:
            self._parent[a] = b
            self._cost[b] += self._cost.pop(a)

    def _root(self, node: Node) -> Node:
        while self._parent[node] is not node:
            self._parent[node] = node = self._parent[self._parent[node]]
        return node

    def _deal(self, threads: int) -> tuple[list[float], dict[Node, int]]:
        loads, thread_of = [0.0] * threads, dict[Node, int]()
        for root, cost in sorted(self._cost.items(), key=lambda item: -item[1]):
            number = loads.index(min(loads))
            loads[number] += cost
            thread_of[root] = number
        return loads, thread_of

    def longest(self, threads: int) -> float:
        """Seconds until the last strand has ended; light nodes keep the others from running."""
        return max(self._deal(threads)[0]) + self._light * _LIGHT

    def dealt(self, threads: int) -> dict[Node, int]:
        """The strand of each node."""
        thread_of = self._deal(threads)[1]
        return {node: thread_of[self._root(node)] for node in self._parent}


def _shares(node: Node) -> bool:
    return (node.kernel is not None and node.kernel.shares) or is_product(node)


def _unfit(draft: Draft) -> set[Node]:
    """What only the step's own thread may run: nodes that may be dead or have to wait, and what acts on the outside."""
    mortal = find_mortal(draft.nodes)
    return {
        node
        for node in draft.nodes
        if node in mortal or node.waits or node.loop is not None or acts(node) or (node.kernel and node.kernel.takes_dead)
    }


def _rearrange(draft: Draft, step: _Step, sections: list[_Section]) -> None:
    """The nodes in their order, but those of a strand together, and what a section needs before it."""
    within = {node for section in sections for strand in section.strands for node in strand}
    nodes: list[Node] = []
    placed: set[Node] = set()
    for section in sections:
        for node in step.nodes:
            if node in placed or node in within:
                continue
            if step.level[node] < section.first or (step.needs[node] < section.first and step.level[node] <= section.last):
                nodes.append(node)
                placed.add(node)
        draft.sections.append(section.strands)
        for strand in section.strands:
            nodes.extend(strand)
            placed.update(strand)
    nodes.extend(node for node in step.nodes if node not in placed)
    draft.nodes = nodes
