"""The settings of a composed configuration, each with all that can be said of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tfexp.experiment.hints import hint_of, in_words
from tfexp.experiment.origins import Origins
from tfexp.experiment.schema import Section, resolve

__all__ = ["Composed", "Described", "describe"]


@dataclass(frozen=True)
class Described:
    """One setting. `default` is its value where the command line gives none; `limits` are in words, as is `kind`.

    `comes_to` is the value with other settings' in the place of their interpolations (`${…}`).
    """

    key: str
    value: Any
    comes_to: Any
    default: Any
    says: str
    kind: str
    limits: str
    origin: str
    owner: str

    @property
    def is_missing(self) -> bool:
        return isinstance(self.value, str) and self.value == "???"


@dataclass(frozen=True)
class Composed:
    """A configuration as plain values, the classes of its sections, and where it all comes from.

    `defaults` is the same configuration without the settings of the command line. A section whose class is not chosen yet
    (`target: ???`) has none in `kinds`. `interpolated` gives what the value of a key comes to.
    """

    config: Mapping[str, Any]
    defaults: Mapping[str, Any]
    kinds: Mapping[str, type]
    chosen: Mapping[str, str]
    origins: Origins
    interpolated: Callable[[str], Any]


def describe(composed: Composed, section: str) -> list[Described]:
    """The settings of a section, those of its inner sections too, in the order of their class."""
    kind = composed.kinds.get(section)
    if kind is None:
        return []
    return _inside(composed, kind, section, composed.config[section], composed.defaults.get(section, {}))


def _inside(composed: Composed, kind: type, prefix: str, values: Mapping[str, Any], defaults: Any) -> list[Described]:
    found: list[Described] = []
    for field in dataclasses.fields(kind):
        key, hint = f"{prefix}.{field.name}", hint_of(kind, field.name)
        own = _default_of(field)
        value = values.get(field.name, own)
        default = defaults.get(field.name, own) if isinstance(defaults, Mapping) else own
        if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
            found += _inside(composed, hint, key, value, default)  # type: ignore[arg-type]  # a class, not an instance
            continue
        words, inner = in_words(hint), []
        if isinstance(value, Mapping) and "target" in value:  # a section whose class is a choice, as those of groups are
            words = "a class, as package.module:Class"
            inner = _inside(composed, resolve(value["target"], Section), key, value, default)
            key, value, default = f"{key}.target", value["target"], default.get("target", own)
        place = composed.origins.of(key)
        found.append(
            Described(
                key,
                value,
                composed.interpolated(key) if "${" in str(value) else value,
                default,
                field.metadata.get("description", ""),
                words,
                " and ".join(f"{words} {bound:g}" for words, (bound, _) in field.metadata.get("ranges", {}).items()),
                f"the default of {kind.__name__}" if place is None else str(place),
                f"{kind.__module__}:{kind.__name__}",
            )
        )
        found += inner
    return found


def _default_of(field: dataclasses.Field[Any]) -> Any:
    """A field's own default as configurations write it; "???", as they do, where it has none."""
    if field.default is not dataclasses.MISSING:
        return field.default.name if isinstance(field.default, Enum) else field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else "???"
