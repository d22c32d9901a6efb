"""Gradients of parts of an array, added up, are laid side by side in one array, instead of in one each that is mostly zeros.

    pad(a) + pad(b)    where no place belongs to both

To each number a zero is added, as the others' zeros were: that makes 0 of -0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from tfexp.core.kernel import Call, Place
from tfexp.plan.groups import Groups, node_of, replace
from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.mortal import find_mortal


def lay(draft: Draft) -> None:
    """Put one node in place of each sum of arrays that share the places out among them (`Call.lays`), and of these."""
    sums = {node: laid for node in draft.nodes if (laid := _laid(node))}
    if not sums:
        return
    mortal = find_mortal(draft.nodes)
    groups = Groups(draft, [node for total, laid in sums.items() for node in (*laid, total) if node not in mortal])
    replace(draft, {_one(total, laid): [*laid, total] for total, laid in sums.items() if groups.can_be_one([*laid, total])})


def _laid(total: Node) -> dict[Node, tuple[Value, Place]]:
    """What the node adds, with what is laid and where; nothing where it does something else."""
    if total.type != "AddN" or len(total.inputs) < 2 or not total.outputs[0].shape.is_fully_defined():
        return {}
    laid = {}
    for value in total.inputs:
        call = None if value.node is None or value.constant is not None else value.node.call
        if value.node is None or call is None or call.lays is None:
            return {}
        number, place = call.lays
        laid[value.node] = value.node.inputs[number], place
    places = [place for _, place in laid.values() if math.prod(_size(place))]
    return laid if len(laid) == len(total.inputs) and _are_apart(places) else {}


def _are_apart(places: Sequence[Place]) -> bool:
    """Whether straight cuts through the array, and through what they leave, part all of these from each other."""
    left: list[Sequence[Place]] = [places]
    while left:
        group = left.pop()
        if len(group) < 2:
            continue
        cuts = (_cut(group, axis) for axis in range(len(group[0])))
        apart = next((groups for groups in cuts if len(groups) > 1), None)
        if apart is None:
            return False
        left += apart
    return True


def _cut(places: Sequence[Place], axis: int) -> list[list[Place]]:
    """The places in groups that share nothing along an axis."""
    groups: list[list[Place]] = []
    end = 0
    for place in sorted(places, key=lambda place: place[axis].start):
        if not groups or place[axis].start >= end:
            groups.append([])
        groups[-1].append(place)
        end = max(end, place[axis].stop)
    return groups


def _size(place: Place) -> tuple[int, ...]:
    return tuple(part.stop - part.start for part in place)


def _one(total: Node, laid: dict[Node, tuple[Value, Place]]) -> Node:
    result = total.outputs[0]
    dims = tuple(dim or 0 for dim in result.shape.as_list())
    function = _function(dims, np.dtype(result.dtype.as_numpy_dtype), [place for _, place in laid.values()])
    return node_of([*laid, total], [value for value, _ in laid.values()], Call(function, out=True), shares=False)


def _function(dims: tuple[int, ...], dtype: np.dtype, places: Sequence[Place]) -> Callable[..., np.ndarray]:
    sizes = [_size(place) for place in places]
    is_full = sum(map(math.prod, sizes)) == math.prod(dims)
    where, zero = list(zip(places, sizes, strict=True)), dtype.type(0)

    def side_by_side(*parts: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        whole = np.empty(dims, dtype) if out is None else out
        if not is_full:
            whole.fill(0)
        for part, (place, size) in zip(parts, where, strict=True):
            np.add(part.reshape(size), zero, out=whole[place])
        return whole

    return side_by_side
