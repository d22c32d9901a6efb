"""The graph that Keras builds in, and what it keeps for each graph: numbers of layers' names, variables, the phase.

Without eager execution that is the default graph. With it, `tf.keras.Input` and the layers that are called on its tensors
build in a graph of Keras's own, which exists to know shapes and connections; values are computed by calling layers anew.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Collection
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.graph.traced_graph import TracedGraph


class OfGraph:
    """What Keras keeps for one graph. The graph holds it, so that both go together."""

    def __init__(self) -> None:
        self.uids: dict[Any, int] = defaultdict(int)
        self.learning_phase: Any = None  # an int where it has been set, else the placeholder; None: nobody has asked
        self.variables: list[weakref.ref[Any]] = []  # in the order in which they were made
        self.optimizers: list[weakref.ref[Any]] = []  # of tf.train, which may make more variables
        self.has_value: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()  # for each, a bool tensor or None


_KEPT = ("what Keras keeps",)
_all: weakref.WeakSet[OfGraph] = weakref.WeakSet()
_workspace: Graph | None = None


def kept_for(graph: Graph) -> OfGraph:
    """What Keras keeps for this graph."""
    found = graph.get_collection_ref(_KEPT)
    if not found:
        found.append(OfGraph())
        _all.add(found[0])
    kept: OfGraph = found[0]
    return kept


def track_variable(variable: Any) -> None:
    """Initialize it together with the others of its graph; variables of eager execution have their values already."""
    if not hasattr(variable, "graph"):
        return
    kept = kept_for(variable.graph)
    if variable not in kept.has_value:
        kept.has_value[variable] = None
        kept.variables.append(weakref.ref(variable))


def track_tf_optimizer(optimizer: Any) -> None:
    """Initialize what an optimizer of `tf.train` will make too: `optimizer.optimizer.variables()`."""
    if not executing_eagerly():
        kept_for(get_graph()).optimizers.append(weakref.ref(optimizer))


def get_graph() -> Graph:
    """The default graph; while ops run at once, the one where Keras's symbolic tensors live."""
    global _workspace
    if not executing_eagerly():
        return get_default_graph()
    if _workspace is None or _workspace.outermost is not get_default_graph():
        _workspace = TracedGraph("keras_graph", get_default_graph())
        _workspace.draws_besides_eager = True
    return _workspace


def is_workspace(graph: Graph) -> bool:
    """Whether it is the graph of symbolic tensors in eager execution."""
    return graph is _workspace


def forget_workspace() -> None:
    """Start over with an empty one."""
    global _workspace
    _workspace = None


def get_default_graph_uid_map() -> dict[Any, int]:
    """How often each name has been given in this graph."""
    return kept_for(get_graph()).uids


def get_uid(prefix: str = "") -> int:
    """A number, counted from 1 for each prefix in each graph. Source: `tf.keras.backend.get_uid`."""
    numbers = get_default_graph_uid_map()
    numbers[prefix] += 1
    return numbers[prefix]


def reset_uids() -> None:
    """Count from 1 again, in all graphs. Source: `tf.keras.backend.reset_uids`."""
    for kept in _all:
        kept.uids.clear()


def forget_learning_phases() -> None:
    """As if the phase had never been set, or asked for, in any graph."""
    for kept in _all:
        kept.learning_phase = None


def unique_object_name(
    name: str,
    name_uid_map: dict[Any, int] | None = None,
    avoid_names: Collection[str] | None = None,
    namespace: str = "",
    zero_based: bool = False,
) -> str:
    """`name_1`, `name_2` …; with `zero_based`, `name`, `name_1` …: the first that is new and not among `avoid_names`.

    `name_uid_map` counts (by namespace and name); by default the graph's own.
    """
    numbers = get_default_graph_uid_map() if name_uid_map is None else name_uid_map
    avoided = avoid_names or ()
    key = (namespace, name)
    while True:
        number = numbers.get(key, 0)
        numbers[key] = number + 1
        if not zero_based:
            number += 1
        proposed = f"{name}_{number}" if number else name
        if proposed not in avoided:
            return proposed
