"""What is around the calls of a converted function, where features ask for it: a name scope, an order of effects."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.autograph.feature import Feature
from tfexp.autograph.variables import is_symbolic
from tfexp.core import nest
from tfexp.graph.collections import GraphKeys
from tfexp.graph.effects import order_effects
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import control_dependencies, executing_eagerly, get_default_graph, name_scope
from tfexp.ops.array_identity import identity


def with_surroundings(function: Callable[..., Any], features: frozenset[Feature]) -> Callable[..., Any]:
    """`function`, whose calls have around them what `features` ask for."""
    if Feature.AUTO_CONTROL_DEPS in features:
        function = _in_order(function)
    return _in_scope(function) if Feature.NAME_SCOPES in features else function


def _in_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, what it does in the order of the program, and done before what it returns is there."""

    @functools.wraps(function)
    def ordered(*args: Any, **kwargs: Any) -> Any:
        graph = get_default_graph()
        if executing_eagerly() or graph.orders_effects:
            return function(*args, **kwargs)
        before = len(graph.get_operations())
        result = function(*args, **kwargs)
        begun = {op for variable in _variables(graph) for op in (variable.initializer, variable._as_graph_element().op)}
        effects = order_effects(op for op in graph.get_operations()[before:] if op not in begun)
        with control_dependencies(effects):
            return nest.map_structure(lambda leaf: identity(leaf) if effects and is_symbolic(leaf) else leaf, result)

    return ordered


def _variables(graph: Graph) -> list[Any]:
    """The variables of a graph, whose initialization is the program's business."""
    return graph.get_collection(GraphKeys.GLOBAL_VARIABLES) + graph.get_collection(GraphKeys.LOCAL_VARIABLES)


def _in_scope(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, whose nodes are in a scope of its name; scopes do not begin with an underscore."""
    name = function.__name__.strip("<>")
    scope = f"fn{name}" if name.startswith("_") else name

    @functools.wraps(function)
    def scoped(*args: Any, **kwargs: Any) -> Any:
        with name_scope(scope):
            return function(*args, **kwargs)

    return scoped
