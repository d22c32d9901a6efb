"""Cutting and freezing GraphDefs. Source: `tf.graph_util`, TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto import graph_pb2
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from tfexp.core import dtypes
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.frozen_handles import without_handles

_VARIABLE_OPS = frozenset({"Variable", "VariableV2", "AutoReloadVariable"})


def node_name(name: str) -> str:
    """The node of an input or tensor name: without `^` and `:1`."""
    if name.startswith("^"):
        return name[1:]
    return name.partition(":")[0]


def _check_names(argument: str, names: Any) -> list[str]:
    if isinstance(names, (str, bytes)):
        raise TypeError(f"{argument} must be an iterable of strings.")
    return list(names)


def _needed(graph_def: graph_pb2.GraphDef, dest_nodes: Iterable[str], stop_at: frozenset[str] = frozenset()) -> set[str]:
    """The nodes that `dest_nodes` depend on, themselves included; the inputs of `stop_at` are not followed."""
    inputs = {node.name: node.input for node in graph_def.node}
    needed: set[str] = set()
    pending = [node_name(d) for d in dest_nodes]
    for name in pending:
        if name not in inputs:
            raise AssertionError(f"{name} is not in graph")
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            if name not in stop_at:
                pending.extend(node_name(i) for i in inputs[name])
    return needed


def extract_sub_graph(graph_def: graph_pb2.GraphDef, dest_nodes: Iterable[str]) -> graph_pb2.GraphDef:
    """The part of `graph_def` that `dest_nodes` need. TypeError for other types, AssertionError for a missing node."""
    if not isinstance(graph_def, graph_pb2.GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    needed = _needed(graph_def, _check_names("dest_nodes", dest_nodes))
    return with_nodes(graph_def, (node for node in graph_def.node if node.name in needed))


def with_nodes(graph_def: graph_pb2.GraphDef, nodes: Iterable[NodeDef]) -> graph_pb2.GraphDef:
    """A GraphDef of copies of these nodes, with the versions and the functions of `graph_def`."""
    return graph_pb2.GraphDef(versions=graph_def.versions, library=graph_def.library, node=nodes)


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: graph_pb2.GraphDef,
    output_node_names: Iterable[str],
    variable_names_whitelist: Iterable[str] | None = None,
    variable_names_blacklist: Iterable[str] | None = None,
) -> graph_pb2.GraphDef:
    """`input_graph_def`, cut to what `output_node_names` need, its variables replaced by their values in `sess`."""
    inference = extract_sub_graph(input_graph_def, output_node_names)
    allowed = None if variable_names_whitelist is None else set(variable_names_whitelist)
    denied = set(variable_names_blacklist or ())
    chosen = [
        node
        for node in inference.node
        if node.op in (*_VARIABLE_OPS, "VarHandleOp")
        and (allowed is None or node.name in allowed)
        and node.name not in denied
    ]
    names = [node.name for node in chosen]
    reads = [f"{node.name}/Read/ReadVariableOp:0" if node.op == "VarHandleOp" else f"{node.name}:0" for node in chosen]
    values = dict(zip(names, sess.run(reads) if names else [], strict=True))
    inference = without_handles(inference, {node.name for node in chosen if node.op == "VarHandleOp"})
    out = graph_pb2.GraphDef(versions=inference.versions)
    out.library.CopyFrom(inference.library)
    for node in inference.node:
        if node.name not in values:
            out.node.add().CopyFrom(node)
            continue
        dtype = dtypes.as_dtype(node.attr["dtype"].type)
        value = values[node.name]
        const = out.node.add(name=node.name, op="Const", device=node.device)
        const.attr["dtype"].CopyFrom(node.attr["dtype"])
        const.attr["value"].tensor.CopyFrom(make_tensor_proto(value, dtype=dtype, shape=value.shape))
    return out


def remove_training_nodes(
    input_graph: graph_pb2.GraphDef, protected_nodes: Iterable[str] | None = None
) -> graph_pb2.GraphDef:
    """Take out CheckNumerics and Identity nodes, which inference does not need; `protected_nodes` stay."""
    protected = set(protected_nodes or ())
    pruned = without_ops(input_graph, {"CheckNumerics"}, protected, set())
    waited_for = {node_name(i) for node in pruned.node for i in node.input if i.startswith("^")}
    return without_ops(pruned, {"Identity"}, protected, waited_for)


def without_ops(
    graph_def: graph_pb2.GraphDef, op_types: set[str], protected: set[str], waited_for: set[str]
) -> graph_pb2.GraphDef:
    """Take out nodes of these types that hand on their one input, but for those whose names are in the two sets."""
    replaced: dict[str, str] = {}
    for node in graph_def.node:
        data = [i for i in node.input if not i.startswith("^")]
        keeps = node.name in protected or node.name in waited_for or len(data) != len(node.input)
        if node.op in op_types and not keeps and len(data) == 1:
            replaced[node.name] = data[0]
    out = graph_pb2.GraphDef()
    out.CopyFrom(graph_def)
    del out.node[:]
    for node in graph_def.node:
        if node.name in replaced:
            continue
        copy = out.node.add()
        copy.CopyFrom(node)
        del copy.input[:]
        for text in node.input:
            source = re.sub(r"^\^", "", text)
            while source in replaced:
                source = replaced[source]
            copy.input.append("^" + source if text.startswith("^") else source)
    return out
