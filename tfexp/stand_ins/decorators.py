"""`tensorflow.python.util.tf_decorator`: wrappers that remember what they wrap. Source: TF 1.15."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


class TFDecorator:
    """A callable that stands for `target`, under a decorator's name."""

    def __init__(self, decorator_name: str, target: Any, decorator_doc: str = "", decorator_argspec: Any = None):
        functools.update_wrapper(self, target, updated=())
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec

    def __get__(self, instance: Any, owner: type) -> Any:
        return self._decorated_target.__get__(instance, owner)

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
    own = dict(vars(decorator_func)) | {"_tf_decorator": decorator}
    functools.update_wrapper(decorator_func, target)
    vars(decorator_func).update(own, __wrapped__=target)
    decorator_func.__doc__ = decorator.__doc__
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
    """(the decorators with a name around a callable, outermost first; the callable itself)"""
    decorators, target = [], maybe_tf_decorator
    while (inside := _inside(target)) is not None:
        decorator = target if isinstance(target, TFDecorator) else getattr(target, "_tf_decorator", target)
        if hasattr(decorator, "decorator_name"):
            decorators.append(decorator)
        target = inside
    return decorators, target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """`decorator_func`, whose wrapper around `previous_target` now wraps `new_target`; `new_target` where there is none."""
    if decorator_func is previous_target:
        return new_target
    wrapper = decorator_func
    while (inside := _inside(wrapper)) is not previous_target and _inside(inside) is not None:
        wrapper = inside
    getattr(wrapper, "__func__", wrapper).__wrapped__ = new_target
    getattr(wrapper, "_tf_decorator", wrapper)._decorated_target = new_target
    return decorator_func


def keyword_args_only(func: Callable[..., Any]) -> Callable[..., Any]:
    """`func`, which takes its arguments by name alone: ValueError for others. `util.keyword_args`."""

    @functools.wraps(func)
    def named(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(f"Must use keyword args to call {func.__name__}.")
        return func(**kwargs)

    return make_decorator(func, named, "keyword_args_only")


# --- `util.decorator_utils` -------------------------------------------------------------------------------------------


def get_qualified_name(function: Any) -> str:
    """`Class.method`, where a callable knows it; its name, else the callable as text."""
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or function)


class classproperty:  # noqa: N801 (TensorFlow's name)
    """A property of a class, which its objects have, too."""

    def __init__(self, func: Callable[[Any], Any]):
        self._func = func

    def __get__(self, owner_self: Any, owner_cls: type) -> Any:
        return self._func(owner_cls)
