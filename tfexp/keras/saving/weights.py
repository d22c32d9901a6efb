"""`save_weights` and `load_weights` of models: HDF5, or a checkpoint by structure. Source: `tf.keras.Model`, TF 1.15."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tfexp.formats import checkpoint_state
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras import backend
from tfexp.keras.saving.hdf5 import HDF5_ENDINGS, h5py_for
from tfexp.keras.saving.overwriting import may_write
from tfexp.keras.saving.weights_hdf5 import (
    load_weights_from_hdf5_group,
    load_weights_from_hdf5_group_by_name,
    save_weights_to_hdf5_group,
)
from tfexp.train.root_checkpoint import RootCheckpoint

_FORMATS = {"tensorflow": "tf", "tf": "tf", "hdf5": "h5", "h5": "h5", "keras": "h5"}


def save_weights(model: Any, filepath: Any, overwrite: bool = True, save_format: str | None = None) -> None:
    """Writes the model's weights: HDF5 for paths that end so (or `save_format="h5"`), else a checkpoint of that prefix.

    overwrite: False asks on the terminal before a file is written over. ValueError: another format, or a checkpoint that
    would look like HDF5.
    """
    model._assert_weights_created()
    filepath = os.fspath(filepath)
    looks_like_hdf5 = filepath.endswith(HDF5_ENDINGS)
    if save_format is None:
        save_format = "h5" if looks_like_hdf5 else "tf"
    else:
        asked = save_format.lower().strip()
        if asked not in _FORMATS:
            raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
        save_format = _FORMATS[asked]
    if save_format == "tf" and looks_like_hdf5:
        raise ValueError(
            f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{filepath}") looks like an HDF5 file. Omit '
            'the ".h5"/".keras" when saving in TensorFlow format.'
        )
    if save_format == "h5":
        h5py = h5py_for("save_weights")
        if may_write(filepath, overwrite):
            with h5py.File(filepath, "w") as file:
                save_weights_to_hdf5_group(file, model.layers)
    elif may_write(filepath, overwrite, f"{filepath}.index"):
        write_checkpoint(model, filepath)


def write_checkpoint(model: Any, filepath: str) -> None:
    """Writes the checkpoint of that prefix, and has the folder's `checkpoint` name it."""
    folder = os.path.dirname(filepath)
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
    RootCheckpoint.of(model).write(filepath, session=_session())
    checkpoint_state.update_checkpoint_state(folder or ".", filepath, [filepath], save_relative_paths=True)


def _session() -> Any:
    return None if executing_eagerly() else backend.get_session()


def load_weights(model: Any, filepath: Any, by_name: bool = False) -> Any:
    """Gives the model the weights of a file that `save_weights` wrote; for a checkpoint, its load status.

    Variables that a model or its optimizer does not have yet get the values of a checkpoint as they are made.
    by_name: (HDF5) only layers whose name is in the file get weights. NotImplementedError: by_name with a checkpoint, or
    HDF5 for a subclass that has no variables yet. ValueError: weights do not fit.
    """
    filepath = os.fspath(filepath)
    if not filepath.endswith(HDF5_ENDINGS) and not is_hdf5(filepath):
        if by_name:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted weights (got "
                "by_name=True to load_weights)."
            )
        status = RootCheckpoint.of(model).restore(filepath)
        if not executing_eagerly():
            status.restore_streaming(backend.get_session())
        if model.built:
            status.assert_nontrivial_match()
        return status
    h5py = h5py_for("load_weights")
    if not model._is_graph_network and not model.built:
        raise NotImplementedError(
            "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its variables yet. "
            "Call the Model first, then load the weights."
        )
    model._assert_weights_created()
    with h5py.File(filepath, "r") as file:
        group = file["model_weights"] if "layer_names" not in file.attrs and "model_weights" in file else file
        if by_name:
            load_weights_from_hdf5_group_by_name(group, model.layers)
        else:
            load_weights_from_hdf5_group(group, model.layers)
    return None


_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(filepath: str) -> bool:
    """Whether such a file is there and begins as HDF5 does."""
    path = Path(filepath)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_HDF5_SIGNATURE)) == _HDF5_SIGNATURE
