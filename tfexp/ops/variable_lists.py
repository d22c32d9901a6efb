"""The variables of the default graph, by purpose, and the operations that initialize them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_collection


def global_variables(scope: str | None = None) -> list[Any]:
    """The variables that a distributed job shares; `scope` filters names, as `tf.get_collection` does. TF 1.15."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """The variables of one process: counters, metrics; not in checkpoints."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """The variables that optimizers change."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The variables that inference needs, as far as the program has marked them."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """The variables that have moving averages."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def all_saveable_objects(scope: str | None = None) -> list[Any]:
    """What a checkpoint keeps unless told otherwise: the global variables and SAVEABLE_OBJECTS."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope) + get_collection(GraphKeys.SAVEABLE_OBJECTS, scope)


def variables_initializer(var_list: Sequence[Any] | None, name: str | None = "init") -> Operation:
    """An operation that initializes all of `var_list`; one that does nothing for an empty list. Source: TF 1.15."""
    return _all_of([v.initializer for v in var_list or ()], name)


def global_variables_initializer() -> Operation:
    """An operation that initializes the global variables that exist now."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """An operation that initializes the local variables that exist now."""
    return variables_initializer(local_variables())


def tables_initializer(name: str = "init_all_tables") -> Operation:
    """An operation that initializes all lookup tables of the graph; one that does nothing without any. Source: TF 1.15."""
    return _all_of(get_collection(GraphKeys.TABLE_INITIALIZERS), name)


def _all_of(initializers: Sequence[Any], name: str | None) -> Operation:
    return group(*initializers, name=name or (None if initializers else "NoOp"))


# The spellings before 0.12, which 1.15 still has.
all_variables = global_variables
initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer
initialize_all_tables = tables_initializer
