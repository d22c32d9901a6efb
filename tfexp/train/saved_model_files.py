"""What is in a SavedModel's folder. Source: `tensorflow.python.tools.saved_model_utils`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

from tfexp.train.saved_model_loader import parse_saved_model


def read_saved_model(saved_model_dir: Any) -> Any:
    """The SavedModel's message. OSError where there is none."""
    return parse_saved_model(saved_model_dir)


def get_saved_model_tag_sets(saved_model_dir: Any) -> list[list[str]]:
    """The tags of each of its MetaGraphs."""
    return [list(meta_graph.meta_info_def.tags) for meta_graph in read_saved_model(saved_model_dir).meta_graphs]


def get_meta_graph_def(saved_model_dir: Any, tag_set: str) -> MetaGraphDef:
    """The MetaGraph with exactly these tags, joined by commas. RuntimeError where there is none, naming those there are."""
    wanted = set(tag_set.split(","))
    saved_model = read_saved_model(saved_model_dir)
    for meta_graph in saved_model.meta_graphs:
        if set(meta_graph.meta_info_def.tags) == wanted:
            found: MetaGraphDef = meta_graph
            return found
    there = [",".join(meta_graph.meta_info_def.tags) for meta_graph in saved_model.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set {tag_set} could not be found in the SavedModel. Please use one of the "
        f"following tag-sets: {there}"
    )
