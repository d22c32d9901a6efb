"""`tensorflow.python.util.lock_util`: a lock that many hold at a time, all of one group. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator


class GroupLock:
    """Members of one of `num_groups` groups hold it together, while those of others wait. ValueError for no such group."""

    def __init__(self, num_groups: int = 2):
        if num_groups < 1:
            raise ValueError(f"num_groups must be a positive integer, got {num_groups}")
        self._group_member_counts = [0] * num_groups
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def group(self, group_id: int) -> Iterator[None]:
        """A block that holds the lock."""
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def acquire(self, group_id: int) -> None:
        self._check(group_id)
        with self._changed:
            self._changed.wait_for(lambda: not any(n for i, n in enumerate(self._group_member_counts) if i != group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        self._check(group_id)
        with self._changed:
            self._group_member_counts[group_id] -= 1
            self._changed.notify_all()

    def _check(self, group_id: int) -> None:
        if not 0 <= group_id < len(self._group_member_counts):
            raise ValueError(f"group_id must be from 0 to {len(self._group_member_counts) - 1}, got {group_id}")
