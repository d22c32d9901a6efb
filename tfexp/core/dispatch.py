"""Functions of tensors that also take other values: those made of several tensors say what that means
(`nest.Dispatching`), and programs say it of their own classes (`OpDispatcher`, as in TF 1.15).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from tfexp.core.nest import Dispatching

Function = TypeVar("Function", bound=Callable[..., Any])


def dispatching_among(values: Iterable[Any]) -> Dispatching | None:
    """The first of `values` that says what functions give of it, or in a list or tuple that is one of them."""
    for value in values:
        if isinstance(value, Dispatching):
            return value
        if isinstance(value, (list, tuple)):
            for element in value:
                if isinstance(element, Dispatching):
                    return element
    return None


# Where a function that can be extended keeps the dispatchers that were registered for it.
DISPATCH_ATTR = "_tf_dispatchers"


class OpDispatcher:
    """What a function gives of arguments that it refuses. Source: `tensorflow.python.util.dispatch`."""

    NOT_SUPPORTED = object()

    def handle(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result for these arguments, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op: Callable[..., Any]) -> None:
        """Be asked for `op`, after those registered before. AssertionError for what cannot be extended."""
        if not hasattr(op, DISPATCH_ATTR):
            raise AssertionError(f"Dispatching not enabled for {op}")
        getattr(op, DISPATCH_ATTR).append(self)


class _OfTypes(OpDispatcher):
    """`function`, where an argument, or an element of a list that is one, has one of the types."""

    def __init__(self, function: Callable[..., Any], types: tuple[type, ...]):
        self._function, self._types = function, types

    def handle(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        for value in (*args, *kwargs.values()):
            elements = value if isinstance(value, (list, tuple)) else ()
            if isinstance(value, self._types) or any(isinstance(element, self._types) for element in elements):
                return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def dispatch_for_types(op: Callable[..., Any], *types: type) -> Callable[[Function], Function]:
    """A decorator for what is to be called in place of `op` where an argument has one of these types.

    AssertionError for a function of other arguments.
    """

    def decorate(function: Function) -> Function:
        if inspect.getfullargspec(function)[:6] != inspect.getfullargspec(inspect.unwrap(op))[:6]:
            raise AssertionError("The decorated function's signature must exactly match the signature of the overridden op.")
        _OfTypes(function, types).register(op)
        return function

    return decorate


def dispatch(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the first dispatcher of `op` that knows the arguments gives; NOT_SUPPORTED if none does."""
    for dispatcher in getattr(op, DISPATCH_ATTR):
        result = dispatcher.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


def add_dispatch_list(target: Function) -> Function:
    """Let dispatchers be registered for a function, which asks them itself. AssertionError if they can be already."""
    if hasattr(target, DISPATCH_ATTR):
        raise AssertionError(f"{target} already has a dispatch list")
    setattr(target, DISPATCH_ATTR, [])
    return target


def add_dispatch_support(target: Function) -> Function:
    """A function that asks dispatchers about the arguments which it refuses, by a TypeError or ValueError."""

    @functools.wraps(target)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(wrapper, *args, **kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result

    return cast(Function, add_dispatch_list(wrapper))


def takes_composites(function: Function) -> Function:
    """Ask a Dispatching among the arguments first what the function, by its name, gives; dispatchers can be registered."""
    name = function.__name__

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        dispatching = dispatching_among([*args, *kwargs.values()])
        if dispatching is not None:
            found = dispatching.dispatch(name, function, args, kwargs)
            if found is not NotImplemented:
                return found
        return function(*args, **kwargs)

    return cast(Function, add_dispatch_support(wrapper))
