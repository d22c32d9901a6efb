"""Functions of tensors that also take values made of several: these say what that means (`nest.Composite.dispatch`)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from tfexp.core.nest import Composite

Function = TypeVar("Function", bound=Callable[..., Any])


def composite_among(values: Iterable[Any]) -> Composite | None:
    """The first Composite of `values`, or in a list or tuple that is one of them."""
    for value in values:
        if isinstance(value, Composite):
            return value
        if isinstance(value, (list, tuple)):
            for element in value:
                if isinstance(element, Composite):
                    return element
    return None


def takes_composites(function: Function) -> Function:
    """Ask a Composite among the arguments first what the function, by its name, gives."""
    name = function.__name__

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        composite = composite_among([*args, *kwargs.values()])
        if composite is not None:
            found = composite.dispatch(name, function, args, kwargs)
            if found is not NotImplemented:
                return found
        return function(*args, **kwargs)

    return cast(Function, wrapper)
