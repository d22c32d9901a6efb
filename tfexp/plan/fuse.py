"""Large element-wise nodes that follow each other become one node, which computes them piece by piece.

Each piece (some rows, of about as many elements as a core's cache holds) goes through all of the nodes before the
next one does, so that what lies between them never goes out to memory; and where the step can have the cores for itself, the
pieces are shared out over the intra-op threads (`core.workers`), since NumPy itself uses one. The functions that are called
are those of the single nodes, so that the numbers are the same.

Steps with more work in matrix products than here leave the cores to BLAS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core.kernel import Call
from tfexp.core.workers import scratch, share
from tfexp.plan.cost import is_product, seconds
from tfexp.plan.groups import Groups, inputs_of, node_of, replace
from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.mortal import find_mortal

_WORTH_FUSING = 1 << 16  # elements: less stays in cache anyway
_WORTH_SHARING = 1 << 18  # elements: some hundred microseconds
_PIECE = 1 << 17  # elements: three such arrays stay in cache; with less, threads wait for each other's lock too often


def fuse(draft: Draft) -> None:
    """Replace groups of nodes in `draft.nodes`, and set `draft.shares` where their work is to be shared out."""
    mortal = find_mortal(draft.nodes)
    fusible = [node for node in draft.nodes if node not in mortal and _is_fusible(node)]
    if not fusible:
        return
    draft.shares = _owns_the_cores(draft, fusible)
    groups = [g for g in Groups(draft, fusible).found() if len(g) > 1 or draft.shares or not _is_ufunc(g[0])]
    replace(draft, {_fused(group, draft.shares): group for group in groups})


def _owns_the_cores(draft: Draft, fusible: Sequence[Node]) -> bool:
    """Whether the threads do more for these nodes than for the step's matrix products, which BLAS's threads compute else."""
    if any(node.kernel is not None and node.kernel.shares for node in draft.nodes):
        return True
    if not any((node.outputs[0].shape.num_elements() or 0) >= _WORTH_SHARING for node in fusible):
        return False
    return sum(map(seconds, fusible)) > sum(seconds(node) for node in draft.nodes if is_product(node))


def _is_ufunc(node: Node) -> bool:
    return node.call is not None and isinstance(node.call.function, np.ufunc)


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
    inputs, last = inputs_of(group), group[-1]
    function = _Pieces(_program(group, inputs), last.outputs[0], inputs, shares)
    call = Call(function, out=True, elementwise=last.call is not None and last.call.elementwise)
    return node_of(group, inputs, call, shares)


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
