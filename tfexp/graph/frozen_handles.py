"""Graphs whose variables' handles become constants: what read them through a handle reads the constant instead."""

from __future__ import annotations

from tensorboard.compat.proto import graph_pb2, node_def_pb2, tensor_pb2, types_pb2

# What hands on a handle as it is.
_PASSING_ON = frozenset({"Identity", "Enter", "Exit", "NextIteration", "Switch", "Merge"})


def without_handles(graph_def: graph_pb2.GraphDef, handles: set[str]) -> graph_pb2.GraphDef:
    """`graph_def` with the VarHandleOps `handles` as yet in place, but all others as if these were the values.

    ValueError for a ResourceGather in batches, and for anything that does more than read. Source: what
    `tf.graph_util.convert_variables_to_constants` makes, TF 1.15.
    """
    kinds = {node.name: node.attr["dtype"].type for node in graph_def.node if node.name in handles}
    if not kinds:
        return graph_def
    _follow(graph_def, kinds)
    out = graph_pb2.GraphDef(versions=graph_def.versions)
    out.library.CopyFrom(graph_def.library)
    for node in graph_def.node:
        kind = kinds.get(_source(node))
        copy = out.node.add()
        copy.CopyFrom(node)
        if kind is None or node.name in handles:
            continue
        if node.op in _PASSING_ON:
            copy.attr["T"].type = kind
        elif node.op == "ReadVariableOp":
            copy.op = "Identity"
            copy.ClearField("attr")
            copy.attr["T"].type = kind
            if "_class" in node.attr:
                copy.attr["_class"].CopyFrom(node.attr["_class"])
        elif node.op == "ResourceGather":
            _as_gather(out, copy, node, kind)
        elif any(text.partition(":")[0] in kinds for text in node.input if not text.startswith("^")):
            raise ValueError(f"The node {node.name} ({node.op}) does more than read a variable: it cannot be frozen")
    return out


def _source(node: node_def_pb2.NodeDef) -> str:
    return str(node.input[0].partition(":")[0]) if node.input and not node.input[0].startswith("^") else ""


def _follow(graph_def: graph_pb2.GraphDef, kinds: dict[str, int]) -> None:
    """Add the nodes that hand on one of the handles, with its variable's type."""
    grown = True
    while grown:
        grown = False
        for node in graph_def.node:
            is_handle = node.attr["T"].type == types_pb2.DT_RESOURCE if "T" in node.attr else False
            if node.op in _PASSING_ON and is_handle and node.name not in kinds and _source(node) in kinds:
                kinds[node.name] = kinds[_source(node)]
                grown = True


def _as_gather(out: graph_pb2.GraphDef, copy: node_def_pb2.NodeDef, node: node_def_pb2.NodeDef, kind: int) -> None:
    if node.attr["batch_dims"].i != 0:
        raise ValueError(f"The node {node.name} gathers in batches (batch_dims != 0), which cannot be frozen")
    index = node.attr["Tindices"].type
    copy.op = "GatherV2"
    copy.ClearField("attr")
    del copy.input[2:]
    copy.input.append(f"{node.name}/axis")
    copy.input.extend(node.input[2:])
    for name, value in (("Tparams", kind), ("Tindices", index), ("Taxis", index)):
        copy.attr[name].type = value
    if "_class" in node.attr:
        copy.attr["_class"].CopyFrom(node.attr["_class"])
    axis = out.node.add(name=f"{node.name}/axis", op="Const", device=node.device)
    axis.attr["dtype"].type = index
    proto = tensor_pb2.TensorProto(dtype=index)
    proto.tensor_shape.SetInParent()
    (proto.int64_val if index == types_pb2.DT_INT64 else proto.int_val).append(0)
    axis.attr["value"].tensor.CopyFrom(proto)
