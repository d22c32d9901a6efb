"""Variables and operations copied to another graph under their names. Source: `tf.contrib.copy_graph`, TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.contributed.graph_editor.copying import copy_with_input_replacements
from tfexp.contributed.graph_editor.select import get_backward_walk_ops
from tfexp.contributed.graph_editor.view import SubGraphView
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.variables import Variable
from tfexp.runtime.session import Session


def copy_variable_to_graph(org_instance: Any, to_graph: Graph, scope: str = "") -> Any:
    """A variable of that name, below `scope`, in the same collections; its initial value is the number that this one's is.

    TypeError for what is no variable.
    """
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    variable: Any = org_instance
    source = variable.graph
    with Session(graph=source) as session:
        value = session.run(variable.initial_value)
    kept = [key for key in source.collections if any(one is variable for one in source.get_collection(key))]
    with to_graph.as_default(), control_dependencies(None):
        name = _below(scope, variable.op.name)
        return Variable(value, trainable=False, name=name, collections=kept, validate_shape=False)


def copy_op_to_graph(org_instance: Any, to_graph: Graph, variables: Iterable[Any], scope: str = "") -> Any:
    """The operation, or tensor, of that name below `scope`, and whatever it needs that `to_graph` has not.

    variables: the copies of those that it reads, as `copy_variable_to_graph` made them; for a variable, its copy is found.
    TypeError for what is neither an operation nor a tensor; ValueError for a copy of a variable in another graph.
    """
    strange = [one.name for one in variables if one.graph is not to_graph]
    if strange:
        raise ValueError(f"Not in the graph that is copied to: {strange}")
    if isinstance(org_instance, Variable):
        return get_copied_op(org_instance, to_graph, scope)
    if isinstance(org_instance, Tensor):
        return copy_op_to_graph(org_instance.op, to_graph, (), scope).outputs[org_instance.value_index]
    if not isinstance(org_instance, Operation):
        raise TypeError(f"Could not copy instance: {org_instance} is neither an operation nor a tensor")
    present = _names(to_graph)

    def is_missing(op: Operation) -> bool:
        return _below(scope, op.name) not in present

    if is_missing(org_instance):
        missing = get_backward_walk_ops([org_instance], within_ops_fn=is_missing, control_inputs=True)
        view = SubGraphView(missing)
        there = {one: get_copied_op(one.op, to_graph, scope).outputs[one.value_index] for one in view.inputs}
        copy_with_input_replacements(view, there, to_graph, scope, reuse_dst_scope=True)
    return get_copied_op(org_instance, to_graph, scope)


def get_copied_op(org_instance: Any, graph: Graph, scope: str = "") -> Any:
    """What has the name of an operation, tensor or variable in another graph, below `scope`; KeyError if nothing has."""
    return graph.as_graph_element(_below(scope, org_instance.name), allow_tensor=True, allow_operation=True)


def _below(scope: str, name: str) -> str:
    return f"{scope}/{name}" if scope else name


def _names(graph: Graph) -> set[str]:
    return {op.name for op in graph.get_operations()}
