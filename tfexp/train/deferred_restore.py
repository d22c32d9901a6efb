"""Values of a checkpoint that wait for their variables: layers and optimizers make these on first use.

Who makes variables says so with `variables_made`. Source: what `Checkpoint.restore` does in eager execution, and
`load_weights` of Keras's models in graphs, too, TF 1.15.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.ops.trackable import waiting_for_variables
from tfexp.train.object_graph import Match, saveables
from tfexp.train.saver import Saver

# What has the parts, or a dictionary of those that are still there; something false when all are gone.
Root = Callable[[], Any]


class _Waiting:
    """A checkpoint of which not all values have been restored. It keeps no object alive that can do without it.

    graph: where the variables will be, None in eager execution. There values come at once; to a graph, with the next session
    that asks for them (`restore_due`), so that many variables are looked through once.
    """

    def __init__(self, path: str, matching: Callable[[Any], Match], root: Root, owner: Hashable, graph: Graph | None):
        self.owner = owner
        self._path, self._matching, self._root = path, matching, root
        self._graph = None if graph is None else weakref.ref(graph)
        self._is_due = False
        self._done = weakref.WeakSet(matching(root()).variables.values())

    def __call__(self) -> bool:
        """Variables were made; whether any more can come."""
        if self._graph is None:
            return self._restore(None) if executing_eagerly() else bool(self._root())
        if not self._root() or (graph := self._graph()) is None:
            return False
        self._is_due = self._is_due or (not executing_eagerly() and graph is get_default_graph())
        return True

    def restore_due(self, session: Any) -> bool:
        """Restore what is new in the session's graph; whether any more can come."""
        graph = None if self._graph is None else self._graph()
        if not self._is_due or graph is None or graph is not session.graph:
            return True
        self._is_due = False
        with graph.as_default(), graph.control_dependencies(None):
            return self._restore(session)

    def _restore(self, session: Any) -> bool:
        root = self._root()
        if not root:
            return False
        found = self._matching(root)
        new = {key: one for key, one in found.variables.items() if one not in self._done}
        if new:
            Saver(saveables(new), max_to_keep=None, name="checkpoint_restore").restore(session, self._path)
            self._done.update(new.values())
        return bool(found.unused)


def restore_due(session: Any) -> None:
    """Bring the values to a session that its graph's variables wait for."""
    waiting_for_variables[:] = [
        one for one in waiting_for_variables if not isinstance(one, _Waiting) or one.restore_due(session)
    ]


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
    graph: Graph | None,
) -> None:
    """Restore what a checkpoint has for a root once it is made. For the same owner, the last checkpoint counts.

    graph: where it is made; None in eager execution.
    """
    waiting = _Waiting(path, matching, root, owner, graph)
    waiting_for_variables[:] = [
        one for one in waiting_for_variables if not (isinstance(one, _Waiting) and one.owner == owner)
    ]
    if matching(root()).unused:
        waiting_for_variables.append(waiting)
