"""The outline of a graph as an SVG: boxes in layers from the inputs down, and curves for what flows between them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tfexp.core.wording import plural
from tfexp.experiment.reporting.graph_outline import Box, Outline

__all__ = ["draw_graph"]

_CHARACTER = 6.7
"""The width of one, in the units of the drawing (12 to a line)."""
_PADDING, _GAP, _RISE = 12, 22, 40
_MOST_CHARACTERS = 34


@dataclass
class _Node:
    """A box with its lines of text, or (without) a place where an edge passes through a layer."""

    lines: tuple[str, ...]
    layer: int
    x: float = 0.0

    @property
    def width(self) -> float:
        return max(map(len, self.lines)) * _CHARACTER + 2 * _PADDING if self.lines else 8.0


def draw_graph(outline: Outline) -> str:
    """The `<svg>`; its width and height are those of the drawing, 1 unit to a pixel."""
    layers = _layers(outline)
    nodes = [_Node(_lines(box), layer) for box, layer in zip(outline.boxes, layers, strict=True)]
    chains = _through(outline.edges, nodes)
    rows: dict[int, list[int]] = defaultdict(list)
    for place, node in enumerate(nodes):
        rows[node.layer].append(place)
    _arrange(rows, chains, nodes)
    heights = {layer: 16 * max(2, *(len(nodes[place].lines) for place in row)) + 14 for layer, row in rows.items()}
    tops, top = {}, 8.0
    for layer in sorted(rows):
        tops[layer] = top
        top += heights[layer] + _RISE
    left = min(node.x - node.width / 2 for node in nodes) - 8
    right = max(node.x + node.width / 2 for node in nodes) + 8
    for node in nodes:
        node.x -= left

    def ends(place: int) -> tuple[float, float, float]:
        """Middle, upper and lower end of a box, or of the layer that an edge passes through."""
        node = nodes[place]
        height = 16 * len(node.lines) + 14 if node.lines else heights[node.layer]
        return node.x, tops[node.layer], tops[node.layer] + height

    curves = []
    for chain in chains:
        path = ""
        for before, after in itertools.pairwise(chain):
            x0, _, low = ends(before)
            x1, y1, _ = ends(after)
            y0 = tops[nodes[before].layer] + heights[nodes[before].layer]  # below the highest box of the layer
            path += f"M{x0:.0f} {low:.0f}V{y0:.0f}" if not path else f"V{y0:.0f}"
            middle = (y0 + y1) / 2
            path += f"C{x0:.0f} {middle:.0f} {x1:.0f} {middle:.0f} {x1:.0f} {y1:.0f}"
        curves.append(f'<path class="edge" d="{path}" marker-end="url(#tip)"/>')
    drawn = "".join(_drawn(box, nodes[place], ends(place)) for place, box in enumerate(outline.boxes))
    width, height = right - left, top - _RISE + 8
    return (
        f'<svg class="graph" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="The graph: {len(outline.boxes)} scopes and what flows between them">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0.5L7 4L0 7.5z"/></marker></defs>' + "".join(curves) + drawn + "</svg>"
    )


def _drawn(box: Box, node: _Node, ends: tuple[float, float, float]) -> str:
    x, top, bottom = ends
    counts = "\n".join(f"{count} × {op}" for op, count in box.counts)
    devices = f"\non {', '.join(box.devices)}" if box.devices else ""
    title = f"{box.name}: {plural(box.ops, 'op')}{devices}\n{counts}".strip()
    text = "".join(
        f'<text x="{x:.0f}" y="{top + 20 + 16 * number:.0f}"{"" if number else f" class={chr(34)}name{chr(34)}"}>'
        f"{escape(line)}</text>"
        for number, line in enumerate(node.lines)
    )
    return (
        f'<g class="box {box.kind}"><title>{escape(title)}</title><rect x="{x - node.width / 2:.0f}" y="{top:.0f}" '
        f'width="{node.width:.0f}" height="{bottom - top:.0f}" rx="6"/>{text}</g>'
    )


def _lines(box: Box) -> tuple[str, ...]:
    """The box's text: its name, then its variables' shapes, or else what it computes."""
    lines = [_short(box.name)]
    if box.ops == 1:
        op = box.counts[0][0] if box.counts else ""
        return tuple(lines if not op or box.name.rpartition("/")[2].partition("_")[0] == op else [*lines, op])
    shapes = [f"{name.rpartition('/')[2]} {list(shape)}" for name, shape in box.variables]
    if box.kind != "update":
        lines += [_short(shape) for shape in shapes[:3]]
        if len(shapes) > 3:
            lines.append(f"and {len(shapes) - 3} more variables")
    kinds = [op if count == 1 else f"{op} ×{count}" for op, count in box.counts]
    if kinds and (not shapes or box.kind == "update"):
        lines.append(_short(" · ".join(kinds[:3]) + (" …" if len(kinds) > 3 else "")))
    elif kinds:
        lines.append(_short(" · ".join(kinds[:2]) + (" …" if len(kinds) > 2 else "")))
    return (*lines, f"{box.ops} ops")


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def _layers(outline: Outline) -> list[int]:
    """For each box its layer: one below the lowest of those it needs; a box that needs none, just above the first that needs
    it.
    """
    count = len(outline.boxes)
    before, after = defaultdict(list), defaultdict(list)
    for source, target in outline.edges:
        before[target].append(source)
        after[source].append(target)
    found: dict[int, int] = {}

    def layer(place: int) -> int:
        if place not in found:
            found[place] = max((layer(source) + 1 for source in before[place]), default=0)
        return found[place]

    layers = [layer(place) for place in range(count)]
    for place in range(count):
        if not before[place] and after[place]:
            layers[place] = min(layers[target] for target in after[place]) - 1
    lowest = min(layers, default=0)
    return [one - lowest for one in layers]


def _through(edges: Sequence[tuple[int, int]], nodes: list[_Node]) -> list[list[int]]:
    """The edges as chains of nodes in neighbouring layers; adds the nodes in between."""
    chains = []
    for source, target in edges:
        chain = [source]
        for layer in range(nodes[source].layer + 1, nodes[target].layer):
            nodes.append(_Node((), layer))
            chain.append(len(nodes) - 1)
        chains.append([*chain, target])
    return chains


def _arrange(rows: dict[int, list[int]], chains: list[list[int]], nodes: list[_Node]) -> None:
    """Put each row in the order of what it is connected with, some times down and up, then give every node its place."""
    above, below = defaultdict(list), defaultdict(list)
    for chain in chains:
        for source, target in itertools.pairwise(chain):
            above[target].append(source)
            below[source].append(target)
    for row in rows.values():
        _spread(row, nodes)
    for turn in range(8):
        near = above if turn % 2 == 0 else below
        for layer in sorted(rows, reverse=turn % 2 == 1):
            row = rows[layer]
            wanted = {
                place: sum(nodes[one].x for one in near[place]) / len(near[place]) if near[place] else nodes[place].x
                for place in row
            }
            row.sort(key=wanted.__getitem__)
            for place in row:
                nodes[place].x = wanted[place]
            _push_apart(row, nodes)


def _spread(row: list[int], nodes: list[_Node]) -> None:
    """Beside each other, the middle of the row at 0."""
    whole = sum(nodes[place].width for place in row) + _GAP * (len(row) - 1)
    at = -whole / 2
    for place in row:
        nodes[place].x = at + nodes[place].width / 2
        at += nodes[place].width + _GAP


def _push_apart(row: list[int], nodes: list[_Node]) -> None:
    """Move the nodes of a row, which are in their order, so that none overlap, each about as far as the others."""
    wanted = [nodes[place].x for place in row]
    for left, right in itertools.pairwise(row):
        least = (nodes[left].width + nodes[right].width) / 2 + _GAP
        nodes[right].x = max(nodes[right].x, nodes[left].x + least)
    shift = sum(nodes[place].x - want for place, want in zip(row, wanted, strict=True)) / len(row)
    for place in row:
        nodes[place].x -= shift
