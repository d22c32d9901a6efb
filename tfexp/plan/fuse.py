"""Large element-wise nodes that follow each other become one node, which computes them piece by piece.

Each piece (some rows, of about as many elements as a core's cache holds) goes through all of the nodes before the
next one does, so that what lies between them never goes out to memory; and where the step can have the cores for itself, the
pieces are shared out over the intra-op threads (`core.workers`), since NumPy itself uses one. The functions that are called
are those of the single nodes, so that the numbers are the same.

A group of nodes has one result that others read, of the same shape as all values in between. Its node has the name of the
last one and an op of its own. Steps with more work in matrix products than here leave the cores to BLAS.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core.kernel import Call, Kernel
from tfexp.core.op import parse_signature
from tfexp.core.workers import scratch, share
from tfexp.plan.alias import find_roots, writes
from tfexp.plan.cost import is_product, seconds
from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.mortal import find_mortal

_WORTH_FUSING = 1 << 16  # elements: less stays in cache anyway
_WORTH_SHARING = 1 << 18  # elements: some hundred microseconds
_PIECE = 1 << 18  # elements: with less, threads wait for the interpreter's lock more than they compute
_MAX_NODES = 64

FUSED = parse_signature(
    "_FusedElementwise(inputs: T) -> (output: U) {T: list(type); U: type; nodes: list(string); seconds: float}"
)
"""What a group is in a plan; no graph has it."""


def fuse(draft: Draft) -> None:
    """Replace groups of nodes in `draft.nodes`, and set `draft.shares` where their work is to be shared out."""
    fusible = _Fusible(draft)
    if not fusible.nodes:
        return
    draft.shares = _owns_the_cores(draft, fusible.nodes)
    groups = [g for g in fusible.groups() if len(g) > 1 or draft.shares or not _is_ufunc(g[0])]
    replaced: dict[Node, Node] = {}
    for group in groups:
        node = _fused(group, draft.shares)
        replaced.update(dict.fromkeys(group, node))
    sinks = {group[-1] for group in groups}
    draft.nodes = [replaced.get(n, n) for n in draft.nodes if n not in replaced or n in sinks]
    if replaced:
        for node in draft.nodes:
            node.controls = list(dict.fromkeys(replaced.get(c, c) for c in node.controls))


def _owns_the_cores(draft: Draft, fusible: Sequence[Node]) -> bool:
    """Whether the threads do more for these nodes than for the step's matrix products, which BLAS's threads compute else."""
    if any(node.kernel is not None and node.kernel.shares for node in draft.nodes):
        return True
    if not any((node.outputs[0].shape.num_elements() or 0) >= _WORTH_SHARING for node in fusible):
        return False
    return sum(map(seconds, fusible)) > sum(seconds(node) for node in draft.nodes if is_product(node))


def _is_ufunc(node: Node) -> bool:
    return node.call is not None and isinstance(node.call.function, np.ufunc)


class _Fusible:
    """The nodes that can be part of a group, and what keeps them from being in the same one."""

    def __init__(self, draft: Draft):
        mortal = find_mortal(draft.nodes)
        self.nodes = [node for node in draft.nodes if node not in mortal and _is_fusible(node)]
        if not self.nodes:
            return
        self._all = set(self.nodes)
        self._fetched = set(draft.fetches)
        self._readers: dict[Value, list[Node]] = defaultdict(list)
        for node in draft.nodes:
            for value in node.inputs:
                self._readers[value].append(node)
        self._position = {node: i for i, node in enumerate(draft.nodes)}
        self._roots = find_roots(draft)
        self._updates: dict[Hashable, list[int]] = defaultdict(list)  # the positions of a variable's updates
        self._unknown: list[int] = []  # those of updates by handles from outside (of a loop): any variable's
        for i, node in enumerate(draft.nodes):
            for key in writes(node, self._roots):
                (self._updates[key] if isinstance(key, tuple) else self._unknown).append(i)

    def groups(self) -> list[list[Node]]:
        """Disjoint groups, in order of their last nodes; the nodes of each in the order in which they run."""
        taken: set[Node] = set()
        groups = []
        for last in reversed(self.nodes):
            if last in taken:
                continue
            group = self._group_before(last, taken)
            taken |= group
            groups.append(sorted(group, key=self._position.__getitem__))
        return groups[::-1]

    def _group_before(self, last: Node, taken: set[Node]) -> set[Node]:
        group = {last}
        candidates = [value.node for value in last.inputs]
        while candidates and len(group) < _MAX_NODES:
            node = candidates.pop()
            if node is None or node in group or node in taken or not self._joins(node, group, last):
                continue
            group.add(node)
            candidates.extend(value.node for value in node.inputs)
            # One that was turned down for a reader that has come in now may join.
            candidates.extend(value.node for member in group for value in member.inputs if value.node not in group)
        return group

    def _joins(self, node: Node, group: set[Node], last: Node) -> bool:
        result = node.outputs[0]
        return (
            node in self._all
            and result.shape.known_dims == last.outputs[0].shape.known_dims
            and node.device == last.device
            and result not in self._fetched
            and all(reader in group for reader in self._readers[result])
            and not self._is_disturbed(node, last)
        )

    def _is_disturbed(self, node: Node, last: Node) -> bool:
        """Whether a variable that the node reads is updated before the last node runs."""
        first, end = self._position[node], self._position[last]
        keys = frozenset().union(*(self._roots[value] for value in node.inputs))
        updates = [*self._unknown, *(update for key in keys for update in self._updates.get(key, ()))]
        return any(first < update < end for update in updates)


def _is_fusible(node: Node) -> bool:
    call = node.call
    if call is None or not call.out or not (call.elementwise or call.pieces) or len(node.outputs) != 1:
        return False
    result = node.outputs[0]
    dims = result.shape.known_dims
    if result.constant is not None or not dims or None in dims or dims[0] == 1:
        return False
    if (result.shape.num_elements() or 0) < _WORTH_FUSING or any(shape != dims for shape, _ in call.scratch):
        return False
    values = (*node.inputs, result)
    return all(v.shape.is_fully_defined() and v.dtype.as_numpy_dtype is not object for v in values)


# --- the node of a group -----------------------------------------------------------------------------------------------


def _fused(group: list[Node], shares: bool) -> Node:
    last = group[-1]
    made = {node.outputs[0] for node in group}
    inputs = list(dict.fromkeys(v for node in group for v in node.inputs if v not in made))
    attrs = {
        "T": [value.dtype.base_dtype for value in inputs],
        "U": last.outputs[0].dtype.base_dtype,
        "nodes": [node.name for node in group],
        "seconds": sum(map(seconds, group)),
    }
    fused = Node(last.name, FUSED, attrs, last.device, last.origin, last.serial)
    fused.inputs, fused.outputs = inputs, last.outputs
    fused.outputs[0].node = fused
    fused.controls = list(dict.fromkeys(c for node in group for c in node.controls if c not in group))
    fused.behind = frozenset().union(*(node.behind for node in group))
    function = _Pieces(_program(group, inputs), last.outputs[0], inputs, shares)
    fused.call = Call(function, out=True, elementwise=last.call is not None and last.call.elementwise)
    fused.kernel = Kernel(lambda ctx, arrays: function(*arrays), (), shares=shares)
    return fused


@dataclass(frozen=True, slots=True)
class _Member:
    """One node of a group: where its arguments are and where its result goes, as numbers of arrays.

    First come the inputs, then the result, then the work arrays.
    """

    function: Callable[..., Any]
    arguments: tuple[int, ...]
    out: int


@dataclass(frozen=True, slots=True)
class _Program:
    members: tuple[_Member, ...]
    work: tuple[np.dtype[Any], ...]  # the dtypes of the work arrays


def _program(group: list[Node], inputs: list[Value]) -> _Program:
    """What to call, with work arrays that are used again as soon as nobody reads what they hold."""
    place: dict[Value, int] = {value: i for i, value in enumerate(inputs)}
    work: list[np.dtype[Any]] = []
    free: list[int] = []
    result = len(inputs)

    def take(dtype: np.dtype[Any]) -> int:
        for number in free:
            if work[number - result - 1] == dtype:
                free.remove(number)
                return number
        work.append(dtype)
        return result + len(work)

    last_reader = {value: node for node in group for value in node.inputs}
    members = []
    for node in group:
        call = node.call
        assert call is not None
        arguments = [place[value] for value in node.inputs]
        scratches = [take(np.dtype(dtype)) for _, dtype in call.scratch]
        dying = [place[v] for v in dict.fromkeys(node.inputs) if last_reader[v] is node and place[v] > result]
        if call.elementwise:
            free.extend(dying)
        value = node.outputs[0]
        place[value] = result if node is group[-1] else take(np.dtype(value.dtype.as_numpy_dtype))
        if not call.elementwise:
            free.extend(dying)
        members.append(_Member(call.function, (*arguments, *scratches), place[value]))
        free.extend(scratches)
    return _Program(tuple(members), tuple(work))


class _Pieces:
    """The function of a group: `f(*inputs, out=None)`."""

    def __init__(self, program: _Program, result: Value, inputs: Sequence[Value], shares: bool):
        dims = tuple(dim for dim in result.shape.as_list() if dim is not None)  # all are known
        self.__name__ = " ".join(getattr(member.function, "__name__", "callable") for member in program.members)
        self._program = program
        self._dims = dims
        self._dtype = np.dtype(result.dtype.as_numpy_dtype)
        # What has the result's first dimension is cut along it; the rest is broadcast along it, and stays whole.
        self._is_cut = [value.shape.known_dims is not None and _is_cut(value.shape.known_dims, dims) for value in inputs]
        row = max(1, (result.shape.num_elements() or 0) // dims[0])
        self._rows = min(dims[0], max(1, _PIECE // row))  # of a piece
        self._shares = shares and (result.shape.num_elements() or 0) >= _WORTH_SHARING

    def __call__(self, *inputs: Any, out: np.ndarray | None = None) -> np.ndarray:
        result = np.empty(self._dims, self._dtype) if out is None else out

        def work(part: int, start: int, stop: int) -> None:
            self._compute(inputs, result, start, stop)

        if self._shares:
            share(work, self._dims[0])
        else:
            work(0, 0, self._dims[0])
        return result

    def _compute(self, inputs: Sequence[Any], result: np.ndarray, first: int, end: int) -> None:
        members, rows = self._program.members, self._rows
        own = [scratch(f"fused {n}", (rows, *self._dims[1:]), dtype) for n, dtype in enumerate(self._program.work)]
        for start in range(first, end, rows):
            stop = min(start + rows, end)
            arrays = [a[start:stop] if cut else a for a, cut in zip(inputs, self._is_cut, strict=True)]
            arrays.append(result[start:stop])
            arrays.extend(own if stop - start == rows else [a[: stop - start] for a in own])
            for member in members:
                member.function(*[arrays[n] for n in member.arguments], out=arrays[member.out])


def _is_cut(dims: tuple[int | None, ...], whole: tuple[int, ...]) -> bool:
    return len(dims) == len(whole) and dims[0] == whole[0]
