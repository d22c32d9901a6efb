"""Values of a checkpoint that wait for their variables: in eager execution layers and optimizers make these on first use.

Who makes variables calls `restore_made`. Source: what `tf.train.Checkpoint.restore` does in eager execution, TF 1.15.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from tfexp.graph.scopes import executing_eagerly, init_scope
from tfexp.train.object_graph import match, saveables
from tfexp.train.saver import Saver

_waiting: list[_Waiting] = []


class _Waiting:
    """A checkpoint of which not all values have been restored. It keeps no object alive that can do without it."""

    def __init__(self, path: str, proto: TrackableObjectGraph, parts: list[tuple[str, Any]]):
        self._path, self._proto = path, proto
        self._parts = {name: _reference(part) for name, part in parts}
        self._done = weakref.WeakSet(match(dict(parts), proto).variables.values())

    def restore_made(self) -> bool:
        """Restore what is new; whether any more can come."""
        parts = {name: part for name, reference in self._parts.items() if (part := reference()) is not None}
        if not parts:
            return False
        found = match(parts, self._proto)
        new = {key: one for key, one in found.variables.items() if one not in self._done}
        if new:
            Saver(saveables(new), max_to_keep=None).restore(None, self._path)
            self._done.update(new.values())
        return any(key.partition("/")[0] in parts for key in found.unused)


def _reference(part: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(part)
    except TypeError:  # lists and dicts
        return lambda: part


def wait_for_variables(path: str, proto: TrackableObjectGraph, parts: list[tuple[str, Any]]) -> None:
    """Restore what `proto` has for `parts` (by name) once it is made. For the same parts, the last checkpoint counts."""
    waiting = _Waiting(path, proto, parts)
    names = {name: id(part) for name, part in parts}
    _waiting[:] = [one for one in _waiting if {name: id(ref()) for name, ref in one._parts.items()} != names]
    if match(dict(parts), proto).unused:
        _waiting.append(waiting)


def restore_made() -> None:
    """Variables were made: give them the values that wait for them."""
    if not _waiting:
        return
    with init_scope():
        if executing_eagerly():
            _waiting[:] = [one for one in _waiting if one.restore_made()]
