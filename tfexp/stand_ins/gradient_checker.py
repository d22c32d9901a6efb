"""`tensorflow.python.ops.gradient_checker_v2`: gradients of functions against differences. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.defaults import get_default_session
from tfexp.graph.gradients import gradients
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tape import GradientTape
from tfexp.ops.array_identity import placeholder
from tfexp.runtime.jacobian import numeric_jacobian, theoretical_jacobian

_DELTA = 1.0 / 1024

# For a list of arrays: what the function makes of them, and its gradients by argument number and gradient of the result.
_Value = Callable[[list[np.ndarray]], np.ndarray]
_Gradient = Callable[[list[np.ndarray], int, np.ndarray], Any]


def compute_gradient(
    f: Callable[..., Any], x: Sequence[Any], delta: float | None = None
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(theoretical, numeric) Jacobians of `f` at the arguments `x`: one of shape [y elements, x elements] for each of them.

    In graphs `f` is built of placeholders and run in the default session.
    """
    if not isinstance(x, (list, tuple)):
        raise ValueError(f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}")
    xs = [_array(value) for value in x]
    for number, start in enumerate(xs):
        if not np.issubdtype(start.dtype, np.inexact) and start.dtype.name != "bfloat16":
            raise AssertionError(f"Cannot compute gradient for unsupported type {start.dtype} of argument {number}")
    value, gradient = (_eagerly if executing_eagerly() else _in_graph)(f, xs)
    y = np.asarray(value(xs))
    theoretical, numeric = [], []
    for number, start in enumerate(xs):

        def moved(array: np.ndarray, number: int = number) -> Any:
            return value([*xs[:number], array, *xs[number + 1 :]])

        def backprop(weights: np.ndarray, number: int = number) -> Any:
            return gradient(xs, number, weights)

        theoretical.append(theoretical_jacobian(backprop, start, y).T)
        numeric.append(numeric_jacobian(moved, start, y, _DELTA if delta is None else delta).T)
    return theoretical, numeric


def max_error(grad1: Sequence[np.ndarray], grad2: Sequence[np.ndarray]) -> float:
    """The largest difference between two lists of Jacobians."""
    return max((float(np.abs(a - b).max()) if a.size else 0.0 for a, b in zip(grad1, grad2, strict=True)), default=0.0)


def _array(value: Any) -> np.ndarray:
    tensor = convert_to_tensor(value)
    if executing_eagerly():
        return np.asarray(tensor.numpy())  # type: ignore[attr-defined]
    return np.asarray(_session().run(tensor))


def _session() -> Any:
    session = get_default_session()
    if session is None:
        raise ValueError("compute_gradient needs a default session")
    return session


def _in_graph(f: Callable[..., Any], xs: list[np.ndarray]) -> tuple[_Value, _Gradient]:
    session = _session()
    arguments = [placeholder(x.dtype) for x in xs]
    result = f(*arguments)
    weights = placeholder(result.dtype.base_dtype)
    grads = gradients(result, arguments, grad_ys=weights)

    def value(arrays: list[np.ndarray]) -> np.ndarray:
        return session.run(result, dict(zip(arguments, arrays, strict=True)))

    def gradient(arrays: list[np.ndarray], number: int, given: np.ndarray) -> Any:
        if grads[number] is None:
            return None
        return session.run(grads[number], {**dict(zip(arguments, arrays, strict=True)), weights: given})

    return value, gradient


def _eagerly(f: Callable[..., Any], xs: list[np.ndarray]) -> tuple[_Value, _Gradient]:
    def value(arrays: list[np.ndarray]) -> np.ndarray:
        return f(*map(convert_to_tensor, arrays)).numpy()

    def gradient(arrays: list[np.ndarray], number: int, given: np.ndarray) -> Any:
        tensors = [convert_to_tensor(array) for array in arrays]
        with GradientTape() as tape:
            tape.watch(tensors[number])
            result = f(*tensors)
        found = tape.gradient(result, tensors[number], output_gradients=convert_to_tensor(given))
        return found if found is None or hasattr(found, "indices") else found.numpy()

    return value, gradient
