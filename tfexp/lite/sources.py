"""Where graphs to convert come from: sessions, files of frozen graphs, SavedModels, Keras models' files; what is frozen."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.graph_pb2 import GraphDef

from tfexp.graph.graph import Graph
from tfexp.graph.graph_util import convert_variables_to_constants, node_name
from tfexp.graph.graphdef import import_graph_def
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.phases import set_learning_phase
from tfexp.keras.backend.sessions import clear_session, get_session
from tfexp.keras.saving.save import load_model
from tfexp.runtime.session import Session
from tfexp.train.saved_model_loader import SavedModelLoader
from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY, SERVING

_VARIABLES = frozenset({"AutoReloadVariable", "VarHandleOp", "Variable", "VariableV2"})


@dataclass(frozen=True)
class Source:
    """A frozen graph, and the tensors between which it is converted."""

    graph_def: GraphDef
    inputs: list[Tensor]
    outputs: list[Tensor]


def of_session(session: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Source:
    """What a session's graph computes with the values that its variables have now."""
    graph_def = session.graph.as_graph_def(add_shapes=True)
    if _is_unfrozen(graph_def):
        graph_def = convert_variables_to_constants(session, graph_def, [tensor.op.name for tensor in outputs])
    return Source(graph_def, list(inputs), list(outputs))


def of_frozen_graph(path: Any, inputs: Sequence[str], outputs: Sequence[str], shapes: Mapping[str, Any] | None) -> Source:
    """A GraphDef's file, as bytes or text.

    OSError: there is no file; ValueError: names or shapes that do not fit, or there are variables in it.
    """
    if not os.path.exists(path):
        raise OSError(f"File '{path}' does not exist.")
    with open(path, "rb") as file:
        graph_def = _parsed(file.read(), path)
    source = _between_nodes(graph_def, inputs, outputs, shapes)
    if _is_unfrozen(graph_def):
        raise ValueError("Please freeze the graph using freeze_graph.py.")
    return source


def of_graph_def(graph_def: GraphDef, shapes: Mapping[str, Any], outputs: Sequence[str]) -> Source:
    """A frozen GraphDef between nodes, {input: its shape}. ValueError: names or shapes that do not fit."""
    return _between_nodes(graph_def, list(shapes), outputs, shapes)


def _between_nodes(
    graph_def: GraphDef, inputs: Sequence[str], outputs: Sequence[str], shapes: Mapping[str, Any] | None
) -> Source:
    with Graph().as_default() as graph:
        import_graph_def(graph_def, name="")
    source = Source(graph_def, _tensors(graph, inputs), _tensors(graph, outputs))
    _set_shapes(source.inputs, shapes)
    return source


def of_saved_model(
    folder: Any,
    inputs: Sequence[str] | None,
    shapes: Mapping[str, Any] | None,
    outputs: Sequence[str] | None,
    tags: Any,
    signature_key: str | None,
) -> Source:
    """A signature of a SavedModel; without names, all that it takes and gives, in the order of the tensors' names."""
    key = DEFAULT_SERVING_SIGNATURE_DEF_KEY if signature_key is None else signature_key
    with Graph().as_default() as graph, Session(graph=graph) as session:
        meta_graph = SavedModelLoader(folder).load(session, {SERVING} if tags is None else set(tags))
        if key not in meta_graph.signature_def:
            possible = ", ".join(meta_graph.signature_def)
            raise ValueError(f"No '{key}' in the SavedModel's SignatureDefs. Possible values are '{possible}'.")
        signature = meta_graph.signature_def[key]
        found = [
            _named(graph, names, sorted(info.name for info in infos.values()))
            for names, infos in ((inputs, signature.inputs), (outputs, signature.outputs))
        ]
        _set_shapes(found[0], shapes)
        return of_session(session, *found)


def of_keras_file(
    path: Any,
    inputs: Sequence[str] | None,
    shapes: Mapping[str, Any] | None,
    outputs: Sequence[str] | None,
    custom_objects: Mapping[str, Any] | None,
) -> Source:
    """A Keras model's file. As in 1.15, Keras starts over: its graph and session are new."""
    clear_session()
    set_learning_phase(0)
    model = load_model(path, custom_objects)
    session = get_session()
    found = [
        list(own) if names is None else _tensors(session.graph, names)
        for names, own in ((inputs, model.inputs), (outputs, model.outputs))
    ]
    _set_shapes(found[0], shapes)
    return of_session(session, *found)


