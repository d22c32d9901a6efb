"""`tf.contrib.checkpoint`: parts that are named one by one, and a picture of what a checkpoint has. Source: TF 1.15."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tfexp.formats.checkpoints import open_checkpoint
from tfexp.ops.trackable import Trackable, is_trackable
from tfexp.train.object_graph import object_metadata


class UniqueNameTracker(Trackable):
    """Parts of checkpoints under names that are made unique: `name`, `name_1`, …"""

    def track(self, trackable: Any, base_name: str) -> Any:
        """`trackable`, which is a part from here on. ValueError for what cannot be one."""
        if not is_trackable(trackable):
            raise ValueError(f"Expected a trackable value, got {trackable!r} which is no part of checkpoints.")
        taken = dict(self._checkpoint_children())
        names = (f"{base_name}_{number}" if number else base_name for number in itertools.count())
        return self._track_trackable(trackable, next(name for name in names if name not in taken))


def dot_graph_from_checkpoint(save_path: str) -> str:
    """The objects of a checkpoint in Graphviz's language: variables are blue, slots of optimizers orange.

    ValueError for a checkpoint that was written by names.
    """
    graph = object_metadata(save_path)
    with open_checkpoint(save_path) as reader:
        shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    described = {
        value.checkpoint_key: f"{value.full_name} shape={shapes[value.checkpoint_key]} {types[value.checkpoint_key].name}"
        for node in graph.nodes
        for value in node.attributes
        if value.checkpoint_key in shapes
    }
    return "\n".join(["digraph {", *_lines(graph, described), "}", ""])


def _lines(graph: TrackableObjectGraph, described: dict[str, str]) -> Iterator[str]:
    slots = {slot.slot_variable_node_id for node in graph.nodes for slot in node.slot_variables}
    for number, node in enumerate(graph.nodes):
        look = ['shape=point label="" width=.25']
        for value in node.attributes:
            kind, colour = ("Slot variable", "orange") if number in slots else ("Variable", "blue")
            look.append(f'color={colour} tooltip="{kind} {described.get(value.checkpoint_key, value.full_name)}"')
        if node.slot_variables:
            look.append('color=red tooltip="Optimizer"')
        yield f"N_{number} [{' '.join(look)}]"
        for child in node.children:
            yield f'N_{number} -> N_{child.node_id} [label="{child.local_name}"]'
        for slot in node.slot_variables:
            yield f'N_{number} -> N_{slot.slot_variable_node_id} [label="{slot.slot_name}" style=dotted]'
            yield f"N_{slot.original_variable_node_id} -> N_{slot.slot_variable_node_id} [style=dotted]"
