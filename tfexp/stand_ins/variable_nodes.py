"""Nodes of variables, and questions about them, that TensorFlow keeps in `state_ops` and `variables`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_lists import global_variables_initializer as initialize_all_variables
from tfexp.ops.variable_lists import local_variables_initializer as initialize_local_variables
from tfexp.ops.variable_lists import variables_initializer as initialize_variables
from tfexp.ops.variable_scope import variable_scope
from tfexp.ops.variable_store import VariableStore as _VariableStore
from tfexp.ops.variable_store import variable_store as _get_default_variable_store

__all__ = [
    "_VariableStore",
    "_get_default_variable_store",
    "_pure_variable_scope",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "variable_op",
    "variable_op_v2",
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


def _pure_variable_scope(name_or_scope: Any, *args: Any, **kwargs: Any) -> variable_scope:
    """A variable scope that opens no name scope."""
    return variable_scope(name_or_scope, *args, auxiliary_name_scope=False, **kwargs)
