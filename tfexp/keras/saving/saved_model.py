"""Models as SavedModels: of objects (`save_objects`), or a graph and the architecture as JSON (`export_saved_model`).

    assets/saved_model.json     what `to_json` gives; not with a subclassed model
    saved_model.pb              one graph, tagged "serve", with the signature "serving_default"
    variables/variables.*       a checkpoint as `save_weights` writes it

Source: `tf.keras.experimental.export_saved_model` and `load_from_saved_model`, TF 1.15.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras import backend
from tfexp.keras.engine.cloning import clone_model
from tfexp.keras.engine.model_text import model_from_config
from tfexp.keras.saving.layer_functions import beside_each_layer
from tfexp.keras.saving.revived import revived_model
from tfexp.keras.saving.tensorflow_metadata import tensorflow_metadata
from tfexp.keras.saving.training_config import compile_arguments, make_optimizer_variables
from tfexp.keras.saving.weights import load_weights, write_checkpoint
from tfexp.keras.serialization import UnknownObjectError, custom_object_scope
from tfexp.keras.training.feeding import as_inputs_of
from tfexp.runtime.session import Session
from tfexp.train import saved_model_names as names
from tfexp.train.object_graph import object_graph, saveables
from tfexp.train.object_models.saving import save
from tfexp.train.saved_model_builder import SavedModelBuilder
from tfexp.train.saved_model_loader import maybe_saved_model_directory
from tfexp.train.saver import Saver
from tfexp.train.signatures import predict_signature_def

_MODEL_JSON = "saved_model.json"


def export_saved_model(
    model: Any,
    saved_model_path: Any,
    custom_objects: Mapping[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes a model into a folder that is empty or not there (AssertionError otherwise), for `load_from_saved_model`.

    as_text: the graph as text. serving_only: without what `load_from_saved_model` needs, which a subclassed model never
    has. NotImplementedError: a subclassed model without `serving_only`. ValueError: a model that has never been called.
    input_signature: for TensorFlow's callers; the inputs are the model's.
    """
    path = os.fspath(saved_model_path)
    if not model._is_graph_network and not serving_only:
        raise NotImplementedError(
            "Exporting subclassed models is only supported in serving_only mode. Set serving_only=True to export only the "
            "inference (serving) graph."
        )
    if not model.inputs or not model.outputs:
        raise ValueError(
            f"Model {model.name} cannot be saved because the input shapes have not been set. Usually, input shapes are "
            "automatically determined from calling .fit() or .predict(). To manually set the shapes, call "
            "model._set_inputs(inputs)."
        )
    builder = SavedModelBuilder(path)
    write_checkpoint(model, os.path.join(path, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME))
    builder.use_saved_variables()
    with custom_object_scope(custom_objects or {}):
        _add_serving_graph(builder, model)
    if not serving_only:
        _write_asset(path, _MODEL_JSON, model.to_json())
    builder.save(as_text)


def _add_serving_graph(builder: SavedModelBuilder, model: Any) -> None:
    """Adds the graph of a copy of the model; of the model itself, with all that is around it, when it has no copies."""
    if not model._is_graph_network:
        _add_graph_of(builder, model)
        return
    with Graph().as_default() as graph, Session(graph=graph).as_default(), backend.learning_phase_scope(0):
        _add_graph_of(builder, clone_model(model))


def _add_graph_of(builder: SavedModelBuilder, model: Any) -> None:
    signature = predict_signature_def(
        dict(zip(model.input_names, model.inputs, strict=True)),
        dict(zip(model.output_names, model.outputs, strict=True)),
    )
    with model.outputs[0].graph.as_default():
        # Its keys are those of the checkpoint that the model itself wrote.
        saver = Saver(saveables(object_graph(model).values), allow_empty=True)
        builder.add_meta_graph(
            [names.SERVING], signature_def_map={names.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signature}, saver=saver
        )


def _asset(path: str, name: str) -> Path:
    return Path(path) / names.ASSETS_DIRECTORY / name


