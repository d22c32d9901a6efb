"""What the public names of tfexp are, found by looking: their namespaces, signatures and docstrings.

A namespace is what a program writes before the last dot (`tf.nn`). The names are those of TensorFlow 1.15 that tfexp has,
and those of the parts of `tf.contrib` that are here.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import tfexp
from tfexp.core.dtypes import DType
from tfexp.core.gone import public_symbols
from tfexp.core.op import Op

__all__ = ["Documented", "documented", "find", "namespaces"]

_CONTRIB = "tfexp.api.contrib"
_PLAIN = (bool, int, float, str, bytes, type(None))


@dataclass(frozen=True)
class Documented:
    """A public name. `same_as` is the name under which the same thing is described, "" where that is this one."""

    name: str
    signature: str
    """`(features, name=None)`; "" for what cannot be called."""
    text: str
    """The docstring; for what has none, what it is."""
    members: tuple[Documented, ...] = ()
    """A class's public methods and properties."""
    same_as: str = ""

    @property
    def first_line(self) -> str:
        """The first sentence, or what stands before the first empty line where that is shorter."""
        paragraph = " ".join(self.text.strip().partition("\n\n")[0].split())
        sentence = re.match(r".*?[^.\s]{2}[.:](?= [A-Z`]|$)", paragraph)
        return sentence.group().rstrip(":") if sentence else paragraph


@functools.cache
def namespaces() -> dict[str, types.ModuleType]:
    """Every public namespace that tfexp has, by its name, sorted."""
    found = {"tf": tfexp}
    for name in {symbol.rpartition(".")[0] for symbol in public_symbols()}:
        module = find(name)
        if isinstance(module, types.ModuleType):
            found[name] = module
    for _, path, _ in pkgutil.walk_packages(importlib.import_module(_CONTRIB).__path__, f"{_CONTRIB}."):
        found[path.replace(_CONTRIB, "tf.contrib")] = importlib.import_module(path)
    return dict(sorted(found.items()))


def find(name: str) -> Any:
    """What a public name (`tf.nn.relu`) stands for; AttributeError of its namespace, as a program gets it, is None here."""
    found: Any = tfexp
    for part in name.split(".")[1:]:
        try:
            found = getattr(found, part)
        except AttributeError:
            return None
    return found


@functools.cache
def documented() -> dict[str, dict[str, Documented]]:
    """namespace -> {name in it: what it is}, all sorted. What several names stand for is described once, under the
    shortest.
    """
    things = {
        (space, name): thing
        for space, module in namespaces().items()
        for name, thing in _public(space, module)
        if not isinstance(thing, types.ModuleType)
    }
    described_at: dict[int, str] = {}
    for space, name in sorted(things, key=lambda place: (place[0].count("."), *place)):
        if not isinstance(things[space, name], _PLAIN):
            described_at.setdefault(id(things[space, name]), f"{space}.{name}")
    pages: dict[str, dict[str, Documented]] = {}
    for (space, name), thing in sorted(things.items()):
        whole = f"{space}.{name}"
        pages.setdefault(space, {})[name] = _described(whole, thing, described_at.get(id(thing), whole))
    return pages


def _public(space: str, module: types.ModuleType) -> Iterable[tuple[str, Any]]:
    if space == "tf.contrib" or not space.startswith("tf.contrib."):
        names = [symbol.rpartition(".")[2] for symbol in public_symbols() if symbol.rpartition(".")[0] == space]
        return [(name, find(f"{space}.{name}")) for name in names if hasattr(module, name)]
    ours = {name for name, thing in vars(module).items() if getattr(thing, "__module__", None) == "tfexp.core.gone"}
    return [(name, thing) for name, thing in vars(module).items() if not name.startswith("_") and name not in ours]


def _described(name: str, thing: Any, at: str) -> Documented:
    members = tuple(_members(name, thing)) if inspect.isclass(thing) and at == name else ()
    return Documented(name, _signature(thing), _text(thing), members, "" if at == name else at)


def _members(name: str, kind: type) -> Iterable[Documented]:
    """Public methods and properties with a docstring, those of tfexp's own classes that it derives from too."""
    ours = [base for base in kind.__mro__ if str(base.__module__).startswith("tfexp")]
    for member in sorted({key for base in ours for key in vars(base)}):
        value = inspect.getattr_static(kind, member)
        function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        says = inspect.getdoc(getattr(kind, member)) if callable(function) or isinstance(value, property) else None
        if not member.startswith("_") and says and not inspect.isclass(function):
            yield Documented(f"{name}.{member}", _signature(function, bound=not isinstance(value, staticmethod)), says)


def _text(thing: Any) -> str:
    if isinstance(thing, Op):
        return f"A node of type `{thing.name}`.\n\n    {thing.signature}"
    if isinstance(thing, DType):
        return f"The type of elements `{thing!r}`."
    if _is_message(thing):
        return f"The protocol buffer `{thing.DESCRIPTOR.name}`: {', '.join(thing.DESCRIPTOR.fields_by_name)}."
    if _is_enum(thing):
        return f"{inspect.getdoc(thing)}\n\nOne of {', '.join(f'`{name}`' for name in thing.__members__)}."
    if callable(thing) or inspect.isroutine(thing):
        if says := inspect.getdoc(thing):
            return says
        return f"See `{thing.__name__}`." if inspect.isroutine(thing) else ""
    return f"`{_written(thing)}`"


def _is_enum(thing: Any) -> bool:
    return inspect.isclass(thing) and issubclass(thing, Enum)


def _is_message(thing: Any) -> bool:
    return inspect.isclass(thing) and hasattr(thing, "DESCRIPTOR")


def _signature(thing: Any, bound: bool = False) -> str:
    if not callable(thing) or isinstance(thing, DType) or _is_message(thing) or _is_enum(thing):
        return ""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):  # a class of C
        return "(…)"
    plain = [
        parameter.replace(
            annotation=inspect.Parameter.empty,
            default=parameter.default if parameter.default is inspect.Parameter.empty else _Written(parameter.default),
        )
        for parameter in list(found.parameters.values())[bound:]
    ]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


class _Written:
    """A default, as `inspect.Signature` shows it."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        return _written(self._value)


def _written(value: Any) -> str:
    """A value as a program writes it; the same in every process."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(_written, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' if len(value) == 1 else ''})"
    shown = repr(value)
    return str(getattr(value, "__name__", type(value).__name__)) if isinstance(value, Op) or " at 0x" in shown else shown
