"""A whole model in an HDF5 file: architecture and training as JSON attributes, weights, the optimizer's state."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from tfexp.core.log import get_logger
from tfexp.keras import backend
from tfexp.keras.engine.model_text import KERAS_VERSION, model_from_config
from tfexp.keras.optimizers import TFOptimizer
from tfexp.keras.saving.hdf5 import h5py_for, is_open_file, text_of
from tfexp.keras.saving.overwriting import may_write
from tfexp.keras.saving.training_config import as_json, compile_arguments, make_optimizer_variables, training_config
from tfexp.keras.saving.weights_hdf5 import (
    load_weights_from_hdf5_group,
    read_arrays,
    save_weights_to_hdf5_group,
    write_named_arrays,
)
from tfexp.keras.serialization import serialize_keras_object


@contextlib.contextmanager
def _opened(filepath: Any, mode: str, purpose: str) -> Iterator[Any]:
    """The file of that path; one that is open already is left open."""
    if is_open_file(filepath):
        yield filepath
        return
    with h5py_for(purpose).File(os.fspath(filepath), mode) as file:
        yield file


def save_model_to_hdf5(model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
    """Writes the model to a path or an open file. include_optimizer: with how it is trained, if it was compiled."""
    h5py_for("save_model")
    if not is_open_file(filepath) and not may_write(os.fspath(filepath), overwrite):
        return
    model._assert_weights_created()
    described = serialize_keras_object(model)
    with _opened(filepath, "w", "save_model") as file:
        file.attrs["keras_version"] = KERAS_VERSION.encode("utf8")
        file.attrs["backend"] = b"tensorflow"
        file.attrs["model_config"] = json.dumps(described, default=as_json).encode("utf8")
        save_weights_to_hdf5_group(file.create_group("model_weights"), model.layers)
        if include_optimizer and getattr(model, "optimizer", None) is not None:
            _save_training(model, file)


def _save_training(model: Any, file: Any) -> None:
    if isinstance(model.optimizer, TFOptimizer):
        get_logger().warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state after "
            "instantiation. As a result, we cannot save the optimizer as part of the model save file. You will have to "
            "compile your model again after loading it. Prefer using a Keras optimizer instead (see keras.io/optimizers)."
        )
        return
    file.attrs["training_config"] = json.dumps(training_config(model), default=as_json).encode("utf8")
    weights = list(model.optimizer.weights)
    if weights:
        named = zip([weight.name for weight in weights], backend.batch_get_value(weights), strict=True)
        write_named_arrays(file.create_group("optimizer_weights"), list(named))


def load_model_from_hdf5(filepath: Any, custom_objects: Mapping[str, Any] | None = None, compile: bool = True) -> Any:
    """The model in a file; compiled as it was, with its optimizer's state, if the file says and `compile` wants it.

    ValueError: there are only weights in the file.
    """
    h5py_for("load_model")
    with _opened(filepath, "r", "load_model") as file:
        if "model_config" not in file.attrs:
            raise ValueError("No model found in config file.")
        model = model_from_config(json.loads(text_of(file.attrs["model_config"])), custom_objects)
        load_weights_from_hdf5_group(file["model_weights"], model.layers)
        if compile:
            if "training_config" not in file.attrs:
                get_logger().warning(
                    "No training configuration found in save file: the model was *not* compiled. Compile it manually."
                )
                return model
            config = json.loads(text_of(file.attrs["training_config"]))
            model.compile(**compile_arguments(config, custom_objects))
            if "optimizer_weights" not in file:
                return model
            if not model._is_graph_network:  # its optimizer's variables are made when it has seen data
                get_logger().warning(
                    "Sequential models without an `input_shape` passed to the first layer cannot reload their optimizer "
                    "state. As a result, your model is starting with a freshly initialized optimizer."
                )
            else:
                _restore_optimizer(model, load_optimizer_weights_from_hdf5_group(file))
    return model


def load_optimizer_weights_from_hdf5_group(hdf5_group: Any) -> list[Any]:
    """The arrays of the optimizer's state, as its `set_weights` takes them. KeyError where a file has none."""
    return read_arrays(hdf5_group["optimizer_weights"])


def _restore_optimizer(model: Any, values: list[Any]) -> None:
    make_optimizer_variables(model)
    try:
        model.optimizer.set_weights(values)
    except ValueError:
        get_logger().warning(
            "Error in loading the saved optimizer state. As a result, your model is starting with a freshly initialized "
            "optimizer."
        )
