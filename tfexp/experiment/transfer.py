"""Settings as plain data, for the tasks of a run: JSON's types out, the same settings in, every check made again."""

from __future__ import annotations

import dataclasses
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_type_hints

from tfexp.experiment.schema import Section, Settings, resolve

__all__ = ["from_plain", "to_plain"]

Plain = dict[str, Any]


def to_plain(settings: Settings) -> Plain:
    """{section: {"target": "module:Class", "values": {field: value}}}"""
    return {
        field.name: {"target": _target(getattr(settings, field.name)), "values": _plain(getattr(settings, field.name))}
        for field in dataclasses.fields(settings)
    }


def from_plain(plain: Plain) -> Settings:
    """The settings that `to_plain` was given. Raises SettingError for a class or value that does not fit."""
    sections = {name: _section(resolve(part["target"], Section), part["values"]) for name, part in plain.items()}
    return Settings(**sections)


def _target(section: Any) -> str:
    return f"{type(section).__module__}:{type(section).__qualname__}"


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _section(kind: type, values: Plain) -> Any:
    hints = get_type_hints(kind)
    return kind(**{name: _read(hints[name], value) for name, value in values.items()})


def _read(hint: Any, value: Any) -> Any:
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint[value]
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _section(hint, value)
    if isinstance(value, list):
        return tuple(_read(get_args(hint)[0], item) for item in value)
    for choice in get_args(hint):  # X | None
        if value is not None and choice is not NoneType:
            return _read(choice, value)
    return value
