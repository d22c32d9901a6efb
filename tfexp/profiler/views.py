"""The rows of a profile: nodes as a tree by name, by data flow or by line of the program, and as a list by op type."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from tfexp.profiler.measures import NOTHING, Measures, total
from tfexp.profiler.nodes import Node, Nodes
from tfexp.profiler.options import Options, matches

ROOT = "_TFProfRoot"
SCOPE = "_kTFScopeParent"
GRAPH = "_TFGraphParent"


@dataclass(eq=False)
class Row:
    """What is shown in a line: its own measures, and `total`, those of the rows below it as well.

    `node` is None for what stands for several nodes, which are `nodes`: a scope, a line of the program, an op type. A row
    that is not `accounted` is shown without measures of its own; one that is `passed_by`, not at all.
    """

    name: str
    node: Node | None = None
    nodes: list[Node] = field(default_factory=list)
    children: list[Row] = field(default_factory=list)
    own: Measures = NOTHING
    total: Measures = NOTHING
    types: set[str] = field(default_factory=set)
    accounted: bool = True
    passed_by: bool = False

    def add_up(self) -> None:
        """Sum up the totals from below. No recursion: graphs are deeper than Python's stack."""
        rows = [self]
        for row in rows:
            rows.extend(row.children)
        for row in reversed(rows):
            row.total = row.own + total(child.total for child in row.children)


def accounted(nodes: Iterable[Node], options: Options) -> list[Node]:
    return [node for node in nodes if matches(options.account_type_regexes, *node.all_types)]


def _root(children: list[Row], types: set[str]) -> Row:
    root = Row(ROOT, children=children, types=types, accounted=False)
    root.add_up()
    return root


def by_scope(nodes: Nodes, options: Options) -> Row:
    """Names as paths. Scopes, and nodes that are not accounted, are rows where something below them is accounted."""
    rows: dict[str, Row] = {}
    root = Row(ROOT)

    def row_of(path: str) -> Row:
        if path not in rows:
            node = nodes.by_name.get(path)
            own = Measures(definition_count=1) if node is None else node.measures(options.step)
            types = {SCOPE} if node is None else node.all_types
            rows[path] = Row(path, node, own=own, types=types, accounted=matches(options.account_type_regexes, *types))
            above = path.rpartition("/")[0]
            (row_of(above) if above else root).children.append(rows[path])
        return rows[path]

    for name in sorted(node.name for node in accounted(nodes, options)):
        row_of(name)
    return _root(root.children, {SCOPE})


def by_flow(nodes: Nodes, options: Options) -> Row:
    """From the nodes whose values nothing takes to those that these come from; each node once, where it is met first."""
    counted = set(accounted(nodes, options))
    names = sorted(nodes.by_name)
    taken = {name for node in nodes for name in node.inputs}
    met: set[str] = set()

    def row_of(name: str) -> Row:
        node = nodes.by_name[name]
        counts = node in counted
        own = node.measures(options.step) if counts else Measures()
        return Row(name, node, own=own, types=node.all_types, accounted=counts, passed_by=not counts)

    def tree(name: str) -> Row:
        """Depth first, and again without recursion."""
        met.add(name)
        top = row_of(name)
        path = [(top, iter(nodes.by_name[name].inputs))]
        while path:
            row, before = path[-1]
            following = next((n for n in before if n in nodes.by_name and n not in met), None)
            if following is None:
                path.pop()
                continue
            met.add(following)
            row.children.append(row_of(following))
            path.append((row.children[-1], iter(nodes.by_name[following].inputs)))
        return top

    children = [tree(name) for name in names if name not in taken]
    # What is left are loops whose values nothing takes.
    children += [tree(name) for name in names if name not in met]
    return _root(children, {GRAPH})


def by_line(nodes: Nodes, options: Options) -> Row:
    """The lines of the program that made the nodes, outside this package."""
    rows: dict[str, Row] = {}
    for node in accounted(nodes, options):
        if node.origin:
            rows.setdefault(node.origin, Row(_line(node.origin))).nodes.append(node)
    return _root([_of_many(row, options) for row in rows.values()], set())


def _line(origin: str) -> str:
    return os.path.basename(origin)


def by_type(nodes: Nodes, options: Options) -> list[Row]:
    """Op types. Totals are those of the list, and come with its order (`display`)."""
    rows: dict[str, Row] = {}
    for node in accounted(nodes, options):
        rows.setdefault(node.type, Row(node.type)).nodes.append(node)
    return [_of_many(row, options) for row in rows.values()]


def _of_many(row: Row, options: Options) -> Row:
    row.nodes.sort(key=lambda node: node.name)
    row.own = total(node.measures(options.step) for node in row.nodes)
    row.types = {text for node in row.nodes for text in node.all_types}
    return row
