"""Classes whose objects come back from a SavedModel: `tensorflow.python.saved_model.revived_types`. Source: TF 1.15.

A SavedModel names an object's type and its version. What a program registers for that name makes an object of it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto.saved_object_graph_pb2 import SavedUserObject


@dataclass(frozen=True)
class VersionedTypeRegistration:
    """One version of a type.

    object_factory: makes an object of the message. version, min_consumer_version, bad_consumers: what is written with an
    object, that only programs which know so much of the type read it. min_producer_version: of which version on objects are
    read. setter: `setter(object, name, part)`, for what an object consists of.
    """

    object_factory: Callable[[SavedUserObject], Any]
    version: int
    min_producer_version: int
    min_consumer_version: int
    bad_consumers: Iterable[int] | None = None
    setter: Callable[[Any, str, Any], None] = setattr

    def to_proto(self) -> SavedUserObject:
        """The message, without the type's name."""
        proto = SavedUserObject()
        proto.version.producer, proto.version.min_consumer = self.version, self.min_consumer_version
        proto.version.bad_consumers.extend(self.bad_consumers or ())
        return proto

    def from_proto(self, proto: SavedUserObject) -> Any:
        """The object."""
        return self.object_factory(proto)

    def should_load(self, proto: SavedUserObject) -> bool:
        """Whether this version reads what the message says was written."""
        written = proto.version
        if written.producer < self.min_producer_version or self.version < written.min_consumer:
            return False
        return self.version not in written.bad_consumers


_Registered = tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]
_types: dict[str, _Registered] = {}


def register_revived_type(
    identifier: str, predicate: Callable[[Any], bool], versions: Sequence[VersionedTypeRegistration]
) -> None:
    """Have objects for which `predicate` holds written as `identifier`, in the latest version, and read by any of them.

    AssertionError for a second registration, for versions that are the same, and without any.
    """
    numbers = [one.version for one in versions]
    assert versions, "Need at least one version of a registered type."
    assert identifier not in _types, f"Duplicate registrations for type {identifier}"
    for number in numbers:
        assert numbers.count(number) == 1, f"Got multiple registrations with version {number} for type {identifier}"
    _types[identifier] = predicate, sorted(versions, key=lambda one: one.version, reverse=True)


def registered_identifiers() -> Iterable[str]:
    """The names of the types."""
    return _types.keys()


def serialize(obj: Any) -> SavedUserObject | None:
    """The message for an object; None for one of no type that is registered."""
    for identifier, (predicate, versions) in _types.items():
        if predicate(obj):
            proto = versions[0].to_proto()
            proto.identifier = identifier
            return proto
    return None


def deserialize(proto: SavedUserObject) -> tuple[Any, Callable[[Any, str, Any], None]] | None:
    """(the object that was written, what sets its parts), by the latest version that reads it; None where none does."""
    _, versions = _types.get(proto.identifier, (None, ()))
    for one in versions:
        if one.should_load(proto):
            return one.from_proto(proto), one.setter
    return None
