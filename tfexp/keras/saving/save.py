"""`tf.keras.models.save_model` and `load_model`. Source: TF 1.15."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from tfexp.keras.engine.sequential import Sequential
from tfexp.keras.saving.hdf5 import HDF5_ENDINGS, is_open_file
from tfexp.keras.saving.model_hdf5 import load_model_from_hdf5, save_model_to_hdf5
from tfexp.keras.saving.saved_model import is_saved_model, load_from_saved_model, save_objects
from tfexp.keras.saving.weights import is_hdf5
from tfexp.keras.serialization import custom_object_scope


def save_model(
    model: Any,
    filepath: Any,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
) -> None:
    """Writes a model: architecture, weights and, if it was compiled, how it is trained and how far that is.

    save_format: "h5" (HDF5, the default) or "tf" (a SavedModel in a folder; `signatures` are then those of serving).
    overwrite: False asks on the terminal before a file is written over.
    NotImplementedError: a subclassed model in HDF5, which has no configuration.
    """
    if (save_format or "h5") == "h5" or is_open_file(filepath) or os.path.splitext(os.fspath(filepath))[1] in HDF5_ENDINGS:
        if not model._is_graph_network and not isinstance(model, Sequential):
            raise NotImplementedError(
                "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It does "
                "not work for subclassed models, because such models are defined via the body of a Python method, which "
                "isn't safely serializable. Consider saving to the Tensorflow SavedModel format (by setting "
                'save_format="tf") or using `save_weights`.'
            )
        save_model_to_hdf5(model, filepath, overwrite, include_optimizer)
    else:
        save_objects(model, os.fspath(filepath), overwrite, include_optimizer, signatures)


def load_model(filepath: Any, custom_objects: Mapping[str, Any] | None = None, compile: bool = True) -> Any:
    """The model that `save_model` wrote to a path (or open HDF5 file).

    custom_objects: classes and functions by the names that the file has. compile: also compile it as it was.
    OSError: there is no model.
    """
    with custom_object_scope(custom_objects or {}):
        if is_open_file(filepath) or is_hdf5(os.fspath(filepath)):
            return load_model_from_hdf5(filepath, custom_objects, compile)
        path = os.fspath(filepath)
        if not os.path.exists(path):
            raise OSError(f"SavedModel file does not exist at: {path}")
        if not is_saved_model(path):
            raise OSError(
                f"Unable to load model {path}. Filepath is not an hdf5 file (or h5py is not available) or SavedModel."
            )
        return load_from_saved_model(path, custom_objects, compile=compile)
