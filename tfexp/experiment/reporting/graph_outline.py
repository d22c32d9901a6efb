"""What a graph is made of, in a few boxes: its scopes, opened where that says something, and what flows between them.

Read from `graph.pbtxt` as it is; no graph is built.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Box", "Outline", "outline", "read_outline"]

_MOST = 22
"""Boxes that a reader still takes in."""
_PLUMBING = {"Const", "Identity", "NoOp", "Assign", "VariableV2", "VarHandleOp", "AssignVariableOp", "ReadVariableOp"}
_PLUMBING |= {"VarIsInitializedOp", "Shape", "Pack", "StridedSlice", "Placeholder"}
_SIDE = {"SaveV2", "RestoreV2", "MergeV2Checkpoints", "IsVariableInitialized", "VarIsInitializedOp", "MergeSummary"}
_SIDE |= {"ScalarSummary", "HistogramSummary", "ImageSummary", "AudioSummary", "TensorSummary"}
_VARIABLES = {"VariableV2", "Variable", "VarHandleOp"}


@dataclass(frozen=True)
class Box:
    """A scope or a single op. `kind` is forward, update (it trains) or variables (nothing but them)."""

    name: str
    kind: str
    ops: int
    counts: tuple[tuple[str, int], ...]
    """The ops that compute, the most frequent first."""
    variables: tuple[tuple[str, tuple[int, ...]], ...]
    """Name within the box, and shape."""
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """`edges` say which box needs another (its place in `boxes`, the needed one first), less those that follow from others.

    `sides` are scopes that only serve (saving, initialising, summaries), with how many ops they have.
    """

    boxes: tuple[Box, ...]
    edges: tuple[tuple[int, int], ...]
    sides: tuple[tuple[str, int], ...]
    ops: int
    parameters: int
    """Elements of the variables in boxes that are not `update`."""


def read_outline(path: Path) -> Outline:
    """The outline of the graph in the file. Raises ValueError if it holds none, OSError if it cannot be read."""
    from google.protobuf import text_format
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    try:
        graph = text_format.Parse(path.read_bytes(), GraphDef())
    except (text_format.ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from error
    if not graph.node:
        raise ValueError(f"{path.name} has no nodes")
    return outline(graph.node)


def outline(nodes: Iterable[Any]) -> Outline:
    """The outline of the NodeDefs."""
    by_name = {node.name: node for node in nodes}
    variables = {name for name, node in by_name.items() if node.op in _VARIABLES}
    variables -= {name for name in variables if _inside(name, variables)}  # slots, which an optimizer keeps of a variable
    inputs = {name: [_source(one) for one in node.input] for name, node in by_name.items()}
    groups: dict[str, list[str]] = defaultdict(list)
    for name in by_name:
        groups[name.partition("/")[0]].append(name)
    kinds = {scope: _kind([by_name[name] for name in names]) for scope, names in groups.items()}
    sides = tuple((scope, len(names)) for scope, names in groups.items() if kinds[scope] == "side")
    groups = {scope: names for scope, names in groups.items() if kinds[scope] != "side"}
    groups = _opened(groups, kinds, by_name, inputs, variables)
    groups = {scope: names for scope, names in groups.items() if any(by_name[name].op != "Const" for name in names)}
    boxes = tuple(_box(scope, [by_name[name] for name in names], variables) for scope, names in groups.items())
    owner = {name: place for place, names in enumerate(groups.values()) for name in names}
    found = {
        (owner[source], owner[name])
        for name in owner
        for source in inputs[name]
        if source in owner and owner[source] != owner[name]
    }
    return Outline(boxes, _reduced(_acyclic(found, len(boxes))), sides, len(by_name), _parameters(boxes))


def _inside(name: str, scopes: set[str]) -> bool:
    """Whether a node is in one of the scopes. What is in a variable's (its initializer, `read`) belongs to the variable."""
    return any(name[:at] in scopes for at, letter in enumerate(name) if letter == "/")


def _source(name: str) -> str:
    return name.lstrip("^").partition(":")[0]


