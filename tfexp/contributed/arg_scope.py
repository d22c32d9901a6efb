"""`tf.contrib.framework.arg_scope`: default arguments for functions, for a while. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Scope = dict[str, dict[str, Any]]


class _Scopes(threading.local):
    def __init__(self) -> None:
        self.stack: list[Scope] = [{}]


_scopes = _Scopes()


def _key(function: Any) -> str:
    return getattr(function, "_key_op", str(function))


def current_arg_scope() -> Scope:
    """{key of a function: its default arguments here}."""
    return _scopes.stack[-1]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """The functions listed (with `add_arg_scope`) take these arguments where a call does not give them.

    Scopes nest; a scope that was kept (`with arg_scope(…) as kept`) can be entered again by itself. TypeError for anything
    but a sequence of functions or such a scope, ValueError for a function without `add_arg_scope`.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.")
        scope = {key: dict(arguments) for key, arguments in list_ops_or_scope.items()}
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        scope = dict(current_arg_scope())
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                raise ValueError(f"{function} is not decorated with @add_arg_scope")
            scope[_key(function)] = {**scope.get(_key(function), {}), **kwargs}
    _scopes.stack.append(scope)
    try:
        yield scope
    finally:
        _scopes.stack.pop()


def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """Let `arg_scope` give `func` default arguments."""
    key = str(func)  # TensorFlow's, which programs look up in scopes; it has the address of the function

    @functools.wraps(func)
    def with_defaults(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **{**current_arg_scope().get(key, {}), **kwargs})

    with_defaults._key_op = key  # type: ignore[attr-defined]
    return with_defaults


def has_arg_scope(func: Any) -> bool:
    """Whether a function takes arguments from scopes (`add_arg_scope`)."""
    return hasattr(func, "_key_op")


def arg_scoped_arguments(func: Any) -> Sequence[str]:
    """The names of the arguments that a scope can give: those with defaults."""
    parameters = inspect.signature(func).parameters.values()
    return tuple(p.name for p in parameters if p.default is not inspect.Parameter.empty)


def arg_scope_func_key(func: Any) -> Any:
    """What a scope's arguments for this function are kept under."""
    return _key(func)
