"""The annotations of schema classes: which stands at a key, and what it is in words."""

from __future__ import annotations

import dataclasses
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_type_hints

__all__ = ["hint_of", "in_words"]


def hint_of(kind: Any, key: str) -> Any:
    """The annotation of the field, or of the list's item, at the dotted `key`."""
    for part in key.split("."):
        name, bracket, _ = part.partition("[")
        kind = get_type_hints(kind)[name]
        if bracket:
            kind = get_args(kind)[0]
    return kind


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
    if arguments and arguments[-1] is Ellipsis:
        return "a list" if arguments[0] is Any else f"a list, each item {in_words(arguments[0])}"
    return str(hint)
