"""`tensorflow.python.util.tf_decorator`: wrappers that remember what they wrap. Source: TF 1.15."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


class TFDecorator:
    """A callable that stands for `target`, under a decorator's name."""

    def __init__(self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None):
        functools.update_wrapper(self, target)
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec

    def __get__(self, instance: Any, owner: type) -> Any:
        return functools.partial(self, instance) if instance is not None else self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        return self._decorated_target

    @property
    def decorator_name(self) -> str:
        return self._decorator_name

    @property
    def decorator_doc(self) -> str:
        return self._decorator_doc

    @property
    def decorator_argspec(self) -> Any:
        return self._decorator_argspec


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """`decorator_func` with the name, the text and the signature of `target`; `unwrap` finds `target` again."""
    if decorator_name is None:
        caller = inspect.currentframe()
        assert caller is not None and caller.f_back is not None
        decorator_name = caller.f_back.f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    functools.update_wrapper(decorator_func, target)
    decorator_func._tf_decorator = decorator
    return decorator_func


def tf_decorator(decorator_name: str, decorator_doc: str | None = None) -> Callable[..., Any]:
    """A decorator for functions `wrapper(target)` that make such wrappers."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapping(target: Any) -> Any:
            return make_decorator(target, function(target), decorator_name, decorator_doc or "")

        return wrapping

    return decorate


def _inside(candidate: Any) -> Any:
    """What one wrapper wraps; None for what is no wrapper."""
    if isinstance(candidate, TFDecorator):
        return candidate.decorated_target
    decorator = getattr(candidate, "_tf_decorator", None)
    return decorator.decorated_target if decorator is not None else getattr(candidate, "__wrapped__", None)


def unwrap(maybe_tf_decorator: Any) -> tuple[list[Any], Any]:
    """(the decorators around a callable, outermost first; the callable itself)"""
    decorators, target = [], maybe_tf_decorator
    while (inside := _inside(target)) is not None:
        decorators.append(getattr(target, "_tf_decorator", target))
        target = inside
    return decorators, target
