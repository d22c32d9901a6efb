"""Functions that differentiate Python functions, on a `GradientTape`. Source: `tf.contrib.eager`, TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tape import GradientTape

GradientsAndVariables = list[tuple[Any, Any]]


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., tuple[Any, GradientsAndVariables]]:
    """A function of the arguments of `f`: its value, and [(gradient, variable), …] for the trainable variables it reads.

    ValueError when it reads none, or returns None.
    """

    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, GradientsAndVariables]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            raise ValueError(
                f"Cannot differentiate a function that returns None; did you forget to return a value from {_name(f)}?"
            )
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        return value, list(zip(tape.gradient(value, list(variables)), variables, strict=True))

    return differentiated


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., GradientsAndVariables]:
    """As `implicit_value_and_gradients`, without the value."""
    differentiated = implicit_value_and_gradients(f)
    return lambda *args, **kwargs: differentiated(*args, **kwargs)[1]


def value_and_gradients_function(
    f: Callable[..., Any], params: Sequence[int | str] | None = None
) -> Callable[..., tuple[Any, list[Any]]]:
    """A function of the arguments of `f` (and `dy`, the weight of its value): the value, and its gradients by argument.

    `params`: positions or names of the arguments to differentiate for, all if None. ValueError for others, and when `f`
    returns None.
    """

    def differentiated(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list[Any]]:
        positions = _positions(f, params, len(args))
        values = list(args)
        for i in positions:
            values[i] = nest.map_structure(convert_to_tensor, values[i])
        wanted = [values[i] for i in positions]
        with GradientTape() as tape:
            tape.watch(wanted)
            value = f(*values, **kwargs)
        if value is None:
            raise ValueError(
                f"Cannot differentiate a function that returns None; did you forget to return a value from {_name(f)}?"
            )
        return value, tape.gradient(value, wanted, dy)

    return differentiated


def gradients_function(f: Callable[..., Any], params: Sequence[int | str] | None = None) -> Callable[..., list[Any]]:
    """As `value_and_gradients_function`, without the value."""
    differentiated = value_and_gradients_function(f, params)
    return lambda *args, **kwargs: differentiated(*args, **kwargs)[1]


def _positions(f: Callable[..., Any], params: Sequence[int | str] | None, count: int) -> list[int]:
    if params is None:
        return list(range(count))
    names = list(inspect.signature(f).parameters)
    positions = []
    for param in params:
        if param not in names and param not in range(count):
            raise ValueError(
                f"params must be positions or names of the {count} arguments of {_name(f)} ({names}), not {param!r}"
            )
        positions.append(names.index(param) if isinstance(param, str) else param)
    return positions


def _name(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", repr(f))
