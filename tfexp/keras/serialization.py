"""Objects by name: what a configuration says (`{"class_name": …, "config": …}`, or a name alone) and back.

Names are looked up among custom objects first (those given, then those of the enclosing scopes), then in a namespace.
Source: `tf.keras.utils.serialize_keras_object`, `custom_object_scope` and their siblings, TF 1.15.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Self

_custom_objects: dict[str, Any] = {}


class UnknownObjectError(ValueError):
    """A configuration names what is not there."""


class CustomObjectScope:
    """`with CustomObjectScope({"name": an_object}, …):` finds these objects by name; afterwards all is as before."""

    def __init__(self, *args: Mapping[str, Any]):
        self.custom_objects = args
        self.backup: dict[str, Any] = {}

    def __enter__(self) -> Self:
        self.backup = dict(_custom_objects)
        for objects in self.custom_objects:
            _custom_objects.update(objects)
        return self

    def __exit__(self, *exc: Any) -> None:
        _custom_objects.clear()
        _custom_objects.update(self.backup)


def custom_object_scope(*args: Mapping[str, Any]) -> CustomObjectScope:
    """A block in which these objects, dictionaries from name to object, are found by name."""
    return CustomObjectScope(*args)


def get_custom_objects() -> dict[str, Any]:
    """The dictionary of custom objects itself: what is put into it is found by name from here on."""
    return _custom_objects


def serialize_keras_object(instance: Any) -> Any:
    """The class's name and the configuration of an object that has one; the name of a function; None of None.

    ValueError for what has neither.
    """
    if instance is None:
        return None
    if hasattr(instance, "get_config") and not inspect.isclass(instance):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError(f"Cannot serialize {instance!r}: it has neither `get_config` nor a name")


def class_and_config_for_serialized_keras_object(
    config: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
) -> tuple[Any, Any]:
    """The class (or function) that a configuration names, and what to make an instance from. ValueError for neither."""
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    found = _find(name, module_objects, custom_objects)
    if found is None:
        raise UnknownObjectError(f"Unknown {printable_module_name}: {name}")
    return found, config["config"]


def deserialize_keras_object(
    identifier: Any,
    module_objects: Mapping[str, Any] | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """The object that `identifier` describes: a configuration, or the name of a class (an instance is made) or function.

    `module_objects`: names that may be found. Functions are handed back, and so is None. ValueError for unknown names and
    for what is no description; `printable_module_name` says there what was looked for.
    """
    if identifier is None or inspect.isfunction(identifier):
        return identifier
    if isinstance(identifier, dict):
        found, config = class_and_config_for_serialized_keras_object(
            identifier, module_objects, custom_objects, printable_module_name
        )
        with CustomObjectScope(custom_objects or {}):
            if not hasattr(found, "from_config"):
                return found(**config)
            if "custom_objects" in inspect.signature(found.from_config).parameters:
                return found.from_config(config, custom_objects=dict(_custom_objects))
            return found.from_config(config)
    if isinstance(identifier, str):
        found = _find(identifier, module_objects, custom_objects)
        if found is None:
            raise UnknownObjectError(f"Unknown {printable_module_name}:{identifier}")
        return found() if inspect.isclass(found) else found
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


def _find(name: str, module_objects: Mapping[str, Any] | None, custom_objects: Mapping[str, Any] | None) -> Any:
    for objects in (custom_objects, _custom_objects, module_objects):
        if objects and name in objects:
            return objects[name]
    return None
