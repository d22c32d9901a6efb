"""The learning phase: whether layers such as Dropout act as in training (1) or as in use (0). A bool of each graph.

Source: `tf.keras.backend.learning_phase` and its siblings, TF 1.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly, get_default_graph, init_scope, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.graphs import get_graph, is_workspace, kept_for
from tfexp.ops.array_identity import placeholder_with_default

_eager_phase: int | None = None


def learning_phase() -> Any:
    """0 or 1 where it has been set; else the graph's placeholder `keras_learning_phase`, false unless fed. Eagerly, 0."""
    if is_workspace(get_default_graph()):
        return symbolic_learning_phase()
    with init_scope():
        if executing_eagerly():
            return _eager_phase or 0
        return _phase_of(get_default_graph())


def symbolic_learning_phase() -> Any:
    """The learning phase of the graph that Keras builds in."""
    graph = get_graph()
    with graph.as_default():
        return _phase_of(graph)


def phase_of_calls() -> Any:
    """What layers are called with in eager execution where nobody says: the phase that was set, or the workspace's."""
    if _eager_phase is not None:
        return bool(_eager_phase)
    return symbolic_learning_phase() if is_workspace(get_default_graph()) else None


def forget_eager_phase() -> None:
    """As if it had never been set while ops run at once."""
    global _eager_phase
    _eager_phase = None


def _phase_of(graph: Graph) -> Any:
    kept = kept_for(graph)
    if kept.learning_phase is None:
        with name_scope(None):
            kept.learning_phase = placeholder_with_default(False, shape=(), name="keras_learning_phase")
    return kept.learning_phase


def fed_learning_phase(graph: Graph) -> Tensor | None:
    """The placeholder to feed in this graph; None where the phase has been set, and where nobody has asked for it."""
    phase = kept_for(graph).learning_phase
    return phase if isinstance(phase, Tensor) else None


def set_learning_phase(value: int) -> None:
    """Fix the phase of the current graph. ValueError unless it is 0 or 1."""
    global _eager_phase
    _check(value)
    with init_scope():
        if executing_eagerly():
            _eager_phase = int(value)
        kept_for(get_graph()).learning_phase = int(value)


@contextlib.contextmanager
def learning_phase_scope(value: int) -> Iterator[None]:
    """A block in which the phase is fixed. ValueError unless it is 0 or 1."""
    global _eager_phase
    _check(value)
    with init_scope():
        kept = kept_for(get_graph())
    before, eagerly_before = kept.learning_phase, _eager_phase
    try:
        set_learning_phase(value)
        yield
    finally:
        _eager_phase, kept.learning_phase = eagerly_before, before


def _check(value: Any) -> None:
    if value not in {0, 1}:
        raise ValueError("Expected learning phase to be 0 or 1.")
