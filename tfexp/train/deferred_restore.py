"""Values of a checkpoint that wait for their variables: layers and optimizers make these on first use.

Who makes variables says so with `variables_made`. Source: what `Checkpoint.restore` does in eager execution, and
`load_weights` of Keras's models in graphs, too, TF 1.15.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.ops.trackable import waiting_for_variables
from tfexp.train.object_graph import saveables
from tfexp.train.object_pairs import Root
from tfexp.train.saver import Saver


class Search(Protocol):
    """What finds the objects that a checkpoint has values for."""

    @property
    def unused(self) -> list[str]:
        """The keys of what has not been found."""

    def look(self, owner: Any = None) -> None:
        """Find what is new: in `owner`, which has new parts, and in what does not say when it has."""

    def take_new(self) -> dict[str, Any]:
        """What was found since the last time, by keys."""


class _Waiting:
    """A checkpoint of which not all values have been restored. It keeps no object alive that can do without it.

    graph: where the variables will be, None in eager execution. There values come at once; to a graph, with the next session
    that asks for them (`restore_due`), so that many variables are looked through once.
    """

    def __init__(self, path: str, search: Search, root: Root, owner: Hashable, graph: Graph | None):
        self.owner = owner
        self._path, self._search, self._root = path, search, root
        self._graph = None if graph is None else weakref.ref(graph)
        self._is_due = False
        search.take_new()  # these are restored

    def __call__(self, owner: Any) -> bool:
        """Variables were made; whether any more can come."""
        if not self._root():
            return False
        if self._graph is None:
            if not executing_eagerly():
                return True
            self._search.look(owner)
            return self._restore(None)
        if (graph := self._graph()) is None:
            return False
        if not executing_eagerly() and graph is get_default_graph():
            self._search.look(owner)
            self._is_due = True
        return True

    def restore_due(self, session: Any) -> bool:
        """Restore what is new in the session's graph; whether any more can come."""
        graph = None if self._graph is None else self._graph()
        if not self._is_due or graph is None or graph is not session.graph:
            return True
        self._is_due = False
        if not self._root():
            return False
        with graph.as_default(), graph.control_dependencies(None):
            self._search.look()
            return self._restore(session)

    def _restore(self, session: Any) -> bool:
        new = self._search.take_new()
        if new:
            Saver(saveables(new), max_to_keep=None, name="checkpoint_restore").restore(session, self._path)
        return bool(self._search.unused)


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
    search: Search,
    root: Root,
    owner: Hashable,
    graph: Graph | None,
) -> None:
    """Restore what a checkpoint has for a root once it is made. For the same owner, the last checkpoint counts.

    graph: where it is made; None in eager execution.
    """
    waiting = _Waiting(path, search, root, owner, graph)
    waiting_for_variables[:] = [
        one for one in waiting_for_variables if not (isinstance(one, _Waiting) and one.owner == owner)
    ]
    if search.unused:
        waiting_for_variables.append(waiting)
