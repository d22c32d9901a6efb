"""Graphs without masks, once weights are constants. Source: `tf.contrib.model_pruning`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import graph_pb2

from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.formats.tensor import make_ndarray, make_tensor_proto
from tfexp.graph.graph import Graph
from tfexp.graph.graph_util import convert_variables_to_constants, extract_sub_graph
from tfexp.runtime.session import Session
from tfexp.train.saver import import_meta_graph


def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Any:
    """The GraphDef of the latest checkpoint with constants for variables, as far as it gives these nodes.

    ValueError where there is no checkpoint.
    """
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"there is no checkpoint in {checkpoint_dir}")
    with Graph().as_default() as graph, Session(graph=graph) as session:
        saver: Any = import_meta_graph(f"{path}.meta", clear_devices=True)
        saver.restore(session, path)
        return convert_variables_to_constants(session, graph.as_graph_def(), list(output_node_names))


def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """The GraphDef with one constant in place of each product of a mask and weights, of which both are constants."""
    graph_def = graph_pb2.GraphDef()
    graph_def.CopyFrom(input_graph_def)
    nodes = {node.name: node for node in graph_def.node}

    def value_of(name: str) -> np.ndarray:
        node = nodes[name.split(":", maxsplit=1)[0]]
        return value_of(node.input[0]) if node.op == "Identity" else make_ndarray(node.attr["value"].tensor)

    for node in graph_def.node:
        if node.op == "Mul" and node.name.endswith("masked_weight"):
            product = np.multiply(*(value_of(name) for name in node.input))
            del node.input[:]
            kind = node.attr["T"].type
            node.attr.clear()
            node.op = "Const"
            node.attr["dtype"].type = kind
            node.attr["value"].tensor.CopyFrom(make_tensor_proto(product))
    return extract_sub_graph(graph_def, list(output_node_names))
