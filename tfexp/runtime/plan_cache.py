"""A bound on the compiled plans of a session: those that were not used lately go first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol


class Evictable(Protocol):
    """Sets `used` whenever it runs; the cache takes it back when it looks for the least used."""

    used: bool


class PlanCache:
    """At most `limit` entries. Being looked up costs nothing here: a use is a flag that the entry sets itself.

    When a new entry does not fit, the oldest one goes that was not used since the cache last looked at it (second chance).
    """

    def __init__(self, limit: int):
        self._limit = limit
        self._lock = threading.RLock()  # garbage collection may run a function, in any thread
        self._entries: dict[Evictable, Callable[[], None]] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Evictable, evict: Callable[[], None]) -> None:
        """Keep `entry`; `evict` is called when it has to go."""
        evicted = None
        with self._lock:
            if len(self._entries) >= self._limit:
                evicted = self._make_room()
            self._entries[entry] = evict
        if evicted is not None:
            evicted()

    def _make_room(self) -> Callable[[], None]:
        while True:
            oldest = next(iter(self._entries))
            evict = self._entries.pop(oldest)
            if not oldest.used:
                return evict
            oldest.used = False
            self._entries[oldest] = evict

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
