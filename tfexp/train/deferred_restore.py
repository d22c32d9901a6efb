"""Values of a checkpoint that wait for their variables: layers and optimizers make these on first use.

Who makes variables says so with `variables_made`. Source: what `Checkpoint.restore` does in eager execution, and
`load_weights` of Keras's models in graphs, too, TF 1.15.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.ops.trackable import waiting_for_variables
from tfexp.train.object_graph import Match, saveables
from tfexp.train.saver import Saver

# What has the parts, or a dictionary of those that are still there; something false when all are gone.
Root = Callable[[], Any]


class _Waiting:
    """A checkpoint of which not all values have been restored. It keeps no object alive that can do without it.

    session: gives the session that restores; for a checkpoint of the graph that is the default one now.
    """

    def __init__(
        self, path: str, matching: Callable[[Any], Match], root: Root, owner: Hashable, session: Callable[[], Any] | None
    ):
        self.owner = owner
        self._path, self._matching, self._root, self._session = path, matching, root, session
        self._graph = _no_graph if session is None else weakref.ref(get_default_graph())
        self._done = weakref.WeakSet(matching(root()).variables.values())

    def __call__(self) -> bool:
        """Restore what is new, if it belongs here; whether any more can come."""
        root = self._root()
        graph = self._graph()
        if not root or (self._session and graph is None):
            return False
        if graph is not (None if executing_eagerly() else get_default_graph()):
            return True
        found = self._matching(root)
        new = {key: one for key, one in found.variables.items() if one not in self._done}
        if new:
            session = self._session and self._session()
            Saver(saveables(new), max_to_keep=None, name="checkpoint_restore").restore(session, self._path)
            self._done.update(new.values())
        return bool(found.unused)


def _no_graph() -> None:
    """Where execution is eager."""


def remaining(parts: list[tuple[str, Any]]) -> Root:
    """A root of named parts, each as long as something else keeps it."""
    references = {name: _reference(part) for name, part in parts}
    return lambda: {name: part for name, reference in references.items() if (part := reference()) is not None}


def _reference(part: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(part)
    except TypeError:  # lists and dicts
        return lambda: part


def wait_for_variables(
    path: str,
    matching: Callable[[Any], Match],
    root: Root,
    owner: Hashable,
    session: Callable[[], Any] | None = None,
) -> None:
    """Restore what a checkpoint has for a root once it is made. For the same owner, the last checkpoint counts."""
    waiting = _Waiting(path, matching, root, owner, session)
    waiting_for_variables[:] = [
        one for one in waiting_for_variables if not (isinstance(one, _Waiting) and one.owner == owner)
    ]
    if matching(root()).unused:
        waiting_for_variables.append(waiting)
