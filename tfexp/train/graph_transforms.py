"""`TransformGraph`: a GraphDef made fit for inference by transforms that a line of text names. Source:
`tensorflow.tools.graph_transforms`, TF 1.15.

A transform is a function of (the graph, inputs, outputs, its arguments), found by its name in the table at the end.
"""

from __future__ import annotations

import itertools
import re
import string
from collections.abc import Callable, Container, Sequence
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef as Node

from tfexp.core import dtypes
from tfexp.core.errors import OpError, invalid
from tfexp.core.log import get_logger
from tfexp.core.op import find_op
from tfexp.core.shape import TensorShape
from tfexp.graph.graph_util import execution_order, extract_sub_graph, node_name, with_nodes, without_ops
from tfexp.graph.inference_graph import fold_batch_norms as fold_old_batch_norms
from tfexp.graph.op_defs import op_def
from tfexp.train import weight_transforms
from tfexp.train.weight_transforms import Arguments

Transform = Callable[[GraphDef, list[str], list[str], Arguments], GraphDef]

_NAME = re.compile(r"[\s,]*(?:(\w+)\s*(\(?)|$)")
_ARGUMENT = re.compile(r'[\s,]*(\w+)\s*=\s*(?:"([^"]*)"|([^\s,"()]+))')
_END = re.compile(r"[\s,]*\)?")
_log = get_logger()


def TransformGraph(
    input_graph_def: GraphDef, inputs: Sequence[str], outputs: Sequence[str], transforms: Sequence[str]
) -> GraphDef:
    """The graph after the transforms, such as `strip_unused_nodes` or `remove_nodes(op=Identity, op=CheckNumerics)`.

    inputs and outputs: names of the nodes that are fed and fetched, which keep their names. With `ignore_errors=true` among
    its arguments, a transform that fails changes nothing. InvalidArgumentError for transforms that are not known, lack
    arguments, or do not find a node; NotFoundError where `fold_constants` does not.
    """
    graph = GraphDef()
    graph.CopyFrom(input_graph_def)
    fed, fetched = ([node_name(name) for name in names] for names in (inputs, outputs))
    for name, arguments in parse_transforms(" ".join(transforms)):
        transform = _TRANSFORMS.get(name)
        if transform is None:
            raise invalid(f"Transform '{name}' not recognized. There are {', '.join(sorted(_TRANSFORMS))}.")
        try:
            graph = transform(graph, fed, fetched, arguments)
        except (OpError, ValueError) as error:
            if arguments.get("ignore_errors") != ["true"]:
                raise
            _log.warning("%s: Ignoring error %s", name, error)
    return graph


def parse_transforms(text: str) -> list[tuple[str, Arguments]]:
    """The transforms that `name(argument=value, argument="a value") name` says, each with all values of its arguments."""
    found: list[tuple[str, Arguments]] = []
    place = 0
    while place < len(text):
        name = _NAME.match(text, place)
        if name is None:
            raise invalid(f"Looking for transform name, but found {text[place:]}")
        place = name.end()
        if name[1] is None:
            break
        arguments: Arguments = {}
        if name[2]:
            while argument := _ARGUMENT.match(text, place):
                place = argument.end()
                arguments.setdefault(argument[1], []).append(argument[3] if argument[2] is None else argument[2])
            end = _END.match(text, place)
            assert end is not None
            place = end.end()
        found.append((name[1], arguments))
    return found


def _one(transform: str, arguments: Arguments, *names: str) -> list[str]:
    """The values of arguments that have to be there, once."""
    values = [arguments.get(name, []) for name in names]
    if any(len(value) != 1 for value in values):
        wanted = " and ".join(f"'{name}'" for name in names)
        raise invalid(f"{transform} expects exactly one {wanted} argument, e.g. {transform}({names[0]}=Mul)")
    return [value[0] for value in values]


# --- which nodes there are ----------------------------------------------------------------------------------------------


