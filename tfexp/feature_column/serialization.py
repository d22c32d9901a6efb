"""Columns as configs, {"class_name": …, "config": the column's fields}, and back. Source: `tf.keras.layers.DenseFeatures`,
TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.dtypes import DType, as_dtype
from tfexp.feature_column import categorical, dense, numeric, sequence
from tfexp.feature_column.column import CategoricalColumn, DenseColumn
from tfexp.keras import initializers
from tfexp.keras.serialization import deserialize_keras_object, serialize_keras_object

_CLASSES = {
    column.__name__: column
    for room in (categorical, dense, numeric, sequence)
    for column in vars(room).values()
    if isinstance(column, type) and issubclass(column, (CategoricalColumn, DenseColumn)) and hasattr(column, "_fields")
}


def serialize(column: Any) -> Any:
    """A column's class and fields; columns and names of features inside it come along."""
    if isinstance(column, (CategoricalColumn, DenseColumn)):
        fields = column._asdict()  # type: ignore[union-attr]  # every one is a named tuple
        return {"class_name": type(column).__name__, "config": {name: serialize(value) for name, value in fields.items()}}
    if isinstance(column, DType):
        return column.name
    if isinstance(column, tuple):
        return [serialize(one) for one in column]
    return serialize_keras_object(column) if callable(column) else column


def deserialize(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The column of a config. ValueError for a class that there is not; functions are found among `custom_objects`."""
    if not isinstance(config, dict):
        return config
    if config.get("class_name") not in _CLASSES:
        raise ValueError(f"Unknown feature column: {config.get('class_name', config)}. There are {sorted(_CLASSES)}")
    made = _CLASSES[config["class_name"]]
    fields = {name: value for name, value in config["config"].items() if name in made._fields}
    return made(**{name: _field(name, value, custom_objects) for name, value in fields.items()})


def _field(name: str, value: Any, custom_objects: dict[str, Any] | None) -> Any:
    if value is None:
        return None
    if name == "dtype":
        return as_dtype(value)
    if name == "initializer":
        return initializers.deserialize(value, custom_objects)
    if name == "normalizer_fn":
        return deserialize_keras_object(value, custom_objects=custom_objects, printable_module_name="normalizer_fn")
    if isinstance(value, (list, tuple)):
        return tuple(deserialize(one, custom_objects) for one in value)
    return deserialize(value, custom_objects)
