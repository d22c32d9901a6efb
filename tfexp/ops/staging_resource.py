"""Staging areas themselves, as steps share them: elements in a row, or by key. Source: `tf.contrib.staging`, TF 1.15.

Whoever finds no room, or not the element that it wants, gets a `core.waiting.Promise`; whenever something has changed, those
who wait are tried again in the order in which they came.
"""

from __future__ import annotations

import abc
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.errors import InvalidArgumentError, OpError, ResourceExhaustedError
from tfexp.core.waiting import Promise

# What an attempt gives that cannot be made yet.
_NOT_YET = object()


class _Try(Promise):
    """Waits until `attempt` gives something else than _NOT_YET."""

    __slots__ = ("attempt",)

    def __init__(self, what: str, withdraw: Callable[[Any, OpError], None], attempt: Callable[[], Any]):
        super().__init__(lambda: what, withdraw)
        self.attempt = attempt


def _bytes(values: Sequence[Any]) -> int:
    return sum(value.nbytes for value in values)


class _Area(abc.ABC):
    """Room for `capacity` elements and `memory_limit` bytes, without bound where these are 0."""

    def __init__(self, name: str, capacity: int, memory_limit: int):
        self.name, self._capacity, self._memory_limit = name, capacity, memory_limit
        self._bytes = 0
        self._lock = threading.Lock()
        self._waiting: deque[_Try] = deque()

    @abc.abstractmethod
    def _count(self) -> int:
        """The elements that it holds."""

    def _has_room(self, size: int, more: int = 1) -> bool:
        is_full = self._capacity > 0 and self._count() + more > self._capacity
        return not is_full and not (self._memory_limit > 0 and self._bytes + size > self._memory_limit)

    def _check_size(self, size: int) -> None:
        if 0 < self._memory_limit < size:
            raise ResourceExhaustedError(
                None,
                None,
                f"Attempted to insert tensors with combined size of '{size}' bytes into Staging Area with a memory limit of "
                f"'{self._memory_limit}'.",
            )

    def _when_possible(self, what: str, attempt: Callable[[], Any]) -> Any:
        """What `attempt` gives, or a promise of it; the lock is held when it is called."""
        promise = _Try(f"{what} staging area '{self.name}'", self._withdraw, attempt)
        with self._lock:
            self._waiting.append(promise)
            settled = self._served()
        for settle in settled:
            settle()
        return promise.now()

    def _served(self) -> list[Callable[[], None]]:
        """Try all that wait until none gets any further. To be called, once the lock is free: what settles them."""
        settled: list[Callable[[], None]] = []
        progress = True
        while progress:
            progress = False
            for one in list(self._waiting):
                try:
                    value = one.attempt()
                except OpError as error:
                    settled.append(lambda one=one, error=error: one.fail(error))  # type: ignore[misc]
                else:
                    if value is _NOT_YET:
                        continue
                    settled.append(lambda one=one, value=value: one.keep(value))  # type: ignore[misc]
                self._waiting.remove(one)
                progress = True
        return settled

    def _withdraw(self, promise: Any, reason: OpError) -> None:
        with self._lock:
            if promise not in self._waiting:
                return  # it has what it waited for, or is about to be told so
            self._waiting.remove(promise)
        promise.fail(reason)

    def size(self) -> int:
        with self._lock:
            return self._count()

    def clear(self) -> Any:
        return self._when_possible("clearing", self._emptied)

    @abc.abstractmethod
    def _emptied(self) -> None:
        """Let go of all elements."""


