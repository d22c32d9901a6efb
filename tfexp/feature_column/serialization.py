"""Columns as configs, {"class_name": …, "config": the column's fields}, and back. Source: `tf.keras.layers.DenseFeatures`,
TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import Any, TypeVar

from tfexp.core.dtypes import DType, as_dtype
from tfexp.keras import initializers
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object

_CLASSES: dict[str, type] = {}

Column = TypeVar("Column", bound=type)


def in_configs(column: Column) -> Column:
    """A class decorator: columns of this class are known in configs by its name."""
    _CLASSES[column.__name__] = column
    return column


def config_of(column: Any) -> dict[str, Any]:
    """A column's fields; columns and names of features among them come along."""
    return {name: _serialized(value) for name, value in column._asdict().items()}


def from_config(
    made: Any, config: dict[str, Any], custom_objects: dict[str, Any] | None, columns_by_name: dict[str, Any] | None
) -> Any:
    """The column of class `made` with these fields, all of them; functions are found among `custom_objects`."""
    if not config.keys() >= set(made._fields):
        raise ValueError(f"Invalid config: {config}, expected keys: {made._fields}")
    fields = {name: value for name, value in config.items() if name in made._fields}
    return made(**{name: _field(name, value, custom_objects, columns_by_name) for name, value in fields.items()})


def serialize(column: Any) -> Any:
    """A column's class and config; the name of a feature as it is. ValueError for anything else."""
    if isinstance(column, str):
        return column
    if inspect.isclass(column) or not hasattr(column, "_get_config"):
        raise ValueError(f"Instance: {column} is not a FeatureColumn")
    return {"class_name": type(column).__name__, "config": column._get_config()}


def name_with_class(column: Any) -> str:
    """What a column is known by among those that are there already."""
    return f"{type(column).__name__}:{column.name}"


def deserialize(
    config: Any, custom_objects: dict[str, Any] | None = None, columns_by_name: dict[str, Any] | None = None
) -> Any:
    """The column of a config; the name of a feature as it is.

    columns_by_name: the columns that are there already, of which there shall be no other; what is made joins them.
    ValueError for what is no config, and for a class that is neither a column's nor among `custom_objects`.
    """
    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or not {"class_name", "config"} <= set(config):
        raise ValueError(f"Improper config format: {config}")
    known = {**_CLASSES, **(custom_objects or {})}
    if config["class_name"] not in known:
        raise ValueError(f"Unknown feature_column_v2: {config['class_name']}. There are {sorted(known)}")
    made = known[config["class_name"]]._from_config(config["config"], custom_objects, columns_by_name)
    return made if columns_by_name is None else columns_by_name.setdefault(name_with_class(made), made)


def serialize_all(columns: Iterable[Any]) -> list[Any]:
    """`serialize` of each."""
    return [serialize(column) for column in columns]


def deserialize_all(configs: Iterable[Any], custom_objects: dict[str, Any] | None = None) -> list[Any]:
    """`deserialize` of each: where two of them have the same column inside, that is one."""
    made: dict[str, Any] = {}
    return [deserialize(config, custom_objects, made) for config in configs]


def _serialized(value: Any) -> Any:
    """A field's value: a column, a type, a function or initializer, several of these, or what is a config itself."""
    if hasattr(value, "_get_config"):
        return serialize(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, tuple):
        return tuple(_serialized(one) for one in value)
    return serialize_keras_object(value) if callable(value) else value


def _field(name: str, value: Any, custom_objects: dict[str, Any] | None, columns_by_name: dict[str, Any] | None) -> Any:
    if value is None:
        return None
    if name == "dtype":
        return as_dtype(value)
    if name == "initializer":
        return initializers.deserialize(value, custom_objects)
    if name == "normalizer_fn":
        return deserialize_keras_object(value, custom_objects=custom_objects, printable_module_name="normalizer_fn")
    if isinstance(value, (list, tuple)):
        return tuple(_field("", one, custom_objects, columns_by_name) for one in value)
    return deserialize(value, custom_objects, columns_by_name) if isinstance(value, dict) else value
