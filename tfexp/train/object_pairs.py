"""Which object of a program is which one of a checkpoint: found along the same names, also of objects that come later.

Source: what TF 1.15 restores. What has been found once stays, whatever takes its place in the program.
"""

from __future__ import annotations

import weakref
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tfexp.ops.trackable import Trackable, attribute_of, parts_of
from tfexp.ops.variable_base import Variable

# What has the parts, or a dictionary of those that are still there; something false when all are gone.
Root = Callable[[], Any]

# An object that is not kept alive: how it is found, or a list or dict as the part of this node under this name.
_Found = Callable[[], Any] | tuple[int, str]


class Pairs:
    """The objects of a program by the numbers of the checkpoint's nodes."""

    def __init__(self, root: Root, proto: TrackableObjectGraph):
        self._nodes = proto.nodes
        self._paired: dict[int, _Found] = {}
        self._numbers: defaultdict[int, list[int]] = defaultdict(list)  # by the objects' ids
        # What has no object yet: parts of nodes, slots by the node of their variable.
        self._children = {number: list(node.children) for number, node in enumerate(self._nodes) if node.children}
        self._slots: defaultdict[int, list[tuple[int, str, int]]] = defaultdict(list)
        for number, node in enumerate(self._nodes):
            for slot in node.slot_variables:
                at = (number, slot.slot_name, slot.slot_variable_node_id)
                self._slots[slot.original_variable_node_id].append(at)
        self._quiet: set[int] = set()  # nodes whose objects may have new parts and not say so
        self._new: dict[str, Any] = {}
        self._unused = {
            number: [attribute.checkpoint_key for attribute in node.attributes]
            for number, node in enumerate(self._nodes)
            if node.attributes
        }
        self._pair(0, root(), root)
        self._look([0])
        self._look_at_slots()

    def __len__(self) -> int:
        return len(self._paired)

    @property
    def unused(self) -> list[str]:
        """The keys of nodes that have no object."""
        return [key for keys in self._unused.values() for key in keys]

    def take_new(self) -> dict[str, Any]:
        """What was found since the last time, of that which has values: by keys."""
        found, self._new = self._new, {}
        return found

    def look(self, owner: Any = None) -> None:
        """Find what is new: in `owner`, which has new parts or slots, and in what does not say when it has."""
        numbers = [number for number in self._numbers.get(id(owner), ()) if self._object(number) is owner]
        self._look([*numbers, *(self._quiet - set(numbers))])
        if isinstance(owner, Trackable) and type(owner)._checkpoint_slots is not Trackable._checkpoint_slots:
            self._look_at_slots()  # of all optimizers: it may be within the one that the checkpoint knows

    def _object(self, number: int) -> Any:
        found = self._paired[number]
        if callable(found):
            return found()
        owner, name = found
        return dict(parts_of(self._object(owner))).get(name)

    def _pair(self, number: int, value: Any, found: _Found) -> None:
        self._paired[number] = found
        self._numbers[id(value)].append(number)
        self._unused.pop(number, None)
        of_value = attribute_of(value)
        keys = [one.checkpoint_key for one in self._nodes[number].attributes if one.name == of_value]
        self._new.update(dict.fromkeys(keys, value))

    def _look(self, numbers: Iterable[int]) -> None:
        """Go along the names from these nodes, breadth first."""
        queue = deque(numbers)
        variables = []
        while queue:
            number = queue.popleft()
            owner = self._object(number)
            if isinstance(owner, Variable):
                variables.append(number)
            for name, child, part in self._new_parts(number, owner):
                self._pair(child, part, _reference(part) or (number, name))
                queue.append(child)
        for number in variables:
            self._look_at_slots_of(number)

    def _new_parts(self, number: int, owner: Any) -> list[tuple[str, int, Any]]:
        """(local name, node, part) of a node's children that have their objects from now on."""
        children = [child for child in self._children.get(number, ()) if child.node_id not in self._paired]
        parts = dict(parts_of(owner)) if children else {}
        makes = isinstance(owner, Trackable) and type(owner)._lookup_dependency is not Trackable._lookup_dependency
        found: dict[int, tuple[str, Any]] = {}
        for child in children:
            part = parts.get(child.local_name)
            if part is None and makes:
                part = owner._lookup_dependency(child.local_name)
            if part is not None:
                found.setdefault(child.node_id, (child.local_name, part))
        self._children[number] = [child for child in children if child.node_id not in found]
        self._quiet.discard(number)
        if _is_quiet(owner, [child.local_name for child in self._children[number]]):
            self._quiet.add(number)
        return [(name, node, part) for node, (name, part) in found.items()]

    def _look_at_slots(self) -> None:
        for variable in [number for number in self._slots if number in self._paired]:
            self._look_at_slots_of(variable)

    def _look_at_slots_of(self, number: int) -> None:
        """Pair what optimizers keep beside a variable."""
        variable, left = self._object(number), []
        own: dict[int, dict[str, Any]] = {}
        for owner, name, slot in self._slots.pop(number, ()):
            if owner not in own:
                optimizer = self._object(owner) if owner in self._paired else None
                if isinstance(optimizer, Trackable) and isinstance(variable, Variable):
                    own[owner] = dict(optimizer._checkpoint_slots(variable))
                else:
                    own[owner] = {}
            if name in own[owner]:
                self._pair(slot, own[owner][name], weakref.ref(own[owner][name]))
            else:
                left.append((owner, name, slot))
        if left:
            self._slots[number] = left


def _reference(value: Any) -> Callable[[], Any] | None:
    """None for lists and dicts, which cannot be referred to weakly."""
    try:
        return weakref.ref(value)
    except TypeError:
        return None


def _is_quiet(owner: Any, names: list[str]) -> bool:
    """Whether it may have parts of these names later and not say so: lists and dicts do not, the attributes included."""
    if not names or owner is None:
        return False
    if not isinstance(owner, Trackable) or not owner._says_what_is_new:
        return True
    attributes = vars(owner)
    return any(isinstance(attributes.get(name), (list, dict)) for name in names)
