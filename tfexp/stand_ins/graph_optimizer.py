"""`tensorflow.python.grappler.tf_optimizer`: a MetaGraph's graph, as far as a run needs it. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import graph_pb2, meta_graph_pb2

from tfexp.core.text import as_text
from tfexp.graph.graph_util import extract_sub_graph, node_name


def OptimizeGraph(
    config_proto: Any,
    metagraph: meta_graph_pb2.MetaGraphDef,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None,
) -> graph_pb2.GraphDef:
    """The nodes that the collection `train_op`, or else the outputs of the signatures, need; all without either.

    What else a plan does to a graph depends on the shapes that are fed: `session.explain` shows it.
    """
    train_op = metagraph.collection_def.get("train_op")
    fetches = [] if train_op is None else [as_text(value) for value in train_op.node_list.value]
    fetches += [output.name for signature in metagraph.signature_def.values() for output in signature.outputs.values()]
    if not fetches:
        return metagraph.graph_def
    return extract_sub_graph(metagraph.graph_def, [node_name(name) for name in fetches])
