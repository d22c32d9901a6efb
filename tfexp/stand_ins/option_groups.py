"""`tensorflow.python.data.util.options`: classes of options that know their names and types. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class OptionsBase:
    """What it is given by `create_option`, and nothing else: AttributeError for other names."""

    _options: dict[str, Any]

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        names = {*self._options, *other._options}
        return all(getattr(self, name) == getattr(other, name) for name in names)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]


def create_option(
    name: str, ty: Any, docstring: str, default_factory: Callable[[], Any] = lambda: None, default: Any = None
) -> Any:
    """An option, to be given to a class under its name. TypeError for a value of another type than `ty`."""

    def read(options: Any) -> Any:
        if name not in options._options:
            options._options[name] = default_factory() if default is None else default
        return options._options[name]

    def write(options: Any, value: Any) -> None:
        if not isinstance(value, ty):
            raise TypeError(f'Property "{name}" must be of type {ty}, got: {value!r} (type: {type(value)!r})')
        options._options[name] = value

    return property(read, write, None, docstring)


def merge_options(*options_list: Any) -> Any:
    """A new group with what is set in any of these, later ones over earlier ones. ValueError, TypeError where none fits."""
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Incompatible options types: {kind} and {type(options)}")
    if not issubclass(kind, OptionsBase):
        merged = options_list[0]
        for options in options_list[1:]:
            merged = merged.updated(options)
        return merged
    default, result = kind(), kind()
    for options in options_list:
        for name, value in options._options.items():
            merged = getattr(result, name)
            if isinstance(value, OptionsBase) and merged is not None:
                result._options[name] = merge_options(merged, value)
            elif value != getattr(default, name):
                setattr(result, name, value)
    return result
