"""A checkpoint whose root is one object: its keys begin with that object's own parts (`layer_with_weights-0/kernel`)."""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import Any

from tfexp.train.checkpoint import Checkpoint
from tfexp.train.object_pairs import Root

_of_roots: weakref.WeakKeyDictionary[Any, RootCheckpoint] = weakref.WeakKeyDictionary()


class RootCheckpoint(Checkpoint):
    """`tf.train.Checkpoint` of one object itself; it has no counter of its own."""

    def __init__(self, root: Any):
        super().__init__()
        self._root = weakref.ref(root)

    @classmethod
    def of(cls, root: Any) -> RootCheckpoint:
        """The object's checkpoint, whose savers are kept as long as the object."""
        found = _of_roots.get(root)
        if found is None:
            found = _of_roots[root] = cls(root)
        return found

    def _checkpoint_children(self) -> list[tuple[str, Any]]:
        root = self._root()
        assert root is not None
        return list(root._checkpoint_children())

    def _root_kept(self) -> tuple[Root, Hashable]:
        return self._root, id(self._root())

    def _with_counter(self) -> Any:
        """Nothing counts how often it is saved."""
        return None
