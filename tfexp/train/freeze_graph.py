"""`tensorflow.python.tools.freeze_graph`: a graph and a checkpoint made one GraphDef of constants. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from google.protobuf import text_format
from tensorboard.compat.proto import graph_pb2, saver_pb2

from tfexp.formats.atomic_file import replace_file
from tfexp.formats.checkpoint_state import checkpoint_exists
from tfexp.graph.graph import Graph
from tfexp.graph.graph_util import convert_variables_to_constants
from tfexp.graph.graphdef import import_graph_def
from tfexp.runtime.session import Session
from tfexp.train.meta_graph import read_meta_graph
from tfexp.train.saved_model_loader import SavedModelLoader
from tfexp.train.saver import Saver, import_meta_graph


def freeze_graph(
    input_graph: str | None,
    input_saver: str | None,
    input_binary: bool,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: str | None = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = 2,
) -> graph_pb2.GraphDef:
    """The nodes that `output_node_names` (joined by commas) need, with variables as constants; to `output_graph` as well.

    The graph is a GraphDef's file (`input_graph`, text unless `input_binary`), a MetaGraph's or a SavedModel's; the values
    are `input_checkpoint`'s, by the SaverDef in the file `input_saver` if any, or the SavedModel's. `restore_op_name` and
    `filename_tensor_name` are not needed. OSError for files that are not there, ValueError without a checkpoint, a graph or
    output nodes.
    """
    for what, path in (("graph", input_graph), ("saver", input_saver), ("meta graph", input_meta_graph)):
        if path and not os.path.exists(path):
            raise OSError(f"Input {what} file '{path}' does not exist!")
    definition = read_message(graph_pb2.GraphDef(), input_graph, input_binary) if input_graph else None
    saver = read_message(saver_pb2.SaverDef(), input_saver, input_binary) if input_saver else None
    meta_graph = read_meta_graph(input_meta_graph) if input_meta_graph else None
    return freeze_graph_with_def_protos(
        definition,
        saver,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        meta_graph,
        input_saved_model_dir,
        saved_model_tags.split(","),
        checkpoint_version,
    )


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: str | None,
    output_node_names: str,
    restore_op_name: str | None,
    filename_tensor_name: str | None,
    output_graph: str | None,
    clear_devices: bool,
    initializer_nodes: str | None,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: Sequence[str] | None = None,
    checkpoint_version: int = 2,
) -> graph_pb2.GraphDef:
    """`freeze_graph` of a graph at hand; `input_saver_def` restores it where that is given."""
    if not output_node_names:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    if input_checkpoint and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    with Graph().as_default() as graph, Session(graph=graph) as session:
        if input_saved_model_dir:
            SavedModelLoader(input_saved_model_dir).load(session, saved_model_tags or ["serve"])
        elif input_meta_graph_def:
            saver = import_meta_graph(input_meta_graph_def, clear_devices=True)
            if saver is not None:
                saver.restore(session, input_checkpoint or "")
        elif input_graph_def:
            import_graph_def(_on_any_device(input_graph_def) if clear_devices else input_graph_def, name="")
            if input_checkpoint:
                (Saver(saver_def=input_saver_def) if input_saver_def else _saver(graph)).restore(session, input_checkpoint)
        else:
            raise ValueError("freeze_graph needs an input_graph, an input_meta_graph or an input_saved_model_dir")
        if initializer_nodes:
            session.run([graph.get_operation_by_name(name.strip()) for name in initializer_nodes.split(",")])
        definition = graph.as_graph_def()
        frozen = convert_variables_to_constants(
            session,
            _on_any_device(definition) if clear_devices else definition,
            output_node_names.replace(" ", "").split(","),
            variable_names_whitelist.replace(" ", "").split(",") if variable_names_whitelist else None,
            variable_names_blacklist.replace(" ", "").split(",") if variable_names_blacklist else None,
        )
    if output_graph:
        replace_file(output_graph, frozen.SerializeToString())
    return frozen


def _on_any_device(definition: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """A copy without devices."""
    copy = graph_pb2.GraphDef()
    copy.CopyFrom(definition)
    for node in copy.node:
        node.device = ""
    return copy


def read_message(message: Any, path: str, binary: bool) -> Any:
    """The message, read from a file of its bytes or, unless `binary`, of text."""
    with open(path, "rb") as file:
        data = file.read()
    if binary:
        message.ParseFromString(data)
    else:
        text_format.Merge(data.decode(), message)
    return message


def _saver(graph: Graph) -> Saver:
    """What restores all the variables of an imported graph by their names."""
    kinds = ("Variable", "VariableV2")
    saved = {op.name: op.outputs[0] for op in graph.get_operations() if op.type in kinds}
    for op in graph.get_operations():
        if op.type == "VarHandleOp":
            saved[op.name] = graph.get_tensor_by_name(f"{op.name}/Read/ReadVariableOp:0")
    return Saver(saved)
