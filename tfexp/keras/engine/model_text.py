"""Models as text: `to_json`, `to_yaml` and back. Source: `tf.keras.models.model_from_json` and its siblings, TF 1.15."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.shape import Dimension, TensorShape
from tfexp.keras.serialization import serialize_keras_object

KERAS_VERSION = "2.2.4-tf"


def described(model: Any) -> dict[str, Any]:
    """The model's class and configuration, and whose they are."""
    return {**serialize_keras_object(model), "keras_version": KERAS_VERSION, "backend": "tensorflow"}


def plain(value: Any) -> Any:
    """What JSON writes for objects that it does not know: NumPy's values, types, shapes. TypeError for others."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, type) or callable(value):
        return value.__name__
    raise TypeError(f"Not JSON Serializable: {value}")


def to_json(model: Any, **kwargs: Any) -> str:
    """The model's architecture as JSON. kwargs: of `json.dumps`."""
    return json.dumps(described(model), default=plain, **kwargs)


def to_yaml(model: Any, **kwargs: Any) -> str:
    """The model's architecture as YAML. kwargs: of `yaml.dump`."""
    import yaml

    # By way of JSON: no tuples, which YAML would write as Python's.
    return str(yaml.dump(json.loads(to_json(model)), **kwargs))


def model_from_config(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The model of a configuration with its class. TypeError for a list: that is `Sequential.from_config`'s."""
    from tfexp.keras.layers.serialization import deserialize  # layers stand above the engine, which finds them by name

    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use `Sequential.from_config(config)`?"
        )
    return deserialize(config, custom_objects=custom_objects)


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The model, with new values in its variables, that `to_json` described."""
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The model, with new values in its variables, that `to_yaml` described."""
    import yaml

    return model_from_config(yaml.safe_load(yaml_string), custom_objects)
