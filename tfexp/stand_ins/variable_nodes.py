"""Nodes of variables, and questions about them, that TensorFlow keeps in `state_ops` and `variables`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.ops.eager_variables import make_variable
from tfexp.ops.initial_values import without_uninitialized_reads
from tfexp.ops.variable_base import VariableAggregation as VariableAggregationV2
from tfexp.ops.variable_scope import VariableScope, scopes_of_graph, variable_scope
from tfexp.ops.variable_store import VariableStore as _VariableStore
from tfexp.ops.variable_store import used_store as with_variable_store
from tfexp.ops.variable_store import variable_store as _get_default_variable_store

__all__ = [
    "VariableAggregationV2",
    "_VariableScopeStore",
    "_VariableStore",
    "_get_default_variable_store",
    "_pure_variable_scope",
    "_try_guard_against_uninitialized_dependencies",
    "default_variable_creator",
    "default_variable_creator_v2",
    "get_variable_scope_store",
    "variable_op",
    "variable_op_v2",
    "with_variable_store",
]


def variable_op_v2(shape: Any, dtype: Any, name: str = "Variable", container: str = "", shared_name: str = "") -> Tensor:
    """The node of a variable without anything around it: a tensor that is a reference."""
    node: Tensor = get_op("VariableV2")(shape=shape, dtype=dtype, name=name, container=container, shared_name=shared_name)
    return node


def variable_op(
    shape: Any, dtype: Any, name: str = "Variable", set_shape: bool = True, container: str = "", shared_name: str = ""
) -> Tensor:
    """As `variable_op_v2`; without `set_shape`, nothing is known of the variable's shape."""
    if set_shape:
        return variable_op_v2(shape, dtype, name, container, shared_name)
    return variable_op_v2(TensorShape(None), dtype, name, container, shared_name)


def _pure_variable_scope(name_or_scope: Any, **kwargs: Any) -> variable_scope:
    """A variable scope that opens no name scope."""
    return variable_scope(name_or_scope, auxiliary_name_scope=False, **kwargs)


def _try_guard_against_uninitialized_dependencies(name: str, initial_value: Any) -> Any:
    """An initial value that reads no variable before it is initialized. TypeError for one that is no tensor."""
    if not isinstance(initial_value, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial_value}")
    return without_uninitialized_reads(initial_value, name)


def default_variable_creator(next_creator: Any = None, **kwargs: Any) -> Any:
    """The variable that `tf.Variable(**kwargs)` makes where no scope has a creator."""
    return make_variable(**kwargs)


def default_variable_creator_v2(next_creator: Any = None, **kwargs: Any) -> Any:
    """As `default_variable_creator`, and always a resource variable."""
    return make_variable(use_resource=True, **kwargs)


class _VariableScopeStore:
    """The default graph's current variable scope in this thread, and how often each name was opened."""

    def __init__(self) -> None:
        self._scopes = scopes_of_graph()

    @property
    def current_scope(self) -> VariableScope:
        return self._scopes.current

    @current_scope.setter
    def current_scope(self, scope: VariableScope) -> None:
        self._scopes.current = scope

    @property
    def variable_scopes_count(self) -> dict[str, int]:
        return self._scopes.opened

    def open_variable_scope(self, scope_name: str) -> None:
        self._scopes.open(scope_name)

    def close_variable_subscopes(self, scope_name: str | None) -> None:
        """The scopes inside of that one (None: all) start anew."""
        self._scopes.close_inner(scope_name)

    def variable_scope_count(self, scope_name: str) -> int:
        return self._scopes.opened.get(scope_name, 0)


def get_variable_scope_store() -> _VariableScopeStore:
    """The store of the default graph in this thread."""
    return _VariableScopeStore()
