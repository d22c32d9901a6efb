"""`tf.contrib.training.HParams`: named settings of fixed types. Source: TF 1.15."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Mapping
from typing import Any

# name, an optional index, "=", and a value: a bracketed list or anything up to the next comma.
_ASSIGNMENT = re.compile(
    r"\s*(?P<name>[a-zA-Z][\w.]*)(?P<index>\[\s*\d+\s*\])?\s*=\s*(?:\[(?P<values>[^\[\]]*)\]|(?P<value>[^,\[]*))\s*(?:,|$)"
)
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def _cast(name: str, kind: Any, value: Any) -> Any:
    """`value`, of text or another number, as `kind`; ValueError where that loses something."""
    wrong = ValueError(f"Could not cast hparam {name!r} of type {kind!r} from value {value!r}")
    if value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
        return value
    if issubclass(kind, bool):
        if isinstance(value, str) and value.lower() in _TRUTH:
            return _TRUTH[value.lower()]
        raise wrong
    if isinstance(value, bool) and not issubclass(kind, str):
        raise wrong
    if issubclass(kind, str) != isinstance(value, str) and issubclass(kind, str):
        raise wrong
    if issubclass(kind, numbers.Integral) and isinstance(value, float):
        raise wrong
    try:
        return kind(value)
    except (TypeError, ValueError) as error:
        raise wrong from error


def parse_values(values: str, type_map: Mapping[str, Any], ignore_unknown: bool = False) -> dict[str, Any]:
    """What `name=value,name=[v1,v2],name[1]=value` says: {name: value, list, or {index: value}}, of the types given.

    ValueError for what cannot be read as its type, for a name that comes twice, and unless told, for a name without a type.
    """
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name in type_map:
            _take(found, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return found


def _take(found: dict[str, Any], match: re.Match[str], kind: Any, values: str) -> None:
    """Put what one assignment says among what was found."""
    name = match["name"]

    def parsed(text: str) -> Any:
        try:
            return _cast(name, kind, text.strip())
        except ValueError as error:
            raise ValueError(
                f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text.strip()}' in {values}"
            ) from error

    if match["index"] is None:
        if name in found:
            raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
        listed = match["values"]
        found[name] = parsed(match["value"]) if listed is None else [parsed(t) for t in listed.split(",") if t.strip()]
        return
    if match["values"] is not None:
        raise ValueError("Assignment of a list to a list index.")
    index = int(match["index"][1:-1])
    by_index = found.setdefault(name, {})
    if not isinstance(by_index, dict) or index in by_index:
        raise ValueError(f"Multiple assignments to variable '{name}[{index}]' in {values}")
    by_index[index] = parsed(match["value"])


class HParams:
    """Attributes with the given values; each keeps its type, and a list that of its elements."""

    _types: dict[str, tuple[type, bool]]  # of each: the type, and whether it is a list
    _model_structure: Any

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any):
        if hparam_def is not None:
            raise ValueError("HParams: tfexp does not have hparam_def=")
        object.__setattr__(self, "_types", {})
        object.__setattr__(self, "_model_structure", model_structure)
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """One more. ValueError for a name that is taken, or an empty list, whose type nothing tells."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._types[name] = type(value[0]), True
        else:
            self._types[name] = type(value), False
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._types:
            self.set_hparam(name, value)
        else:
            object.__setattr__(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Another value, of its type. KeyError for an unknown name, ValueError for the wrong type or a list against one."""
        kind, is_list = self._types[name]
        if isinstance(value, (list, tuple)) != is_list and kind is not type(None):
            kinds = ("pass", "multi") if is_list else ("not pass", "single")
            raise ValueError(f"Must {kinds[0]} a list for {kinds[1]}-valued parameter: {name}.")
        if kind is not type(None):
            value = [_cast(name, kind, v) for v in value] if is_list else _cast(name, kind, value)
        object.__setattr__(self, name, value)

    def del_hparam(self, name: str) -> None:
        if name in self._types:
            delattr(self, name)
            del self._types[name]

    def parse(self, values: str) -> HParams:
        """Set from `name=value,name=[v1,v2]`. ValueError for what cannot be read or is unknown, see `parse_values`."""
        return self.override_from_dict(parse_values(values, {name: kind for name, (kind, _) in self._types.items()}))

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_model_structure(self, model_structure: Any) -> None:
        object.__setattr__(self, "_model_structure", model_structure)

    def get_model_structure(self) -> Any:
        return self._model_structure

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """The values as JSON; functions are left out."""
        plain = {name: value for name, value in self.values().items() if not callable(value)}
        return json.dumps(plain, indent=indent, separators=separators, sort_keys=sort_keys)

    def parse_json(self, values_json: str) -> HParams:
        return self.override_from_dict(json.loads(values_json))

    def values(self) -> dict[str, Any]:
        """{name: value}."""
        return {name: getattr(self, name) for name in self._types}

    def get(self, key: str, default: Any = None) -> Any:
        """A value, or `default` where there is no such name; ValueError for a default of another type."""
        if key not in self._types:
            return default
        kind, is_list = self._types[key]
        if default is not None and kind is not type(None):
            for one in default if is_list and isinstance(default, (list, tuple)) else [default]:
                _cast(key, kind, one)
        return getattr(self, key)

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return str(sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"HParams({self})"
