"""GraphDefs cut down to what inference needs. Source: `optimize_for_inference_lib` and `strip_unused_lib`, TF 1.15.

A batch normalisation with constant statistics is a scale and an offset for each channel. Behind a convolution with constant
weights the scale goes into the weights, and a BiasAdd is what is left of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from google.protobuf import text_format
from tensorboard.compat.proto import graph_pb2
from tensorboard.compat.proto.node_def_pb2 import NodeDef as Node

from tfexp.core import dtypes
from tfexp.formats.tensor import make_ndarray, make_tensor_proto
from tfexp.graph.graph_util import extract_sub_graph, node_name, remove_training_nodes, with_nodes

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
# Where each op has (x, mean, variance, beta, gamma) among its inputs, and what it calls epsilon.
_NORMALISATIONS: dict[str, tuple[tuple[int, ...], str]] = {
    "BatchNormWithGlobalNormalization": ((0, 1, 2, 3, 4), "variance_epsilon"),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), ((0, 3, 4, 2, 1), "epsilon")),
}


def optimize_for_inference(
    input_graph_def: graph_pb2.GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> graph_pb2.GraphDef:
    """What the outputs need of the inputs, without what only training needs, and with batch normalisations folded.

    The inputs become placeholders of that type, or of these, one each (DT_ enums, or dtypes).
    """
    ensure_graph_is_valid(input_graph_def)
    stripped = strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    optimized = fold_batch_norms(remove_training_nodes(stripped, output_node_names))
    ensure_graph_is_valid(optimized)
    return optimized


def strip_unused(
    input_graph_def: graph_pb2.GraphDef,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
) -> graph_pb2.GraphDef:
    """The part that the outputs need, with placeholders for the inputs: what the inputs were made of is left out.

    ValueError for a tensor's name, KeyError for an input that is not there, AssertionError for such an output.
    """
    for name in input_node_names:
        if ":" in name:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not an Operation.")
    missing = set(input_node_names) - {node.name for node in input_graph_def.node}
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}.")
    several = isinstance(placeholder_type_enum, (list, tuple))
    kinds = list(placeholder_type_enum) if several else [placeholder_type_enum] * len(input_node_names)
    kind_of = dict(zip(input_node_names, kinds, strict=True))
    nodes = (_placeholder(n, kind_of[n.name]) if n.name in kind_of else n for n in input_graph_def.node)
    return extract_sub_graph(with_nodes(input_graph_def, nodes), output_node_names)


def strip_unused_from_files(
    input_graph: str,
    input_binary: bool,
    output_graph: str,
    output_binary: bool,
    input_node_names: str,
    output_node_names: str,
    placeholder_type_enum: Any,
) -> None:
    """`strip_unused` of the GraphDef in one file, written to another; names are joined by commas.

    FileNotFoundError without the file, ValueError without names of outputs.
    """
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    source, definition = Path(input_graph), graph_pb2.GraphDef()
    if input_binary:
        definition.ParseFromString(source.read_bytes())
    else:
        text_format.Merge(source.read_text(), definition)
    stripped = strip_unused(definition, input_node_names.split(","), output_node_names.split(","), placeholder_type_enum)
    if output_binary:
        Path(output_graph).write_bytes(stripped.SerializeToString())
    else:
        Path(output_graph).write_text(text_format.MessageToString(stripped))


def _placeholder(node: Node, kind: Any) -> Node:
    made = Node(name=node.name, op="Placeholder")
    made.attr["dtype"].type = dtypes.as_dtype(kind).as_datatype_enum
    for attr in ("shape", "_output_shapes"):
        if attr in node.attr:
            made.attr[attr].CopyFrom(node.attr[attr])
    return made


# --- nodes -------------------------------------------------------------------------------------------------------------


def ensure_graph_is_valid(graph_def: graph_pb2.GraphDef) -> None:
    """ValueError for a name that two nodes have, and for an input that is not there."""
    for name, count in Counter(node.name for node in graph_def.node).items():
        if count > 1:
            raise ValueError("Duplicate node names detected for ", name)
    names = {node.name for node in graph_def.node}
    for node in graph_def.node:
        for text in node.input:
            if node_name(text) not in names:
                raise ValueError("Input for ", node.name, " not found: ", node_name(text))


def node_from_map(node_map: Mapping[str, Node], name: str) -> Node:
    """The node of an input's name; ValueError where there is none."""
    found = node_map.get(node_name(name))
    if found is None:
        raise ValueError(f"No node named '{node_name(name)}' found in map.")
    return found


