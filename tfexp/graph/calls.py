"""Which functions of the library the attributes of a node name: those that data sets call."""

from __future__ import annotations

from collections.abc import Iterable

from tensorboard.compat.proto import graph_pb2, node_def_pb2
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.graph.operation import Operation


def called_functions(op: Operation) -> list[str]:
    """The names of the functions that a node hands to a data set."""
    values = [one for value in op.attrs.values() for one in (value if isinstance(value, list) else [value])]
    return [one.name for one in values if isinstance(one, NameAttrList)]


def called_by_node(node: node_def_pb2.NodeDef) -> list[str]:
    """The same for a node of a GraphDef or of a FunctionDef."""
    return [f.name for value in node.attr.values() for f in (value.func, *value.list.func) if f.name]


def add_called_functions(graph_def: graph_pb2.GraphDef, ops: Iterable[Operation]) -> None:
    """Put in the functions that the nodes call, and those that these call."""
    added: set[str] = set()
    pending = [(op.graph, name) for op in ops for name in called_functions(op)]
    while pending:
        graph, name = pending.pop()
        function = graph._functions.get(name)
        if function is not None and name not in added:
            added.add(name)
            graph_def.library.function.append(function.definition)
            pending.extend((graph, inner) for op in function.body._operations for inner in called_functions(op))