def between(source: Source, shapes: Sequence[Sequence[int]]) -> tuple[Graph, list[Tensor], list[Tensor]]:
    """A graph of its own in which inputs are placeholders of these shapes, and the tensors in it."""
    replaced = {tensor.op.name: (tensor, shape) for tensor, shape in zip(source.inputs, shapes, strict=True)}
    cut = GraphDef(versions=source.graph_def.versions)
    cut.library.CopyFrom(source.graph_def.library)
    for node in source.graph_def.node:
        if node.name not in replaced:
            cut.node.add().CopyFrom(node)
            continue
        tensor, shape = replaced[node.name]
        placeholder = cut.node.add(name=node.name, op="Placeholder")
        placeholder.attr["dtype"].type = tensor.dtype.as_datatype_enum
        for size in shape:
            placeholder.attr["shape"].shape.dim.add(size=size)
        placeholder.attr["shape"].shape.unknown_rank = False
    cut = _only_needed(cut, [tensor.op.name for tensor in (*source.outputs, *source.inputs)])
    with Graph().as_default() as graph:
        import_graph_def(cut, name="")
    return graph, *([graph.get_tensor_by_name(tensor.name) for tensor in ends] for ends in (source.inputs, source.outputs))


def _only_needed(graph_def: GraphDef, names: Sequence[str]) -> GraphDef:
    """The nodes that those of these names need for their values: nothing that only has to run before them."""
    nodes = {node.name: node for node in graph_def.node}
    needed: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending += [node_name(text) for text in nodes[name].input if not text.startswith("^")]
    out = GraphDef(versions=graph_def.versions)
    out.library.CopyFrom(graph_def.library)
    for node in graph_def.node:
        if node.name in needed:
            copy = out.node.add()
            copy.CopyFrom(node)
            copy.device = ""
            copy.ClearField("input")
            copy.input.extend(text for text in node.input if not text.startswith("^"))
            copy.attr.pop("_output_shapes", None)  # they were of other inputs
    return out


def _is_unfrozen(graph_def: GraphDef) -> bool:
    return any(node.op in _VARIABLES for node in graph_def.node)


def _parsed(data: bytes, path: Any) -> GraphDef:
    graph_def = GraphDef()
    try:
        graph_def.ParseFromString(data)
    except DecodeError:
        try:
            text_format.Merge(data.decode(), graph_def)
        except (text_format.ParseError, UnicodeDecodeError) as error:
            raise OSError(f"Unable to parse input file '{path}'.") from error
    return graph_def


def _tensors(graph: Graph, names: Sequence[str]) -> list[Tensor]:
    """The first outputs of nodes. ValueError: there are no such nodes."""
    there = {op.name for op in graph.get_operations()}
    if invalid := [name for name in names if name not in there]:
        raise ValueError(f"Invalid tensors '{','.join(invalid)}' were found.")
    return [graph.get_tensor_by_name(f"{name}:0") for name in names]


def _named(graph: Graph, names: Sequence[str] | None, of_signature: Sequence[str]) -> list[Tensor]:
    """A signature's tensors, those of the given nodes only. ValueError: nodes that are not among them."""
    if names is None:
        return [graph.get_tensor_by_name(name) for name in of_signature]
    known = {node_name(name): name for name in of_signature}
    if invalid := [name for name in names if name not in known]:
        raise ValueError(f"Invalid tensors '{','.join(invalid)}' were found.")
    return [graph.get_tensor_by_name(known[name]) for name in sorted(names)]


def _set_shapes(tensors: Sequence[Tensor], shapes: Mapping[str, Any] | None) -> None:
    """Let inputs have these shapes, {node: shape}. ValueError: another tensor's, or one that contradicts what is known."""
    known = {tensor.op.name: tensor for tensor in tensors}
    for name, shape in (shapes or {}).items():
        if name not in known:
            raise ValueError(f"Invalid tensor '{name}' found in tensor shapes map.")
        if shape is None:
            continue
        tensor = known[name]
        try:
            tensor.set_shape(shape)
        except ValueError as error:
            raise ValueError(
                f"The shape of tensor '{name}' cannot be changed from {tensor.shape} to {list(shape)}. {error}"
            ) from error