class Row(_Area):
    """First in, first out."""

    def __init__(self, name: str, capacity: int, memory_limit: int):
        super().__init__(name, capacity, memory_limit)
        self._elements: deque[Sequence[Any]] = deque()

    def _count(self) -> int:
        return len(self._elements)

    def _emptied(self) -> None:
        self._elements.clear()
        self._bytes = 0

    def put(self, values: Sequence[Any]) -> Any:
        size = _bytes(values)
        self._check_size(size)

        def attempt() -> Any:
            if not self._has_room(size):
                return _NOT_YET
            self._elements.append(values)
            self._bytes += size
            return None

        return self._when_possible("room in", attempt)

    def get(self) -> Any:
        def attempt() -> Any:
            if not self._elements:
                return _NOT_YET
            values = self._elements.popleft()
            self._bytes -= _bytes(values)
            return values

        return self._when_possible("an element of", attempt)

    def peek(self, index: int) -> Any:
        return self._when_possible(
            f"element {index} of", lambda: self._elements[index] if index < len(self._elements) else _NOT_YET
        )


class Map(_Area):
    """By key. The values of an element may come and go one by one; they can be had once all have come."""

    def __init__(self, name: str, capacity: int, memory_limit: int, ordered: bool):
        super().__init__(name, capacity, memory_limit)
        self._ordered = ordered
        self._incomplete: dict[int, dict[int, Any]] = {}
        self._complete: dict[int, dict[int, Any]] = {}

    def _count(self) -> int:
        return len(self._complete)

    def _emptied(self) -> None:
        self._complete.clear()
        self._incomplete.clear()
        self._bytes = 0

    def incomplete_size(self) -> int:
        with self._lock:
            return len(self._incomplete)

    def put(self, key: int, indices: Sequence[int], values: Sequence[Any], width: int) -> Any:
        """Some of the `width` values of the element `key`, those of these numbers."""
        if len(indices) != len(values):
            raise InvalidArgumentError(
                None, None, f"As many indices as values are needed, got {len(indices)} and {len(values)}"
            )
        for index in indices:
            if not 0 <= index < width:
                raise InvalidArgumentError(
                    None, None, f"Index '{index}' for key '{key}' is out of bounds: elements have {width} values"
                )
        size = _bytes(values)
        self._check_size(size)

        def attempt() -> Any:
            parts = self._incomplete.get(key, {})
            for index in indices:
                if index in parts:
                    raise InvalidArgumentError(
                        None, None, f"The tensor for index '{index}' for key '{key}' was already initialized '{len(parts)}'."
                    )
            is_last = len(parts) + len(set(indices)) == width
            if not self._has_room(size, more=int(is_last)):
                return _NOT_YET
            parts = {**parts, **dict(zip(indices, values, strict=True))}
            self._bytes += size
            if is_last:
                self._incomplete.pop(key, None)
                replaced = self._complete.get(key)
                self._bytes -= _bytes(list(replaced.values())) if replaced else 0
                self._complete[key] = parts
            else:
                self._incomplete[key] = parts
            return None

        return self._when_possible("room in", attempt)

    def peek(self, key: int, indices: Sequence[int]) -> Any:
        return self._when_possible(f"key {key} of", lambda: self._values(key, indices))

    def pop(self, key: int, indices: Sequence[int]) -> Any:
        return self._when_possible(f"key {key} of", lambda: self._taken(key, indices))

    def pop_any(self, indices: Sequence[int]) -> Any:
        """(key, values): the smallest key if the area is ordered, else the one that was complete first."""

        def attempt() -> Any:
            if not self._complete:
                return _NOT_YET
            key = min(self._complete) if self._ordered else next(iter(self._complete))
            return key, self._taken(key, indices)

        return self._when_possible("an element of", attempt)

    def _values(self, key: int, indices: Sequence[int]) -> Any:
        parts = self._complete.get(key)
        if parts is None:
            return _NOT_YET
        for index in indices:
            if index not in parts:
                raise InvalidArgumentError(
                    None, None, f"Tensor at index '{index}' for key '{key}' has already been removed."
                )
        return [parts[index] for index in indices]

    def _taken(self, key: int, indices: Sequence[int]) -> Any:
        values = self._values(key, indices)
        if values is _NOT_YET:
            return values
        parts = self._complete[key]
        for index in indices:
            self._bytes -= parts.pop(index).nbytes
        if not parts:
            del self._complete[key]
        return values
