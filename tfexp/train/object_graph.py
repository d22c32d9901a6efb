"""The graph of objects that a checkpoint keeps: who has which part under which name, and so the keys of variables.

A variable's key is the way to it from the root (`model/dense/kernel/.ATTRIBUTES/VARIABLE_VALUE`); what an optimizer keeps
beside it comes behind `.OPTIMIZER_SLOT`. The graph itself is written as a TrackableObjectGraph under `OBJECT_GRAPH_KEY`,
so that it is restored by structure, not by name. Source: `trackable_object_graph.proto`.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tfexp.formats.checkpoints import open_checkpoint
from tfexp.ops.trackable import SavedState, Trackable, attribute_of, parts_of
from tfexp.ops.variable_base import Variable, node_name
from tfexp.train.object_pairs import Pairs

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"


def _full_name(value: Any) -> str:
    return node_name(value) if isinstance(value, Variable) else ""


def object_metadata(save_path: str) -> TrackableObjectGraph:
    """The objects of a checkpoint. ValueError for a checkpoint that was written by names. Source: TF 1.15."""
    written = _written_graph(save_path)
    if written is None:
        raise ValueError(
            f"The checkpoint {save_path!r} is not object-based: it has no {OBJECT_GRAPH_KEY!r}, which "
            "tf.train.Checkpoint writes and a name-based saver does not"
        )
    return written


def _written_graph(path: str) -> TrackableObjectGraph | None:
    with open_checkpoint(path) as reader:
        if OBJECT_GRAPH_KEY not in reader.get_variable_to_shape_map():
            return None
        return TrackableObjectGraph.FromString(reader.get_tensor(OBJECT_GRAPH_KEY))


def names_to_keys(path: str) -> dict[str, str] | None:
    """The keys of a checkpoint that was written by objects, by the names that its variables had; None for any other one."""
    written = _written_graph(path)
    if written is None:
        return None
    values = (value for node in written.nodes for value in node.attributes)
    return {value.full_name: value.checkpoint_key for value in values if value.full_name}


def saveables(values: dict[str, Any]) -> dict[str, Any]:
    """What a Saver takes for objects by their keys."""
    return {key: value.saveable(key) if isinstance(value, SavedState) else value for key, value in values.items()}


@dataclass(frozen=True)
class ObjectGraph:
    """What is reached from a root: the message, and what has a value (variables, saved states) by their keys."""

    proto: TrackableObjectGraph
    values: dict[str, Any]


def _escaped(name: str) -> str:
    """A local name as a part of a key."""
    return name.replace(".", "..").replace("/", ".S")


class Reached:
    """The objects reached from a root, breadth first, and the shortest way to each."""

    def __init__(self, root: Any):
        self.objects = [root]
        self.paths = [""]
        self.numbers = {id(root): 0}
        self.parts: list[list[tuple[str, int]]] = []
        queue = deque([root])
        while queue:
            value = queue.popleft()
            path = self.paths[self.numbers[id(value)]]
            parts = parts_of(value)
            for name, part in parts:
                if id(part) not in self.numbers:
                    self.numbers[id(part)] = len(self.objects)
                    self.objects.append(part)
                    self.paths.append(f"{path}/{_escaped(name)}" if path else _escaped(name))
                    queue.append(part)
            self.parts.append([(name, self.numbers[id(part)]) for name, part in parts])

    def slots(self) -> list[tuple[int, str, int, Any]]:
        """(optimizer, slot's name, variable, the slot) by numbers of objects."""
        variables = [i for i, value in enumerate(self.objects) if isinstance(value, Variable)]
        found = []
        for owner, value in enumerate(self.objects):
            if isinstance(value, Trackable):
                own = [(name, i, slot) for i in variables for name, slot in value._checkpoint_slots(self.objects[i])]
                found += [(owner, name, i, slot) for name, i, slot in sorted(own, key=lambda one: (one[0], one[1]))]
        return found


def list_objects(root_trackable: Any) -> list[Any]:
    """What is reached from an object, itself first, breadth first; slots of optimizers last. Source: TF 1.15."""
    reached = Reached(root_trackable)
    return [*reached.objects, *(slot for *_, slot in reached.slots())]


def object_graph(root: Any) -> ObjectGraph:
    """The graph of what `root` has."""
    found = Reached(root)
    proto, values = TrackableObjectGraph(), {}

    def keep(node: Any, way: str, value: Any) -> None:
        attribute = attribute_of(value)
        key = f"{way}/.ATTRIBUTES/{attribute}"
        node.attributes.add(name=attribute, full_name=_full_name(value), checkpoint_key=key)
        values[key] = value

    for value, path, parts in zip(found.objects, found.paths, found.parts, strict=True):
        node = proto.nodes.add()
        for name, number in parts:
            node.children.add(node_id=number, local_name=name)
        if attribute_of(value):
            keep(node, path, value)
    for owner, name, number, slot in found.slots():
        proto.nodes[owner].slot_variables.add(
            original_variable_node_id=number, slot_name=name, slot_variable_node_id=len(proto.nodes)
        )
        way = f"{found.paths[number]}/.OPTIMIZER_SLOT/{found.paths[owner]}/{_escaped(name)}"
        keep(proto.nodes.add(), way, slot)
    return ObjectGraph(proto, values)


@dataclass(frozen=True)
class Match:
    """Which objects of a program a checkpoint has values for."""

    variables: dict[str, Any]  # by the checkpoint's keys
    unused: list[str]  # what the checkpoint has and the program does not: nodes, as texts
    left_out: list[Any]  # variables of the program that the checkpoint does not have
    is_trivial: bool  # the root is all that both have


def match(root: Any, proto: TrackableObjectGraph) -> Match:
    """Go through both from their roots along the same names."""
    pairs = Pairs(lambda: root, proto)
    variables = pairs.take_new()
    known = {id(variable) for variable in variables.values()}
    left_out = [variable for variable in object_graph(root).values.values() if id(variable) not in known]
    return Match(variables, pairs.unused, left_out, len(pairs) == 1)
