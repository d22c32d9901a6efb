"""Functions that a program gives, and which of our arguments they take."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of what is left to give: not `self` of a method, not what a `functools.partial` has given already."""
    given = function.keywords if isinstance(function, functools.partial) else {}
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return tuple(one.name for one in parameters if one.kind not in kinds and one.name not in given)


def unexpected(function: Callable[..., Any], known: Iterable[str]) -> list[str]:
    """The arguments that a function wants and nobody has for it, sorted."""
    return sorted(set(argument_names(function)) - set(known))


def call_with_wanted(function: Callable[..., Any], **available: Any) -> Any:
    """`function(...)` with those of the arguments that it takes."""
    wanted = argument_names(function)
    return function(**{name: value for name, value in available.items() if name in wanted})
