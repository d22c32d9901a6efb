"""From plain values, as YAML and JSON have them, to a section: what a setting holds that is a section, or a list of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, TypeVar, get_args, get_type_hints

from tfexp.experiment.errors import SettingError, no_such
from tfexp.experiment.hints import in_words
from tfexp.experiment.schema import Section

__all__ = ["read"]

S = TypeVar("S", bound=Section)


def read(kind: type[S], values: Mapping[str, Any]) -> S:
    """The section of class `kind` with these settings; those that are not given have their class's default.

    Raises SettingError, its key within the section, for one that is unknown, missing, of the wrong type or out of range.
    """
    hints, fields = get_type_hints(kind), {field.name: field for field in dataclasses.fields(kind)}
    for name in values:
        if name not in fields:
            raise SettingError(str(name), no_such("setting", str(name), fields))
    for name, field in fields.items():
        if name not in values and field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise SettingError(name, f"{in_words(hints[name])} must be given")
    return kind(**{name: _value(hints[name], value, name) for name, value in values.items()})


def _value(hint: Any, value: Any, key: str) -> Any:
    """`value` as the annotation `hint` has it."""
    choices = get_args(hint)
    if hint is Any:
        return value
    if isinstance(hint, type) and issubclass(hint, Enum):
        if isinstance(value, hint):
            return value
        if str(value) not in hint.__members__:
            raise SettingError(key, no_such("choice", str(value), hint.__members__))
        return hint[str(value)]
    if isinstance(hint, type) and issubclass(hint, Section) and isinstance(value, Mapping):
        try:
            return read(hint, value)
        except SettingError as error:
            raise error.under(key) from error.__cause__
    if choices and choices[-1] is Ellipsis and isinstance(value, list | tuple):
        return tuple(_value(choices[0], item, f"{key}[{at}]") for at, item in enumerate(value))
    if NoneType in choices:
        return None if value is None else _value(next(choice for choice in choices if choice is not NoneType), value, key)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(hint, type) and isinstance(value, hint) and (hint is bool or not isinstance(value, bool)):
        return value
    raise SettingError(key, f"{'null' if value is None else repr(value)} is not {in_words(hint)}")
