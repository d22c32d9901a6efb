"""Layers as configs: {"class_name": …, "config": …}, and back. Source: `tf.keras.layers.serialize`, TF 1.15."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any

from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object

# Where a class is looked up, in this order. The public names have those, too, that are built on Keras's layers elsewhere.
_ROOMS = (
    "tfexp.keras.layers",
    "tfexp.api.keras.layers",
    "tfexp.keras.engine.operation_layer",
    "tfexp.keras.engine.added",
    "tfexp.keras.engine.network",
    "tfexp.keras.engine.model",
    "tfexp.keras.engine.sequential",
    "tfexp.keras.premade.linear",
    "tfexp.keras.premade.wide_deep",
)


class _Classes(Mapping[str, Any]):
    """The classes of layers and models, by name."""

    def __getitem__(self, name: str) -> Any:
        for room in _ROOMS:
            found = getattr(importlib.import_module(room), name, None)
            if isinstance(found, type):
                return found
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        for room in _ROOMS:
            yield from vars(importlib.import_module(room))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def serialize(layer: Any) -> Any:
    """A layer's class and config."""
    return serialize_keras_object(layer)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The layer, or model, of a config; its class is looked for among `custom_objects` first. ValueError if unknown."""
    return deserialize_keras_object(
        config, module_objects=_Classes(), custom_objects=custom_objects, printable_module_name="layer"
    )
