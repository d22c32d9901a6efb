"""The annotations of schema classes: which stands at a key, and what it is in words."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_type_hints

from tfexp.experiment.errors import SettingError

__all__ = ["hint_of", "in_words", "refuse_misplaced"]

_SCALARS = (bool, int, float, str, Enum)


def hint_of(kind: Any, key: str) -> Any:
    """The annotation of the field, or of the list's item, at the dotted `key`."""
    for part in key.split("."):
        name, bracket, _ = part.partition("[")
        kind = get_type_hints(kind)[name]
        if bracket:
            kind = get_args(kind)[0]
    return kind


def refuse_misplaced(kind: Any, values: Mapping[str, Any], inside: str = "") -> None:
    """Raises SettingError for a list or a mapping where the schema class `kind` has something else.

    OmegaConf takes either of them for an item of any list, and does not say at which key one stands for the other.
    """
    hints = get_type_hints(kind)
    for name, value in values.items():
        if name in hints:
            _refuse_misplaced(hints[name], value, f"{inside}{name}")


def _refuse_misplaced(hint: Any, value: Any, key: str) -> None:
    arguments = get_args(hint)
    if NoneType in arguments:
        _refuse_misplaced(next(argument for argument in arguments if argument is not NoneType), value, key)
    elif _is_of_many(hint) and isinstance(value, list):
        for at, item in enumerate(value):
            _refuse_misplaced(arguments[0], item, f"{key}[{at}]")
    elif dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        refuse_misplaced(hint, value, f"{key}.")
    elif isinstance(value, list | Mapping) and (
        _is_of_many(hint) or dataclasses.is_dataclass(hint) or (isinstance(hint, type) and issubclass(hint, _SCALARS))
    ):
        raise SettingError(key, f"'{value}' is not {in_words(hint)}")


def _is_of_many(hint: Any) -> bool:
    """Whether it is a tuple of any length."""
    return get_args(hint)[-1:] == (Ellipsis,)


def in_words(hint: Any) -> str:
    """The annotation in words."""
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", NoneType: "null"}
    if hint in names:
        return names[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"one of {', '.join(hint.__members__)}"
    if dataclasses.is_dataclass(hint):
        return f"a section with {', '.join(field.name for field in dataclasses.fields(hint))}"
    arguments = get_args(hint)
    if NoneType in arguments:
        return " or ".join(in_words(argument) for argument in arguments)
    if _is_of_many(hint):
        return "a list" if arguments[0] is Any else f"a list, each item {in_words(arguments[0])}"
    return str(hint)
