"""The public names of tfexp: their namespaces, signatures and docstrings, read from the namespaces themselves."""

from __future__ import annotations

import functools
import inspect
import re
import types
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import tfexp
from tfexp.core.dtypes import DType
from tfexp.core.op import Op

__all__ = ["Documented", "documented", "namespaces"]

_PLAIN = (bool, int, float, str, bytes, type(None))
_TYPING = ("Any", "Callable", "Sequence", "annotations")  # imported for annotations
_FOREIGN = ("tf.compat.v1", "tf.flags", "tf.app.flags", "tf.raw_ops")  # this library itself, absl's, one function an op


@dataclass(frozen=True)
class Documented:
    """A public name. `same_as` is the name under which the same object is described, "" where that is this one."""

    name: str
    signature: str
    """`(features, name=None)`; "" for what cannot be called."""
    text: str
    """The docstring; without one, a description of the object."""
    members: tuple[Documented, ...] = ()
    """A class's public methods and properties."""
    same_as: str = ""

    @property
    def first_line(self) -> str:
        """The first sentence, or the text before the first empty line where that is shorter."""
        paragraph = " ".join(self.text.strip().partition("\n\n")[0].split())
        sentence = re.match(r".*?[^.\s]{2}[.:](?= [A-Z`]|$)", paragraph)
        return sentence.group().rstrip(":") if sentence else paragraph


@functools.cache
def namespaces() -> dict[str, types.ModuleType]:
    """Every public namespace, by its name (`tf.nn`), sorted."""
    found = {"tf": tfexp}
    queue = ["tf"]
    while queue:
        space = queue.pop()
        for name, thing in _public(found[space]):
            below = f"{space}.{name}"
            if isinstance(thing, types.ModuleType) and thing.__name__.startswith("tfexp.") and below not in _FOREIGN:
                found[below] = thing
                queue.append(below)
    return dict(sorted(found.items()))


@functools.cache
def documented() -> dict[str, dict[str, Documented]]:
    """namespace -> {name in it: its description}, sorted. An object of several names is described under the shortest."""
    things = {
        (space, name): thing
        for space, module in namespaces().items()
        for name, thing in _public(module)
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


def _public(module: types.ModuleType) -> Iterable[tuple[str, Any]]:
    """The names of a namespace: those of its table, or what its file imports and defines."""
    listed = getattr(module, "__all__", ()) if "__getattr__" in vars(module) else vars(module)
    return [(name, getattr(module, name)) for name in sorted(listed) if not name.startswith("_") and name not in _TYPING]


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
