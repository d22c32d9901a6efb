"""The ops that a GraphDef uses. Source: `tf.contrib.util.{ops_used_by_graph_def,stripped_op_list_for_graph}`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import op_def_pb2

from tfexp.core.op import find_op
from tfexp.graph.op_defs import op_def


def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The names of the ops of its nodes and of those of the functions that they call."""
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    pending = {node.op for node in graph_def.node}
    while pending:
        name = pending.pop()
        used.add(name)
        if name in functions:
            pending |= {node.op for node in functions[name].node_def} - used
    return sorted(used - functions.keys())


def stripped_op_list_for_graph(graph_def: Any) -> Any:
    """The OpDefs of the ops that it uses. ValueError for one that there is not."""
    found = op_def_pb2.OpList()
    for name in ops_used_by_graph_def(graph_def):
        op = find_op(name)
        if op is None:
            raise ValueError(f"Op {name} is used by the graph, but is not registered")
        found.op.append(op_def(op))
    return found
