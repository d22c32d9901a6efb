"""`tf.Module`: a named container of variables and of other modules. Source: TF 1.15."""

from __future__ import annotations

import functools
import keyword
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.graph.scopes import name_scope
from tfexp.ops.trackable import Trackable
from tfexp.ops.variable_base import Variable

_NOTHING = object()


class Module(Trackable):
    """A base class: attributes that are variables or modules, also in lists, tuples and dicts, are its parts.

    `name` is the class's name in snake_case unless one is given, `name_scope` a scope of its own, in which
    `Module.with_name_scope` runs methods. ValueError for a name that is no identifier.
    """

    # Attributes whose values are no parts; subclasses have more of them.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset()
    _lists_are_parts = True

    def __init__(self, name: str | None = None):
        name = _snake_case(type(self).__name__) if name is None else name
        if not valid_identifier(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a class name)."
            )
        self._name = name
        with name_scope(name) as scope:
            self._own_scope = scope

    def __setattr__(self, name: str, value: Any) -> None:
        if getattr(self, name, _NOTHING) is not value:  # `x.a = x.a` is allowed, also of properties that cannot be set
            super().__setattr__(name, value)

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope of its variables and ops, to be entered."""
        return name_scope(self._own_scope)

    @property
    def variables(self) -> Sequence[Any]:
        """The variables of this module and of those in it: its own first, by attribute."""
        return tuple(self._module_parts(lambda part: isinstance(part, Variable)))

    @property
    def trainable_variables(self) -> Sequence[Any]:
        return tuple([variable for variable in self.variables if variable.trainable])

    @property
    def submodules(self) -> tuple[Any, ...]:
        """The modules in this one, at any depth."""
        return tuple([part for part in self._module_parts(lambda part: isinstance(part, Module)) if part is not self])

    def _module_parts(self, wanted: Callable[[Any], bool], seen: set[int] | None = None) -> Iterator[Any]:
        """What is wanted of its attributes, then of each module among these, everything once."""
        seen = {id(self)} if seen is None else seen
        modules = []
        for attribute, value in sorted(vars(self).items()):
            if attribute in self._TF_MODULE_IGNORED_PROPERTIES:
                continue
            for part in nest.flatten(value) if nest.is_nested(value) else [value]:
                if id(part) in seen:
                    continue
                seen.add(id(part))
                if wanted(part):
                    yield part
                if isinstance(part, Module):
                    modules.append(part)
        for module in modules:
            yield from module._module_parts(wanted, seen)

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: what a method makes is named below the module's scope."""

        @functools.wraps(method)
        def scoped(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _snake_case(name: str) -> str:
    """`MyHTTPNet2` as `my_http_net2`."""
    apart = re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)(?<!_)[A-Z](?=[a-z]))", r"_\1", name)
    return apart.lower()


def valid_identifier(name: str) -> bool:
    """Whether Python takes it for the name of something."""
    return name.isidentifier() and not keyword.iskeyword(name)
