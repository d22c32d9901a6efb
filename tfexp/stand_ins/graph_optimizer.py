"""`tensorflow.python.grappler.tf_optimizer`: a MetaGraph's graph, as far as a run needs it. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import graph_pb2, meta_graph_pb2, variable_pb2
from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.text import as_text
from tfexp.graph.graph_util import extract_sub_graph, node_name
from tfexp.train.weight_transforms import fold_constants

_VARIABLES = ("variables", "trainable_variables", "local_variables", "model_variables")


def OptimizeGraph(
    config_proto: Any,
    metagraph: meta_graph_pb2.MetaGraphDef,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None,
) -> graph_pb2.GraphDef:
    """What the collections and the outputs of the signatures need, with constants folded unless the config says otherwise.

    Without what is said and checked on the way where the config names the `debug_stripper`.

    InvalidArgumentError where neither the collection `train_op` nor a signature says what is fetched. What else a plan does
    to a graph depends on the shapes that are fed: `session.explain` shows it.
    """
    train_op = metagraph.collection_def.get("train_op")
    fetches = [] if train_op is None else [as_text(value) for value in train_op.node_list.value]
    fetches += [output.name for signature in metagraph.signature_def.values() for output in signature.outputs.values()]
    if not fetches:
        raise InvalidArgumentError(None, None, "Failed to import metagraph: it has no train_op and no signature")
    known = {node.name for node in metagraph.graph_def.node}
    kept = {name for name in map(node_name, [*fetches, *_of_collections(metagraph)]) if name in known}
    options = None if config_proto is None else config_proto.graph_options.rewrite_options
    graph = metagraph.graph_def if options is None or not _strips(options) else _stripped(metagraph.graph_def)
    graph = extract_sub_graph(graph, kept)
    return fold_constants(graph, [], sorted(kept), {}) if options is None or _folds(options) else graph


def _of_collections(metagraph: meta_graph_pb2.MetaGraphDef) -> list[str]:
    """The nodes and tensors that the collections name, by themselves or as parts of variables."""
    names = [as_text(value) for one in metagraph.collection_def.values() for value in one.node_list.value]
    for key in _VARIABLES:
        collection = metagraph.collection_def.get(key)
        for data in () if collection is None else collection.bytes_list.value:
            variable = variable_pb2.VariableDef.FromString(data)
            names += [variable.variable_name, variable.initializer_name, variable.snapshot_name]
    return names


def _stripped(graph_def: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """A copy in which assertions do nothing, and what prints or checks a tensor hands it on."""
    copy = graph_pb2.GraphDef.FromString(graph_def.SerializeToString())
    for node in copy.node:
        if node.op in ("Assert", "PrintV2"):
            node.op, handed_on = "NoOp", 0
        elif node.op in ("CheckNumerics", "Print"):
            node.op, handed_on = "Identity", 1
        else:
            continue
        waited = [name if name.startswith("^") else f"^{node_name(name)}" for name in node.input[handed_on:]]
        node.input[handed_on:] = list(dict.fromkeys(waited))
        for attr in [attr for attr in node.attr if attr != "T" or not handed_on]:
            del node.attr[attr]
    return copy


def _strips(options: Any) -> bool:
    if options.optimizers:
        return "debug_stripper" in options.optimizers and not options.disable_meta_optimizer
    return bool(options.debug_stripper == RewriterConfig.ON) and not options.disable_meta_optimizer


def _folds(options: Any) -> bool:
    if options.disable_meta_optimizer:
        return False
    if options.optimizers:
        return bool({"constfold", "constant_folding"} & set(options.optimizers))
    return bool(options.constant_folding != RewriterConfig.OFF)