def values_from_const(node_def: Node) -> np.ndarray:
    """The value of a constant; ValueError for any other node."""
    if node_def.op != "Const":
        raise ValueError(f"Can not extract constant value from a node that is not Const. Got:\n{node_def}")
    return make_ndarray(node_def.attr["value"].tensor)


def scale_after_normalization(node: Node) -> bool:
    """Whether a batch normalisation is scaled by gamma."""
    return bool(node.attr["scale_after_normalization"].b) if node.op == "BatchNormWithGlobalNormalization" else True


# --- batch normalisation -----------------------------------------------------------------------------------------------


class _Folded(NamedTuple):
    """The nodes that a convolution with a batch normalisation becomes, and those that are not needed any more."""

    made: list[Node]
    gone: set[str]


def fold_batch_norms(input_graph_def: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The same function with batch normalisations folded into the convolutions before them, where all is constant."""
    nodes = {node.name: node for node in input_graph_def.node}
    uses = Counter(text for node in input_graph_def.node for text in node.input)
    uses_of_node = Counter(node_name(text) for node in input_graph_def.node for text in node.input)
    folded = [
        found
        for node in input_graph_def.node
        if node.op in _NORMALISATIONS and uses[node.name] == uses_of_node[node.name]
        if (found := _fold(node, nodes, uses_of_node)) is not None
    ]
    gone = {name for one in folded for name in one.gone}
    kept = [node for node in input_graph_def.node if node.name not in gone]
    return with_nodes(input_graph_def, [*kept, *(node for one in folded for node in one.made)])


def _fold(norm: Node, nodes: Mapping[str, Node], uses: Counter[str]) -> _Folded | None:
    places, epsilon_name = _NORMALISATIONS[norm.op]
    inputs = [node_from_map(nodes, norm.input[place]) for place in places]
    conv, statistics = inputs[0], inputs[1:]
    if conv.op not in _CONVOLUTIONS or uses[conv.name] > 1 or norm.attr["is_training"].b:
        return None
    filters = node_from_map(nodes, conv.input[1])
    if any(node.op != "Const" for node in (filters, *statistics)):
        return None
    weights = values_from_const(filters)
    mean, variance, beta, gamma = map(values_from_const, statistics)
    channels = weights.shape[3] if conv.op == "Conv2D" else weights.shape[2] * weights.shape[3]
    if any(value.shape != (channels,) for value in (mean, variance, beta)):
        return None
    scale = (1.0 / np.sqrt(variance + norm.attr[epsilon_name].f)) * (gamma if scale_after_normalization(norm) else 1.0)
    scaled = weights * (scale if conv.op == "Conv2D" else scale.reshape(weights.shape[2:]))
    offset = beta - mean * scale
    kind = conv.attr["T"]

    new_filters, new_offset = Node(name=f"{conv.name}_weights", op="Const"), Node(name=f"{conv.name}_bn_offset", op="Const")
    for node, value in ((new_filters, scaled), (new_offset, offset)):
        node.attr["dtype"].CopyFrom(kind)
        node.attr["value"].tensor.CopyFrom(make_tensor_proto(value.astype(weights.dtype), dtypes.as_dtype(kind.type)))
    new_conv, bias = Node(), Node(name=norm.name, op="BiasAdd", input=[conv.name, new_offset.name], device=norm.device)
    new_conv.CopyFrom(conv)
    new_conv.input[1] = new_filters.name
    bias.attr["T"].CopyFrom(kind)
    bias.attr["data_format"].CopyFrom(conv.attr["data_format"])
    gone = {norm.name, conv.name, *(node.name for node in (filters, *statistics) if uses[node.name] == 1)}
    return _Folded([new_filters, new_conv, new_offset, bias], gone)