def _write_asset(path: str, name: str, text: str) -> None:
    file = _asset(path, name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def save_objects(
    model: Any, path: str, overwrite: bool = True, include_optimizer: bool = True, signatures: Any = None
) -> None:
    """`save_model(save_format="tf")`: the SavedModel of the model as an object, each layer with its configuration.

    signatures: as `tf.saved_model.save` takes them. ValueError: a model that has never been called, or a SavedModel in the
    way that is not to be overwritten.
    """
    if not model.inputs:
        raise ValueError(
            f"Model {model} cannot be saved because the input shapes have not been set. Usually, input shapes are "
            "automatically determined from calling .fit() or .predict(). To manually set the shapes, call "
            "model._set_inputs(inputs)."
        )
    if is_saved_model(path):
        if not overwrite:
            raise ValueError(f"There is a SavedModel at {path} already, and overwrite=False")
        _remove_saved_model(path)
    optimizer = getattr(model, "optimizer", None)
    session = contextlib.nullcontext() if executing_eagerly() else backend.get_session().as_default()
    try:
        if not include_optimizer:
            model.optimizer = None
        with session, beside_each_layer(model):
            save(model, path, signatures)
    finally:
        model.optimizer = optimizer


def _remove_saved_model(path: str) -> None:
    """Removes the files that this module writes, and nothing else."""
    root = Path(path)
    files = [root / names.SAVED_MODEL_FILENAME_PB, root / names.SAVED_MODEL_FILENAME_PBTXT]
    files.append(_asset(path, _MODEL_JSON))
    variables = root / names.VARIABLES_DIRECTORY
    files += [*variables.glob(f"{names.VARIABLES_FILENAME}.*"), variables / "checkpoint"]
    for file in files:
        file.unlink(missing_ok=True)


def is_saved_model(path: str) -> bool:
    """Whether the folder has a SavedModel."""
    return maybe_saved_model_directory(path)


def load_from_saved_model(
    saved_model_path: Any, custom_objects: Mapping[str, Any] | None = None, compile: bool = True
) -> Any:
    """The model that `export_saved_model` wrote; compiled, with its optimizer's state, if it was saved with that.

    Models that were saved with `model.save(save_format="tf")` come back, too, here and by TensorFlow. Subclasses, and models
    with layers of unknown classes, are then made of the functions that were saved with them.
    OSError: the folder has no model of Keras.
    """
    path = os.fspath(saved_model_path)
    architecture, training = _described(path)
    with custom_object_scope(custom_objects or {}):
        model = _made(path, architecture, custom_objects)
        if compile and training is not None:
            model.compile(**compile_arguments(training, custom_objects))
            if model.inputs:
                make_optimizer_variables(model)
    if not model.built or model.weights:
        load_weights(model, os.path.join(path, names.VARIABLES_DIRECTORY, names.VARIABLES_FILENAME))
    return model


def _made(path: str, architecture: dict[str, Any] | None, custom_objects: Mapping[str, Any] | None) -> Any:
    """The model of an architecture; where there is none, or its classes are not known, one of functions."""
    if architecture is None:
        return revived_model(path)
    try:
        model = model_from_config(architecture, custom_objects)
    except UnknownObjectError:
        if _asset(path, _MODEL_JSON).is_file():  # there are no functions of layers
            raise
        return revived_model(path)
    by_name = isinstance(model._built_shape, Mapping)  # nothing says the types of such inputs before there are data
    if not model.inputs and model._built_shape is not None and not by_name:
        as_inputs_of(model, [backend.placeholder(model._built_shape)])
    return model


def _described(path: str) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The architecture in a folder, None of a subclass's, and how the model is trained if that is there."""
    file = _asset(path, _MODEL_JSON)
    if file.is_file():
        return json.loads(file.read_text(encoding="utf-8")), None
    found = tensorflow_metadata(path)
    if found is None:
        raise OSError(
            f"{path} has no architecture of a Keras model: it was exported for serving only, or is not of Keras. "
            "tf.saved_model.loader.load reads any graph."
        )
    known = "config" in found
    architecture = {"class_name": found["class_name"], "config": found["config"]} if known else None
    return architecture, found.get("training_config")
