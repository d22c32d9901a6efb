"""`Trackable`: objects that a checkpoint finds variables in, by the names of attributes. Source: TF 1.15's object graphs."""

from __future__ import annotations

import abc
import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, NamedTuple

from tfexp.graph.scopes import init_scope
from tfexp.ops.saveable_object import SaveableObject
from tfexp.ops.variable_base import Variable


class NoDependency:
    """What is assigned to an attribute of a trackable object as a value alone: it is no part. Source: TF 1.15."""

    def __init__(self, value: Any):
        self.value = value


class TrackableReference(NamedTuple):
    """A part of an object, and its name there."""

    name: str
    ref: Any


class Trackable:
    """An object with parts: attributes that are variables, other trackable objects, or public lists and dicts of these."""

    # What a SavedModel says it is: TensorFlow's programs make an object of a class of theirs for some.
    _object_identifier = "_generic_user_object"

    # The attributes that were assigned as a NoDependency.
    _no_parts: frozenset[str] = frozenset()
    # Those that were assigned when nothing assigned was a part, and whether that is so now.
    _unseen: frozenset[str] = frozenset()
    _setattr_tracking = True
    # Whether lists and dicts that hold no parts are parts themselves, which a checkpoint's program then has to have, too.
    _lists_are_parts = False
    # Whether `variables_made` is told of each part that is new, lists and dicts of attributes excepted.
    _says_what_is_new = True

    def __setattr__(self, name: str, value: Any) -> None:
        """A part stays one, under its name, when what can be none takes its attribute."""
        before = vars(self).get(name)
        if self._setattr_tracking and (is_trackable(value) or isinstance(value, (list, dict))):
            self._unconditional_dependency_names.pop(name, None)
        elif before is not value and _counts(before) and name not in self._no_parts | self._unseen:
            self._unconditional_dependency_names[name] = before
        self._assign_attribute(name, value)

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        self._unconditional_dependency_names.pop(name, None)

    def _assign_attribute(self, name: str, value: Any) -> None:
        """Set an attribute; what it was before is no part because of it."""
        if self._setattr_tracking == (name in self._unseen):  # it is in the wrong set of the two
            super().__setattr__("_unseen", self._unseen ^ {name})
        if isinstance(value, NoDependency):
            value = value.value
            super().__setattr__("_no_parts", self._no_parts | {name})
        elif name in self._no_parts:
            super().__setattr__("_no_parts", self._no_parts - {name})
        super().__setattr__(name, value)
        if self._setattr_tracking and (is_trackable(value) or isinstance(value, (list, dict)) or _holds_trackables(value)):
            variables_made(self)

    @property
    def _tracking_metadata(self) -> str:
        """What such a class has to know."""
        return ""

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        """(local name, part)."""
        no_parts = self._no_parts | self._unseen | {"_named_parts"}
        counts = _is_node if self._lists_are_parts else _counts
        assigned = {name: value for name, value in vars(self).items() if name not in no_parts and counts(value)}
        return list({**assigned, **self._unconditional_dependency_names}.items())

    @property
    def _unconditional_dependency_names(self) -> dict[str, Any]:
        """The parts that are not those of attributes, by their names. TF 1.15 calls it so."""
        named: dict[str, Any] = vars(self).setdefault("_named_parts", {})
        return named

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        """All parts. TF 1.15 calls it so."""
        return [TrackableReference(name, part) for name, part in self._checkpoint_children()]

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """All parts, which subclasses may add to. TF 1.15 calls it so."""
        return self._unconditional_checkpoint_dependencies

    def _lookup_dependency(self, name: str) -> Any:
        """The part for what a checkpoint has under that name, or None. Subclasses may make it here. Source: TF 1.15."""
        return dict(self._checkpoint_children()).get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """`trackable`, which is a part from here on, under a name that needs to be no attribute's. Source: TF 1.15.

        TypeError for what cannot be a part, ValueError for a name that another one has unless that is to be replaced.
        """
        if not is_trackable(trackable):
            raise TypeError(f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable.")
        if not overwrite and dict(self._checkpoint_children()).get(name, trackable) is not trackable:
            raise ValueError(f"Called Trackable._track_trackable() with name={name!r}, but another part is declared with it")
        self._unconditional_dependency_names[name] = trackable
        variables_made(self)
        return trackable

    def _no_dependency(self, value: Any) -> Any:
        """What subclasses assign a list or dict through that is no part."""
        return NoDependency(value)

    def _checkpoint_slots(self, variable: Any) -> list[tuple[str, Any]]:
        """(name, variable) of what it keeps beside a variable."""
        return []

    def _functions_to_save(self) -> dict[str, Any]:
        """What a SavedModel has as functions of it, besides those that are attributes."""
        return {}


class SavedState(Trackable, abc.ABC):
    """A part of a checkpoint that is no variable: it says how it is written and read."""

    _attribute: ClassVar[str]
    """Under which name, of the object's attributes, a checkpoint keeps it."""

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        return []

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """How errors call it."""

    @abc.abstractmethod
    def saveable(self, key: str) -> SaveableObject:
        """What a Saver keeps under that key."""


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """What is assigned to attributes of a trackable object here is no part of it, and to Keras no layer or weight either."""
    before = obj._setattr_tracking
    object.__setattr__(obj, "_setattr_tracking", False)
    try:
        yield
    finally:
        object.__setattr__(obj, "_setattr_tracking", before)


def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a trackable object that assigns no parts."""

    @functools.wraps(method)
    def without_parts(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return without_parts


waiting_for_variables: list[Callable[[Any], bool]] = []
"""What is called with an object that has new parts, as long as it says that it waits for more."""


def variables_made(owner: Any) -> None:
    """An object has parts that are new, or variables that it makes on first use."""
    if not waiting_for_variables:
        return
    with init_scope():
        waiting_for_variables[:] = [one for one in waiting_for_variables if one(owner)]


def attribute_of(value: Any) -> str | None:
    """Which of an object's attributes a checkpoint keeps; None for one that only has parts."""
    if isinstance(value, Variable):
        return "VARIABLE_VALUE"
    return value._attribute if isinstance(value, SavedState) else None


def is_trackable(value: Any) -> bool:
    return isinstance(value, (Variable, Trackable, SaveableObject))


def _holds_trackables(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(is_trackable(one) or _holds_trackables(one) for one in value)
    return isinstance(value, Mapping) and _holds_trackables(list(value.values()))


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """(local name, part) of a trackable object, a list or a dict."""
    if isinstance(value, Trackable):
        return value._checkpoint_children()
    if isinstance(value, Mapping):
        return [(str(key), part) for key, part in sorted(value.items(), key=lambda item: str(item[0])) if _is_node(part)]
    if isinstance(value, (list, tuple)):
        return [(str(i), part) for i, part in enumerate(value) if _is_node(part)]
    return []


def _is_node(value: Any) -> bool:
    return isinstance(value, (list, dict)) or _counts(value)


def _counts(value: Any) -> bool:
    return is_trackable(value) or _holds_trackables(value)