def strip_unused_nodes(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """What the outputs need, with placeholders for the inputs: of `type` and `shape`, but for those that `name`,
    `type_for_name` and `shape_for_name` say by turns.
    """
    kind, shape = arguments.get("type", ["float"])[-1], arguments.get("shape", [""])[-1]
    names = arguments.get("name", [])
    kinds = dict(zip(names, arguments.get("type_for_name", []), strict=False))
    shapes = dict(zip(names, arguments.get("shape_for_name", []), strict=False))

    def cut(node: Node) -> Node:
        if node.name not in inputs or node.op == "Placeholder":
            return node
        made = Node(name=node.name, op="Placeholder")
        made.attr["dtype"].type = dtypes.as_dtype(kinds.get(node.name, kind)).as_datatype_enum
        sizes = [int(size) for size in shapes.get(node.name, shape).split(",") if size]
        made.attr["shape"].shape.CopyFrom(TensorShape([None if size < 0 else size for size in sizes]).as_proto())
        return made

    known = {node.name for node in graph.node}
    for name in outputs:
        if name not in known:
            raise invalid(f"Input node {name} not found in graph")
    kept = [*outputs, *(name for name in inputs if name in known)]
    return extract_sub_graph(with_nodes(graph, map(cut, graph.node)), kept)


def remove_nodes(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """Without nodes of the types `op` that hand on their one input."""
    if not arguments.get("op"):
        raise invalid("remove_nodes expects at least one 'op' argument, e.g. remove_nodes(op=Identity)")
    return without_ops(graph, set(arguments["op"]), {*inputs, *outputs}, set())


def merge_duplicate_nodes(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """One node in the place of several that compute the same."""
    while True:
        first: dict[Any, str] = {}
        again = {}
        for node in graph.node:
            op = find_op(node.op)
            key = (node.op, node.device, tuple(node.input), *_attrs(node))
            if node.name in (*inputs, *outputs) or op is None or op.is_stateful or node.op == "Placeholder":
                continue
            if first.setdefault(key, node.name) != node.name:
                again[node.name] = first[key]
        if not again:
            return graph
        graph = _with_inputs(graph, again, without=again)


def _attrs(node: Node) -> tuple[Any, ...]:
    return tuple((name, node.attr[name].SerializeToString(deterministic=True)) for name in sorted(node.attr))


def _with_inputs(graph: GraphDef, renamed: dict[str, str], without: Container[str] = ()) -> GraphDef:
    """The nodes, but for those `without`, with other nodes' names among their inputs."""
    out = with_nodes(graph, (node for node in graph.node if node.name not in without))
    for node in out.node:
        for place, text in enumerate(node.input):
            name = node_name(text)
            if name in renamed:
                node.input[place] = text.replace(name, renamed[name], 1)
    return out


def sort_by_execution_order(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """Every node behind those that it takes something from; the back edges of loops do not count."""
    return with_nodes(graph, execution_order(graph))


# --- their names, types, attributes and devices ---------------------------------------------------------------------------


def obfuscate_names(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """The shortest names for all nodes but inputs and outputs."""
    kept = {*inputs, *outputs}
    characters = string.digits + string.ascii_lowercase + string.ascii_uppercase
    short = (
        name
        for length in itertools.count(1)
        for name in map("".join, itertools.product(characters, repeat=length))
        if name not in kept
    )
    renamed = {node.name: next(short) for node in graph.node if node.name not in kept}
    out = _with_inputs(graph, renamed)
    for node in out.node:
        node.name = renamed.get(node.name, node.name)
    return out


def rename_op(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    old, new = _one("rename_op", arguments, "old_op_name", "new_op_name")
    for node in graph.node:
        if node.op == old:
            node.op = new
    return graph


def rename_attribute(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """`old_attribute_name` of the nodes of type `op_name`, or of all, becomes `new_attribute_name`."""
    old, new = _one("rename_attribute", arguments, "old_attribute_name", "new_attribute_name")
    for node in _of_type(graph, arguments):
        if old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return graph


def remove_attribute(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """Nodes of type `op_name`, or all, without `attribute_name`."""
    (name,) = _one("remove_attribute", arguments, "attribute_name")
    for node in _of_type(graph, arguments):
        node.attr.pop(name, None)
    return graph


def _of_type(graph: GraphDef, arguments: Arguments) -> list[Node]:
    kind = arguments.get("op_name", ["*"])[-1]
    return [node for node in graph.node if kind in ("*", node.op)]


def add_default_attributes(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """Attributes that nodes lack have the default that their op gives them."""
    for node in graph.node:
        op = find_op(node.op)
        for attr in () if op is None else op_def(op).attr:
            if attr.HasField("default_value") and attr.name not in node.attr:
                node.attr[attr.name].CopyFrom(attr.default_value)
    return graph


def remove_device(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    return set_device(graph, inputs, outputs, {})


def set_device(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """All nodes on `device`; with `if_default=true`, those that are on none yet."""
    only_default = arguments.get("if_default") == ["true"]
    for node in graph.node:
        if not (only_default and node.device):
            node.device = arguments.get("device", [""])[-1]
    return graph


def remove_control_dependencies(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    for node in graph.node:
        kept = [text for text in node.input if not text.startswith("^")]
        del node.input[:]
        node.input.extend(kept)
    return graph


def _of_graph(transform: Callable[[GraphDef], GraphDef]) -> Transform:
    return lambda graph, inputs, outputs, arguments: transform(graph)


_TRANSFORMS: dict[str, Transform] = {
    "add_default_attributes": add_default_attributes,
    "fold_batch_norms": weight_transforms.fold_batch_norms,
    "fold_constants": weight_transforms.fold_constants,
    "fold_old_batch_norms": _of_graph(fold_old_batch_norms),
    "merge_duplicate_nodes": merge_duplicate_nodes,
    "obfuscate_names": obfuscate_names,
    "quantize_weights": weight_transforms.quantize_weights,
    "remove_attribute": remove_attribute,
    "remove_control_dependencies": remove_control_dependencies,
    "remove_device": remove_device,
    "remove_nodes": remove_nodes,
    "rename_attribute": rename_attribute,
    "rename_op": rename_op,
    "round_weights": weight_transforms.round_weights,
    "set_device": set_device,
    "sort_by_execution_order": sort_by_execution_order,
    "strip_unused_nodes": strip_unused_nodes,
}
