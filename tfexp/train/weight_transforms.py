"""The transforms of `graph_transforms` that compute: constants folded, scaled into weights, rounded, and in eight bits."""

from __future__ import annotations

from collections import Counter

import numpy as np
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef as Node

from tfexp.core import dtypes
from tfexp.core.errors import NotFoundError
from tfexp.core.op import find_op
from tfexp.formats.tensor import make_tensor_proto
from tfexp.graph.graph import Graph
from tfexp.graph.graph_util import execution_order, extract_sub_graph, node_name, with_nodes
from tfexp.graph.graphdef import import_graph_def
from tfexp.graph.inference_graph import values_from_const
from tfexp.graph.operation import Operation
from tfexp.runtime.session import Session

Arguments = dict[str, list[str]]
"""Of a transform: name -> the values that it was given."""

_LINEAR = ("Conv2D", "DepthwiseConv2dNative", "MatMul")
_NEVER = frozenset(
    ["Placeholder", "PlaceholderWithDefault", "Enter", "Exit", "Merge", "NextIteration", "Switch", "LoopCond"]
)
_FEWEST_ROUNDED = 16
_FEWEST_QUANTIZED = 1024


def _const(name: str, value: np.ndarray, kind: dtypes.DType) -> Node:
    node = Node(name=name, op="Const")
    node.attr["dtype"].type = kind.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(make_tensor_proto(value, kind, value.shape))
    return node


# --- constants ----------------------------------------------------------------------------------------------------------


