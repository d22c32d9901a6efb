"""`tensorflow.python.util.object_identity`: sets and dictionaries of objects, whatever `==` says. Source: TF 1.15."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any


class _ObjectIdentityWrapper:
    """An object as a key; two are equal when they are of one object. TypeError beside what is no such key."""

    __slots__ = ("_held", "_id")

    def __init__(self, held: Any, weakly: bool = False):
        self._held = weakref.ref(held) if weakly else lambda: held
        self._id = id(held)

    @property
    def unwrapped(self) -> Any:
        return self._held()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ObjectIdentityWrapper):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self._id == other._id

    def __hash__(self) -> int:
        return self._id


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dictionary by identity."""

    _weakly = False

    def __init__(self, *args: Any, **kwargs: Any):
        self._storage: dict[_ObjectIdentityWrapper, Any] = {}
        self.update(*args, **kwargs)

    def _key(self, key: Any) -> _ObjectIdentityWrapper:
        return _ObjectIdentityWrapper(key, self._weakly)

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._storage[self._key(key)]
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._key(key)]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            held = key.unwrapped
            if held is None and self._weakly:
                del self._storage[key]
            else:
                yield held


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """The same; a key that nobody else holds goes, with its value."""

    _weakly = True


class ObjectIdentitySet(MutableSet[Any]):
    """A set by identity."""

    _dictionary: type[ObjectIdentityDictionary] = ObjectIdentityDictionary

    def __init__(self, iterable: Iterable[Any] = ()):
        self._elements = self._dictionary((one, None) for one in iterable)

    def __contains__(self, value: object) -> bool:
        return value in self._elements

    def __iter__(self) -> Iterator[Any]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def add(self, value: Any) -> None:
        self._elements[value] = None

    def discard(self, value: Any) -> None:
        self._elements.pop(value, None)

    def update(self, values: Iterable[Any]) -> None:
        for value in values:
            self.add(value)

    def intersection(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The elements that `items` has, too."""
        others = type(self)(items)
        return type(self)(one for one in self if one in others)

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """The elements that `items` does not have."""
        others = type(self)(items)
        return type(self)(one for one in self if one not in others)


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """The same; an element that nobody else holds goes."""

    _dictionary = ObjectIdentityWeakKeyDictionary
