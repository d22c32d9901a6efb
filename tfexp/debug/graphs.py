"""The nodes of a dump, without those that did the dumping."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

COPY, WATCH = "__copy_", "__dbg_"  # how the names of nodes begin that copy an output, and that watch a copy
_COPIED = re.compile(rf"\^?{COPY}(?P<node>.*)_(?P<slot>\d+)(:0)?")


def is_debug_node(node_name: str) -> bool:
    """Whether a node watches an output. Source: tf_debug."""
    return node_name.startswith(WATCH)


def device_of(graph_def: Any) -> str | None:
    """The device of a partition: that of its first node that has one."""
    return next((node.device for node in graph_def.node if node.device), None)


def reconstruct_non_debug_graph_def(debug_graph_def: Any) -> GraphDef:
    """The graph as it was before nodes that copy and watch outputs were put in. Source: tf_debug."""
    graph = GraphDef(versions=debug_graph_def.versions, library=debug_graph_def.library)
    for node in debug_graph_def.node:
        if node.name.startswith((COPY, WATCH)):
            continue
        kept = graph.node.add()
        kept.CopyFrom(node)
        del kept.input[:]
        kept.input.extend(_original(name) for name in node.input if not name.startswith(f"^{WATCH}"))
    return graph


def _original(name: str) -> str:
    """The output of which an input is a copy, or else the input."""
    copied = _COPIED.fullmatch(name)
    if copied is None:
        return name
    return copied["node"] if copied["slot"] == "0" else f"{copied['node']}:{copied['slot']}"


class DumpedGraph:
    """The nodes of one device. `retained`: the GraphDef as it was dumped. ValueError where two nodes have one name."""

    def __init__(self, debug_graph_def: Any):
        self.retained = debug_graph_def
        self.reconstructed = reconstruct_non_debug_graph_def(debug_graph_def)
        self.nodes: dict[str, Any] = {}
        for node in self.reconstructed.node:
            if node.name in self.nodes:
                raise ValueError(f"Duplicate node name on device {device_of(debug_graph_def)}: '{node.name}'")
            self.nodes[node.name] = node
        self._recipients: dict[bool, dict[str, list[str]]] = {False: defaultdict(list), True: defaultdict(list)}
        for name, node in self.nodes.items():
            for given in node.input:
                self._recipients[given.startswith("^")][_node(given)].append(name)

    def inputs(self, name: str, is_control: bool = False) -> list[str]:
        """What a node reads (`node` or `node:slot`), or the nodes that it waits for."""
        given = self.nodes[name].input
        return [i.removeprefix("^") for i in given if i.startswith("^") == is_control]

    def recipients(self, name: str, is_control: bool = False) -> list[str]:
        """The nodes that read a node's outputs, or that wait for it."""
        return list(dict.fromkeys(self._recipients[is_control][name]))

    def ancestors(self, name: str, include_control: bool) -> list[str]:
        """All nodes that come before a node, depth first."""
        return [node for node, _ in self._walk(name, include_control)]

    def path(self, source: str, destination: str, include_control: bool) -> list[str] | None:
        """Some path of nodes from one to another; None if there is none."""
        after: dict[str, str] = {}
        for node, reader in self._walk(destination, include_control):
            after[node] = reader
            if node == source:
                found = [source]
                while found[-1] != destination:
                    found.append(after[found[-1]])
                return found
        return [source] if source == destination else None

    def _walk(self, name: str, include_control: bool) -> Iterator[tuple[str, str]]:
        """The nodes before a node, each with the one through which it was reached."""
        seen = {name}
        pending = [(before, name) for before in reversed(self._before(name, include_control))]
        while pending:
            node, reader = pending.pop()
            if node in seen:
                continue
            seen.add(node)
            yield node, reader
            pending.extend((before, node) for before in reversed(self._before(node, include_control)))

    def _before(self, name: str, include_control: bool) -> list[str]:
        if name not in self.nodes:  # of another device
            return []
        return [_node(i) for i in self.nodes[name].input if include_control or not i.startswith("^")]


def _node(given: str) -> str:
    """The node of an input."""
    return given.removeprefix("^").rpartition(":")[0] or given.removeprefix("^")