def _kind(nodes: list[Any]) -> str:
    ops = {node.op for node in nodes}
    if ops & _SIDE or ops == {"NoOp"}:
        return "side"
    if any(op.startswith(("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")) for op in ops):
        return "update"
    return "variables" if ops <= _PLUMBING - {"Placeholder"} and ops & _VARIABLES else "forward"


def _opened(
    groups: dict[str, list[str]],
    kinds: dict[str, str],
    by_name: dict[str, Any],
    inputs: dict[str, list[str]],
    variables: set[str],
) -> dict[str, list[str]]:
    """The groups, with scopes of the forward part replaced by what is in them, the outermost first, while there is room.

    A scope that variables stand in directly is a layer, and stays whole.
    """
    waiting = list(groups)
    while waiting:
        scope = waiting.pop(0)
        if kinds.get(scope, "forward") != "forward":
            continue
        parts: dict[str, list[str]] = defaultdict(list)
        for name in groups[scope]:
            rest = name[len(scope) + 1 :].partition("/")[0]
            parts[f"{scope}/{rest}" if rest else name].append(name)
        inner = sum(len(names) for names in parts.values() if len(names) >= 4)
        drawn = sum(any(by_name[name].op != "Const" for name in names) for names in parts.values())
        apart = len(parts) > 1 and not any(inputs[name] for name in groups[scope])  # placeholders, say
        structured = 2 * inner >= len(groups[scope]) and drawn > 1
        if not (structured or (apart and len(parts) <= 4)) or len(groups) - 1 + drawn > _MOST:
            continue
        if not variables.isdisjoint(parts) or any(len(names) == len(groups[scope]) for names in parts.values()):
            continue
        # in its place, so that boxes stay in the order in which the graph was made
        groups = {
            name: names
            for key, value in groups.items()
            for name, names in (parts.items() if key == scope else [(key, value)])
        }
        waiting += [name for name, names in parts.items() if len(names) > 1]
    return groups


def _box(scope: str, nodes: list[Any], all_variables: set[str]) -> Box:
    counts = Counter(node.op for node in nodes if node.op not in _PLUMBING and not _inside(node.name, all_variables))
    variables = []
    for node in nodes:
        if node.name in all_variables and "shape" in node.attr:
            shape = tuple(int(dim.size) for dim in node.attr["shape"].shape.dim)
            variables.append((node.name[len(scope) + 1 :] or node.name.rpartition("/")[2], shape))
    devices = sorted({node.device for node in nodes if node.device})
    return Box(scope, _kind(nodes), len(nodes), tuple(counts.most_common()), tuple(variables), tuple(devices))


def _acyclic(edges: set[tuple[int, int]], count: int) -> set[tuple[int, int]]:
    """Without the edges that close a circle, as loops do, and scopes that were entered twice; later boxes give way."""
    after: dict[int, list[int]] = defaultdict(list)
    for source, target in sorted(edges):
        after[source].append(target)
    state = [0] * count  # 1: on the way, 2: done
    kept = set()

    def visit(place: int) -> None:
        state[place] = 1
        for target in after[place]:
            if state[target] != 1:
                kept.add((place, target))
                if not state[target]:
                    visit(target)
        state[place] = 2

    for root in range(count):
        if not state[root]:
            visit(root)
    return kept


def _reduced(edges: set[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Without the edges beside which there is a longer way (the transitive reduction)."""
    after: dict[int, set[int]] = defaultdict(set)
    for source, target in edges:
        after[source].add(target)
    reach: dict[int, set[int]] = {}

    def reached(place: int) -> set[int]:
        if place not in reach:
            reach[place] = set(after[place]).union(*(reached(target) for target in after[place]))
        return reach[place]

    return tuple(
        sorted(
            (source, target)
            for source, target in edges
            if not any(target in reached(other) for other in after[source] if other != target)
        )
    )


def _parameters(boxes: Iterable[Box]) -> int:
    shapes = [shape for box in boxes if box.kind != "update" for _, shape in box.variables]
    return sum(math.prod(shape) for shape in shapes if shape and all(size > 0 for size in shape))
