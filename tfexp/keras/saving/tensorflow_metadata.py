"""What SavedModels of Keras models say of the model and its layers: architecture and training, as JSON.

TensorFlow 1.15 keeps it with the objects in `saved_model.pb`, as is done here, later versions in `keras_metadata.pb` beside
that. The weights are a checkpoint by structure, as `save_weights` writes it.
"""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

from tfexp.core import nest
from tfexp.formats.protos import schema
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.keras.engine.input_layer import InputLayer
from tfexp.keras.engine.model_text import KERAS_VERSION
from tfexp.keras.engine.network import Network
from tfexp.keras.engine.shapes import map_shapes
from tfexp.keras.optimizers import TFOptimizer
from tfexp.keras.saving.training_config import as_json, training_config
from tfexp.keras.serialization import serialize_keras_object
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


def metadata_of(layer: Any) -> str:
    """What the SavedModel says of a layer, metric or model, from which it can be made again."""
    found = {
        "class_name": type(layer).__name__,
        "name": layer.name,
        "trainable": layer.trainable,
        "expects_training_arg": layer._takes("training"),
        "dtype": layer.dtype,
        "batch_input_shape": getattr(layer, "_batch_input_shape", None),
        "input_spec": nest.map_structure(serialize_keras_object, layer.input_spec),
        "activity_regularizer": _regularizer_of(layer),
    }
    with contextlib.suppress(NotImplementedError):  # subclasses need not have one
        found["config"] = layer.get_config()
    if not isinstance(layer, InputLayer) and hasattr(layer, "input_shape"):
        found["build_input_shape"] = map_shapes(_shape_as_json, layer.input_shape)
    if isinstance(layer, Network):
        found |= {"is_graph_network": layer._is_graph_network, "keras_version": KERAS_VERSION, "backend": "tensorflow"}
        if "config" in found:
            found["model_config"] = {"class_name": found["class_name"], "config": found["config"]}
        optimizer = getattr(layer, "optimizer", None)
        if optimizer is not None and not isinstance(optimizer, TFOptimizer):
            found["training_config"] = training_config(layer)
    return json.dumps(found, default=as_json)


def _regularizer_of(layer: Any) -> Any:
    """Of the regularizer of a layer's outputs what it can be made of again; None for a function, which is saved as such."""
    regularizer = layer.activity_regularizer
    return serialize_keras_object(regularizer) if hasattr(regularizer, "get_config") else None


def _shape_as_json(shape: Any) -> dict[str, Any]:
    return {"class_name": "TensorShape", "items": list(shape)}


def tensorflow_metadata(path: str) -> dict[str, Any] | None:
    """`class_name`, `config` and, of a compiled model, `training_config`; None where the folder has no such thing.

    A subclassed model has no `config`.
    """
    models = (one for identifier, one in metadata_by_object(path).values() if identifier in _MODEL and one is not None)
    return next(models, None)


def metadata_by_object(path: str) -> dict[int, tuple[str, dict[str, Any] | None]]:
    """{the number of an object in the folder's SavedModel: (what it is, what is said of it)}."""
    beside = Path(path) / _METADATA
    if beside.is_file():
        found = _types["KerasMetadata"]()
        found.ParseFromString(beside.read_bytes())
        described = {one.node_id: (one.identifier, one.metadata) for one in found.nodes}
    else:
        described = _in_saved_model(Path(path) / names.SAVED_MODEL_FILENAME_PB)
    return {
        number: (identifier, json.loads(text, object_hook=_as_1_15_has_it) if text else None)
        for number, (identifier, text) in described.items()
    }


def _in_saved_model(file: Path) -> dict[int, tuple[str, str]]:
    if not file.is_file():
        return {}
    saved = SavedModel()
    saved.ParseFromString(file.read_bytes())
    return {
        number: (node.user_object.identifier, node.user_object.metadata)
        for graph in saved.meta_graphs
        for number, node in enumerate(graph.object_graph_def.nodes)
        if node.HasField("user_object") and node.user_object.identifier.startswith("_tf_keras_")
    }


def _as_1_15_has_it(value: dict[str, Any]) -> Any:
    kind = value.get("class_name")
    if kind in ("__tuple__", "TensorShape") and "items" in value:
        return tuple(value["items"])
    return {**value, "class_name": "Model"} if kind == "Functional" else value
