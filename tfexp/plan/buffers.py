"""Memory that is there before the step begins: which values are written into which buffer.

A value may live in a buffer when its node can write to `out=`, its size is known, and nobody keeps it after the step: it is
not fetched, and no kernel with state sees it. A buffer is used again once every value in it, views included, has been
read for the last time; an element-wise node may write over an input that dies with it. Where several threads run
(`plan.strands`), what one of them lets go of is only its own until all have come to their end.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tfexp.plan.alias import RootMap, find_roots
from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.mortal import find_mortal


def assign_buffers(draft: Draft) -> None:
    """Fill `draft.buffer_of` (value -> number) and `draft.buffer_sizes` (bytes of each)."""
    roots = find_roots(draft)
    last_use = _last_uses(draft, roots)
    mortal = find_mortal(draft.nodes)
    escaping = _escaping(draft, roots)
    dying: dict[int, list[Value]] = defaultdict(list)
    pool = _Pool()
    sections = _Sections(draft)
    held = sections.hold(draft, roots, last_use)
    for position, node in enumerate(draft.nodes):
        strand = sections.strand_of.get(node)
        value = _bufferable(node, roots)
        if value is not None and value not in escaping and node not in mortal:
            reused = _overwritable(node, value, roots, last_use, position, draft.buffer_of, held)
            if reused is not None:
                draft.buffer_of[value] = draft.buffer_of[reused]
                dying[position].remove(reused)
            else:
                draft.buffer_of[value] = pool.take(_size_of(value), strand)
            dying[last_use[value]].append(value)
        for dead in dying.pop(position, ()):
            pool.give_back(draft.buffer_of[dead], strand)
        if position in sections.ends:
            pool.settle()
    draft.buffer_sizes = pool.sizes


Strand = tuple[int, int]  # number of the section, and within it


class _Sections:
    """Where the nodes of a draft are run by several threads. `ends`: the positions of the last node of each section."""

    def __init__(self, draft: Draft):
        self.strand_of: dict[Node, Strand] = {
            node: (number, i)
            for number, strands in enumerate(draft.sections)
            for i, strand in enumerate(strands)
            for node in strand
        }
        self._end = {self.strand_of[node][0]: p for p, node in enumerate(draft.nodes) if node in self.strand_of}
        self.ends = frozenset(self._end.values())

    def hold(self, draft: Draft, roots: RootMap, last_use: dict[object, int]) -> set[object]:
        """What several strands of a section read, which `last_use` then keeps until the section's end."""
        readers: dict[tuple[object, int], set[Strand]] = defaultdict(set)
        for node, strand in self.strand_of.items():
            for value in node.inputs:
                for root in roots[value]:
                    readers[root, strand[0]].add(strand)
        held = set()
        for (root, number), strands in readers.items():
            if len(strands) > 1:
                held.add(root)
                last_use[root] = max(last_use[root], self._end[number])
        return held


class _Pool:
    """Numbers of buffers, given out by size; a free one serves values of up to its size and at least half of it.

    What a strand gives back is free for itself alone until `settle`; None stands for the step's own thread.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._free: dict[Strand | None, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))

    def take(self, size: int, strand: Strand | None) -> int:
        for free in (self._free[strand], self._free[None]):
            if exact := free.get(size):
                return exact.pop()
            fitting = [s for s, numbers in free.items() if numbers and size < s <= 2 * size]
            if fitting:
                return free[min(fitting)].pop()
        self.sizes.append(size)
        return len(self.sizes) - 1

    def give_back(self, number: int, strand: Strand | None) -> None:
        self._free[strand][self.sizes[number]].append(number)

    def settle(self) -> None:
        """Give what the strands have to everybody."""
        common = self._free[None]
        for strand in [strand for strand in self._free if strand is not None]:
            for size, numbers in self._free.pop(strand).items():
                common[size].extend(numbers)


def _size_of(value: Value) -> int:
    return (value.shape.num_elements() or 0) * np.dtype(value.dtype.as_numpy_dtype).itemsize


def _bufferable(node: Node, roots: RootMap) -> Value | None:
    if node.call is None or not node.call.out or len(node.outputs) != 1:
        return None
    value = node.outputs[0]
    if not value.shape.is_fully_defined() or value.dtype.as_numpy_dtype is object or value.dtype._is_ref_dtype:
        return None
    return value if roots[value] == {value} and _size_of(value) > 0 else None


def _last_uses(draft: Draft, roots: RootMap) -> dict[object, int]:
    """The position of the last node that reads (or makes) anything in the memory of each root."""
    last: dict[object, int] = {}
    for position, node in enumerate(draft.nodes):
        for value in (*node.inputs, *node.outputs):
            for root in roots[value]:
                last[root] = position
    return last


def _escaping(draft: Draft, roots: RootMap) -> set[object]:
    """The owners of memory that outlives the step: fetched values, and what a kernel with state might keep."""
    escaping: set[object] = set()
    for value in draft.fetches:
        escaping.update(roots[value])
    for node in draft.nodes:
        if node.op.is_stateful and node.call is None:
            for value in node.inputs:
                escaping.update(roots[value])
    return escaping


def _overwritable(
    node: Node,
    value: Value,
    roots: RootMap,
    last_use: dict[object, int],
    position: int,
    buffer_of: dict[Value, int],
    held: set[object],
) -> Value | None:
    """An input in a buffer that dies here and fits; only the owner itself, no view of it, so that layouts agree."""
    assert node.call is not None
    if not node.call.elementwise:
        return None
    for candidate in node.inputs:
        if (
            candidate in buffer_of
            and candidate not in held
            and last_use[candidate] == position
            and candidate.shape.known_dims == value.shape.known_dims
            and candidate.dtype.base_dtype is value.dtype.base_dtype
            and not any(candidate in roots[other] for other in node.inputs if other is not candidate)
        ):
            return candidate
    return None
