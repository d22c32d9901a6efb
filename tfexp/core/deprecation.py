"""`tensorflow.python.util.deprecation`: functions and arguments that say once that they will go. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core.log import get_logger

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


_silent = 0


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Nothing is logged within."""
    global _silent
    _silent += 1
    try:
        yield
    finally:
        _silent -= 1


def _say(text: str, *parts: Any) -> None:
    if not _silent:
        get_logger().warning(text, *parts)


def _removal(date: str | None) -> str:
    return "in a future version" if date is None else f"after {date}"


def deprecated(date: str | None, instructions: str, warn_once: bool = True) -> Decorator:
    """Calls of the function log that it will be removed after `date`, and `instructions`; once, or each time."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        said: list[bool] = []

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not (said and warn_once):
                said.append(True)
                _say(
                    "%s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                    function.__qualname__,
                    _removal(date),
                    instructions,
                )
            return function(*args, **kwargs)

        return wrapper

    return decorate


def deprecated_args(date: str | None, instructions: str, *names: Any, warn_once: bool = True, **_: Any) -> Decorator:
    """Calls that give one of the named arguments (a name, or a pair (name, value that is no use)) log that it will go."""
    watched = {
        entry if isinstance(entry, str) else entry[0]: None if isinstance(entry, str) else entry[1] for entry in names
    }

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(function)
        said: set[str] = set()

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = signature.bind_partial(*args, **kwargs).arguments
            for name in watched.keys() & given.keys():
                if (watched[name] is None or given[name] != watched[name]) and not (warn_once and name in said):
                    said.add(name)
                    _say(
                        "calling %s with %s is deprecated and will be removed %s.\nInstructions for updating:\n%s",
                        function.__qualname__,
                        name,
                        _removal(date),
                        instructions,
                    )
            return function(*args, **kwargs)

        return wrapper

    return decorate


def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """Whichever of the two was given; ValueError for both."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value
