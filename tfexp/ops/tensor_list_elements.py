"""`Elements`: what is in a TensorList, a value that never changes and of which a changed one still costs little to make.

Shallow binding (Baker 1991, "Shallow binding makes functional arrays fast", ACM SIGPLAN Notices 26(8)): of values that were
made from one another, the newest has the dict, and each older one what the next one has changed. A loop that writes n
elements so takes time in proportion to n, whoever still holds what was there before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Lock
from typing import Any

# So few elements are copied rather than shared, and so many changes are looked through rather than undone.
_FEW = 16


class Elements:
    """Arrays by position, for those positions that have one. For any number of threads at once.

    `held` is its own from then on.
    """

    __slots__ = ("_changes", "_count", "_held", "_lock", "_newer")

    def __init__(self, held: dict[int, Any] | None = None, lock: Any = None, changes: int = 0):
        # All there is; once a newer one has that dict, what was where it differs (None: nothing).
        self._held: dict[int, Any] = {} if held is None else held
        self._newer: Elements | None = None
        self._count = len(self._held)
        self._changes = changes  # since the dict was made
        self._lock = Lock() if lock is None else lock  # one for all that lead to the same dict

    def __len__(self) -> int:
        return self._count

    def at(self, positions: Iterable[int]) -> list[Any]:
        """What is at these positions; None for nothing."""
        if self._count <= _FEW:  # its dict is never another one's, so there is nothing to wait for
            return [self._held.get(position) for position in positions]
        with self._lock:
            since, held = self._since()
            if len(since) > _FEW:  # left far behind, it gets a dict of its own
                self._held, self._newer, self._changes = self._copy(), None, 0
                since, held = [], self._held
            if not since:
                return [held.get(position) for position in positions]
            maps = [*since, held]
            return [next((each[position] for each in maps if position in each), None) for position in positions]

    def copy(self) -> dict[int, Any]:
        """All there is."""
        with self._lock:
            return self._copy()

    def changed(self, changes: Mapping[int, Any]) -> Elements:
        """The same with other arrays at these positions; None for nothing."""
        if self._count <= _FEW:
            return Elements(_put(dict(self._held), changes))
        with self._lock:
            held = self._held
            # No more changes than elements: an old one does not keep all that was ever written after it.
            if self._newer is not None or self._changes > len(held):
                return Elements(_put(self._copy(), changes))
            before = {position: held.get(position) for position in changes}
            newer = Elements(_put(held, changes), self._lock, self._changes + len(changes))
            self._held, self._newer = before, newer
            return newer

    def _since(self) -> tuple[list[dict[int, Any]], dict[int, Any]]:
        """What later changes have replaced, the first ones first, and what the newest has."""
        since, here = [], self
        while here._newer is not None:
            since.append(here._held)
            here = here._newer
        return since, here._held

    def _copy(self) -> dict[int, Any]:
        since, held = self._since()
        copy = dict(held)
        for before in reversed(since):
            copy.update(before)
        return {position: item for position, item in copy.items() if item is not None} if since else copy


def _put(held: dict[int, Any], changes: Mapping[int, Any]) -> dict[int, Any]:
    for position, item in changes.items():
        if item is None:
            held.pop(position, None)
        else:
            held[position] = item
    return held