def fold_constants(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """What the outputs need, with constants for all that depends on constants alone.

    `_output_shapes` are forgotten unless `clear_output_shapes=false`. NotFoundError for ends that are no nodes.
    """
    known = {node.name for node in graph.node}
    for name in (*outputs, *inputs):
        if name not in known:
            raise NotFoundError(None, None, f"The node {name} to be fed or fetched is not found in the graph")
    graph = extract_sub_graph(graph, [*outputs, *inputs])
    if arguments.get("clear_output_shapes") != ["false"]:
        for node in graph.node:
            node.attr.pop("_output_shapes", None)
    with Graph().as_default() as whole, Session(graph=whole) as session:
        import_graph_def(graph, name="")
        constant: set[str] = set()
        for node in execution_order(graph):
            if node.name not in inputs and _folds(whole.get_operation_by_name(node.name), constant):
                constant.add(node.name)
        wanted = {t for op in whole.get_operations() if op.name not in constant for t in op.inputs if t.op.name in constant}
        wanted |= {t for name in outputs if name in constant for t in whole.get_operation_by_name(name).outputs[:1]}
        values = session.run({(t.op.name, t.value_index): t for t in wanted if t.op.type != "Const"})
        kinds = {(t.op.name, t.value_index): t.dtype for t in wanted}
    made = {place: _const(_folded_name(*place), np.asarray(value), kinds[place]) for place, value in values.items()}
    nodes = []
    for node in graph.node:
        if node.name in constant and node.op != "Const":
            nodes += [const for (name, _), const in made.items() if name == node.name]
            continue
        kept = [text for text in node.input if not (text.startswith("^") and text[1:] in constant)]
        del node.input[:]
        node.input.extend(_folded_input(text, made) for text in kept)
        nodes.append(node)
    return extract_sub_graph(with_nodes(graph, nodes), [*outputs, *inputs])


def _folds(op: Operation, constant: set[str]) -> bool:
    definition = find_op(op.type)
    if definition is None or definition.is_stateful or op.type in _NEVER or op.control_inputs:
        return False
    if any(output.dtype in (dtypes.resource, dtypes.variant) for output in op.outputs):
        return False
    return op.type == "Const" or (bool(op.inputs) and all(tensor.op.name in constant for tensor in op.inputs))


def _folded_name(name: str, index: int) -> str:
    return name if index == 0 else f"{name}/folded_{index}"


def _folded_input(text: str, made: dict[tuple[str, int], Node]) -> str:
    name, _, index = text.partition(":")
    place = name, int(index or 0)
    return _folded_name(*place) if place in made else text


# --- weights ------------------------------------------------------------------------------------------------------------


def fold_batch_norms(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """Products of constants with the results of convolutions, or of matrices, go into constant weights."""
    nodes = {node.name: node for node in graph.node}
    uses = Counter(node_name(text) for node in graph.node for text in node.input)
    replaced: dict[str, Node] = {}
    gone: set[str] = set()
    for product in graph.node:
        linear, scale = (nodes.get(node_name(text)) for text in product.input[:2]) if product.op == "Mul" else (None, None)
        if linear is None or scale is None or linear.op not in _LINEAR or scale.op != "Const":
            continue
        weights = nodes.get(node_name(linear.input[1]))
        if weights is None or weights.op != "Const" or linear.name in (*inputs, *outputs):
            continue
        if not uses[weights.name] == uses[linear.name] == 1:
            continue
        value, factor = values_from_const(weights), values_from_const(scale)
        columns = value.shape[2:] if linear.op == "DepthwiseConv2dNative" else value.shape[-1:]
        is_transposed = "transpose_b" in linear.attr and linear.attr["transpose_b"].b
        if factor.shape != (int(np.prod(columns)),) or is_transposed:
            continue
        replaced[weights.name] = _const(weights.name, value * factor.reshape(columns), _kind(weights))
        replaced[product.name] = Node()
        replaced[product.name].CopyFrom(linear)
        replaced[product.name].name = product.name
        gone.add(linear.name)
        if uses[scale.name] == 1:
            gone.add(scale.name)
    return with_nodes(graph, [replaced.get(node.name, node) for node in graph.node if node.name not in gone])


def round_weights(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """Float constants of some size with the middles of `num_steps` (256) equal parts of their range as values."""
    steps = int(arguments.get("num_steps", ["256"])[-1])
    nodes = []
    for node in graph.node:
        if _is_weight(node) and values_from_const(node).size >= _FEWEST_ROUNDED:
            value = values_from_const(node)
            least, most = value.min(), value.max()
            width = (most - least) / steps or value.dtype.type(1)
            rounded = least + (np.floor((value - least) / width) + 0.5) * width
            node = _const(node.name, (rounded if most > least else value).astype(value.dtype), dtypes.float32)
        nodes.append(node)
    return with_nodes(graph, nodes)


def quantize_weights(graph: GraphDef, inputs: list[str], outputs: list[str], arguments: Arguments) -> GraphDef:
    """Float constants of `minimum_size` (1024) values in eight bits, and a node that makes floats of them again.

    What they stand for lies between their least and their largest value, or 0 where that is beyond.
    """
    fewest = int(arguments.get("minimum_size", [str(_FEWEST_QUANTIZED)])[-1])
    nodes = []
    for node in graph.node:
        if not _is_weight(node) or values_from_const(node).size < fewest:
            nodes.append(node)
            continue
        value = values_from_const(node)
        least = np.minimum(value.min(), np.float32(0))
        most = np.maximum(value.max(), np.finfo(np.float32).tiny)
        levels = np.rint((value - least) / (most - least) * 255).astype(np.uint8)
        parts = [
            _const(f"{node.name}_quantized_const", levels, dtypes.quint8),
            _const(f"{node.name}_quantized_min", least, dtypes.float32),
            _const(f"{node.name}_quantized_max", most, dtypes.float32),
        ]
        whole = Node(name=node.name, op="Dequantize", input=[part.name for part in parts], device=node.device)
        whole.attr["T"].type = dtypes.quint8.as_datatype_enum
        whole.attr["mode"].s = b"MIN_FIRST"
        nodes += [*parts, whole]
    return with_nodes(graph, nodes)


def _is_weight(node: Node) -> bool:
    return node.op == "Const" and _kind(node) is dtypes.float32


def _kind(node: Node) -> dtypes.DType:
    return dtypes.as_dtype(node.attr["dtype"].type)
