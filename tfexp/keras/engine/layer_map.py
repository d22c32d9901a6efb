"""The layers and calls between a model's inputs and its outputs, in an order in which they can be computed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.core import nest
from tfexp.keras.engine.node import KerasHistory, Node, history_of


@dataclass(frozen=True)
class LayerMap:
    """Layers and nodes by depth: outputs are at 0, and every node is deeper than those that read from it."""

    layers: list[Any]  # the deepest first; within a depth as they were met on the way from the outputs
    layers_by_depth: dict[int, list[Any]]
    nodes_by_depth: dict[int, list[Node]]

    @property
    def nodes(self) -> list[Node]:
        """The calls in an order in which each comes after those that it reads from."""
        return [node for depth in sorted(self.nodes_by_depth, reverse=True) for node in self.nodes_by_depth[depth]]

    def numbers(self) -> dict[Node, int]:
        """Which of its layer's calls a node is, counted among those of the model; a model's own first node counts, too."""
        known = set(self.nodes)
        found: dict[Node, int] = {}
        for layer in self.layers:
            first = 1 if getattr(layer, "_is_graph_network", False) else 0
            found.update(zip((node for node in layer._inbound_nodes if node in known), itertools.count(first), strict=False))
        return found


def map_layers(inputs: Sequence[Any], outputs: Sequence[Any]) -> LayerMap:
    """ValueError for a cycle, for an output that needs more than the inputs, and for two layers of one name."""
    nodes, order = _found_from(outputs)
    depths: dict[Node, int] = {}
    depth_of_layer: dict[Any, int] = {}
    for node in reversed(nodes):
        depth = max(depths.get(node, 0), depth_of_layer.get(node.outbound_layer, 0))
        depths[node] = depth_of_layer[node.outbound_layer] = depth
        for history, _ in node.sources(include_arguments=True):
            before = history.layer._inbound_nodes[history.node_index]
            depths[before] = max(depths.get(before, 0), depth + 1)
    for tensor in inputs:
        source = history_of(tensor)
        assert source is not None
        if source.layer not in depth_of_layer:
            depth_of_layer[source.layer], order[source.layer] = 0, -1
            depths[source.layer._inbound_nodes[0]] = 0
    layers_by_depth: dict[int, list[Any]] = {}
    for layer, depth in depth_of_layer.items():
        layers_by_depth.setdefault(depth, []).append(layer)
    for layers in layers_by_depth.values():
        layers.sort(key=lambda layer: order[layer])
    nodes_by_depth: dict[int, list[Node]] = {}
    for node, depth in depths.items():
        nodes_by_depth.setdefault(depth, []).append(node)
    ordered = [layer for depth in sorted(layers_by_depth, reverse=True) for layer in layers_by_depth[depth]]
    found = LayerMap(ordered, layers_by_depth, nodes_by_depth)
    _check_computable(found, inputs)
    _check_names(ordered)
    return found


def _found_from(outputs: Sequence[Any]) -> tuple[list[Node], dict[Any, int]]:
    """The nodes that the outputs come from, each after those that it reads from, and the numbers of layers as met."""
    finished: list[Node] = []
    done: set[Node] = set()
    under_way: set[Node] = set()
    order: dict[Any, int] = {}
    stack: list[tuple[Node, Iterator[KerasHistory]]] = []

    def enter(history: Any) -> None:
        node = history.layer._inbound_nodes[history.node_index]
        if node in under_way:
            raise ValueError(f"The output of call {history.node_index} of layer {history.layer.name!r} is part of a cycle.")
        if node not in done:
            order.setdefault(history.layer, len(order))
            under_way.add(node)
            stack.append((node, iter([source for source, _ in node.sources(include_arguments=True)])))

    for output in outputs:
        enter(history_of(output))
        while stack:
            node, sources = stack[-1]
            following = next(sources, None)
            if following is not None:
                enter(following)
                continue
            stack.pop()
            under_way.discard(node)
            done.add(node)
            finished.append(node)
    return finished, order


def _check_computable(found: LayerMap, inputs: Sequence[Any]) -> None:
    known = {id(tensor) for tensor in inputs}
    passed: list[str] = []
    for node in found.nodes:
        for tensor in nest.flatten(node.input_tensors):
            if id(tensor) not in known:
                raise ValueError(
                    f'Graph disconnected: cannot obtain value for tensor {tensor} at layer "{node.outbound_layer.name}". '
                    f"The following previous layers were accessed without issue: {passed}"
                )
        known.update(id(tensor) for tensor in nest.flatten(node.output_tensors))
        passed.append(node.outbound_layer.name)


def _check_names(layers: Sequence[Any]) -> None:
    for name, count in Counter(layer.name for layer in layers).items():
        if count > 1:
            raise ValueError(f'The name "{name}" is used {count} times in the model. All layer names should be unique.')
