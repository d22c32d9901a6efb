"""What TensorFlow's own SavedModels of Keras models say of the model: architecture and training, as JSON.

TensorFlow 1.15 keeps it with the objects in `saved_model.pb`, later versions in `keras_metadata.pb` beside that. The weights
are a checkpoint by structure, as `save_weights` writes it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tfexp.formats.protos import schema
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.train import saved_model_names as names

_METADATA = "keras_metadata.pb"
_MODEL = ("_tf_keras_network", "_tf_keras_sequential", "_tf_keras_model")

_types = schema.define(
    "keras_metadata",
    """
    message KerasObject
      node_id 2 int32
      node_path 3 string
      identifier 4 string
      metadata 5 string
    message KerasMetadata
      nodes 1 repeated KerasObject
    """,
)


def tensorflow_metadata(path: str) -> dict[str, Any] | None:
    """`class_name`, `config` and, of a compiled model, `training_config`; None where the folder has no such thing.

    A subclassed model has no `config`.
    """
    beside = Path(path) / _METADATA
    if beside.is_file():
        found = _types["KerasMetadata"]()
        found.ParseFromString(beside.read_bytes())
        described = [(one.identifier, one.metadata) for one in found.nodes]
    else:
        described = _in_saved_model(Path(path) / names.SAVED_MODEL_FILENAME_PB)
    text = next((metadata for identifier, metadata in described if identifier in _MODEL and metadata), None)
    return None if text is None else json.loads(text, object_hook=_as_1_15_has_it)


def _in_saved_model(file: Path) -> list[tuple[str, str]]:
    if not file.is_file():
        return []
    saved = SavedModel()
    saved.ParseFromString(file.read_bytes())
    nodes = [node for graph in saved.meta_graphs for node in graph.object_graph_def.nodes]
    return [(node.user_object.identifier, node.user_object.metadata) for node in nodes if node.HasField("user_object")]


def _as_1_15_has_it(value: dict[str, Any]) -> Any:
    kind = value.get("class_name")
    if kind in ("__tuple__", "TensorShape") and "items" in value:
        return tuple(value["items"])
    return {**value, "class_name": "Model"} if kind == "Functional" else value
