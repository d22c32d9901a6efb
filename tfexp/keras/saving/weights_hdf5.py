"""Layers' weights in an HDF5 group: a group for each layer, a data set for each weight, their orders in attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.keras import backend
from tfexp.keras.engine.model_text import KERAS_VERSION
from tfexp.keras.saving.hdf5 import read_texts, text_of, write_texts
from tfexp.keras.saving.older_weights import preprocess_weights_for_loading


def _weights(layer: Any) -> list[Any]:
    """In the order of the files: the trainable ones first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def save_weights_to_hdf5_group(group: Any, layers: Sequence[Any]) -> None:
    """Writes the layers' weights into an open file or group."""
    write_texts(group, "layer_names", [layer.name for layer in layers])
    group.attrs["backend"] = b"tensorflow"
    group.attrs["keras_version"] = KERAS_VERSION.encode("utf8")
    values = iter(backend.batch_get_value([weight for layer in layers for weight in _weights(layer)]))
    for layer in layers:
        kept = group.require_group(layer.name)  # which is there if another's name goes on from it with a slash
        named = [(weight.name, next(values)) for weight in _weights(layer)]
        write_named_arrays(kept, named)


def write_named_arrays(group: Any, named: Sequence[tuple[str, Any]]) -> None:
    """Data sets by names, which may have slashes, and the names' order as attribute `weight_names`."""
    write_texts(group, "weight_names", [name for name, _ in named])
    for name, value in named:
        array = np.asarray(value)
        dataset = group.create_dataset(name, array.shape, dtype=array.dtype)
        dataset[() if array.ndim == 0 else slice(None)] = array


def read_arrays(group: Any) -> list[Any]:
    """The arrays that `write_named_arrays` wrote, in order."""
    return [np.asarray(group[name]) for name in read_texts(group, "weight_names")]


def _origin(group: Any) -> tuple[str, str | None]:
    """Which Keras wrote it, and on which back end. Keras 1 does not say."""
    version = text_of(group.attrs["keras_version"]) if "keras_version" in group.attrs else "1"
    backend_name = text_of(group.attrs["backend"]) if "backend" in group.attrs else None
    return version, backend_name


def load_weights_from_hdf5_group(group: Any, layers: Sequence[Any]) -> None:
    """Gives the layers the weights of a file, layer by layer in order.

    ValueError: the file has another number of layers with weights, or a layer another number of weights.
    """
    origin = _origin(group)
    own = [layer for layer in layers if _weights(layer)]
    saved = [name for name in read_texts(group, "layer_names") if read_texts(group[name], "weight_names")]
    if len(saved) != len(own):
        raise ValueError(
            f"You are trying to load a weight file containing {len(saved)} layers into a model with {len(own)} layers."
        )
    pairs = []
    for number, (name, layer) in enumerate(zip(saved, own, strict=True)):
        values = preprocess_weights_for_loading(layer, read_arrays(group[name]), *origin)
        weights = _weights(layer)
        if len(values) != len(weights):
            raise ValueError(
                f'Layer #{number} (named "{layer.name}" in the current model) was found to correspond to layer {name} in '
                f"the save file. However the new layer {layer.name} expects {len(weights)} weights, but the saved weights "
                f"have {len(values)} elements."
            )
        for weight, value in zip(weights, values, strict=True):
            _check_shape(number, layer, weight, value)
        pairs += list(zip(weights, values, strict=True))
    backend.batch_set_value(pairs)


def load_weights_from_hdf5_group_by_name(group: Any, layers: Sequence[Any]) -> None:
    """Gives those layers the weights of a file that have a name which is in the file; the others keep theirs.

    ValueError: such a layer has another number of weights, or weights of other shapes.
    """
    origin = _origin(group)
    named: dict[str, list[Any]] = {}
    for layer in layers:
        named.setdefault(layer.name, []).append(layer)
    pairs = []
    for number, name in enumerate(read_texts(group, "layer_names")):
        for layer in named.get(name, ()):
            weights = _weights(layer)
            values = preprocess_weights_for_loading(layer, read_arrays(group[name]), *origin)
            if len(values) != len(weights):
                raise ValueError(
                    f'Layer #{number} (named "{layer.name}") expects {len(weights)} weight(s), but the saved weights have '
                    f"{len(values)} element(s)."
                )
            for weight, value in zip(weights, values, strict=True):
                _check_shape(number, layer, weight, value)
                pairs.append((weight, value))
    backend.batch_set_value(pairs)


def _check_shape(number: int, layer: Any, weight: Any, value: Any) -> None:
    wanted = tuple(weight.shape.as_list())
    if wanted != np.shape(value):
        raise ValueError(
            f'Layer #{number} (named "{layer.name}"), weight {weight.name} has shape {wanted}, but the saved weight has '
            f"shape {np.shape(value)}."
        )
