"""Gradients of the user's own: `tf.RegisterGradient`, `tf.NotDifferentiable`, `tf.custom_gradient`. Source: TF 1.15."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.core.op import get_op, register_gradient
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph

_numbers = itertools.count(1)


class RegisterGradient:
    """Decorator: `@tf.RegisterGradient("CustomSquare")` registers `rule(op, *grads)` under an op type or an override key.

    TypeError for a key that is no string, KeyError for one that is taken.
    """

    def __init__(self, op_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._op_type = op_type

    def __call__(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        register_gradient(self._op_type, rule)
        return rule


def NotDifferentiable(op_type: str) -> None:
    """Say that gradients stop at ops of this type."""
    if not isinstance(op_type, str):
        raise TypeError("op_type must be a string")
    register_gradient(op_type, None)


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function of tensors that returns (result, grad): `grad(*result_gradients)` replaces its gradient.

    `grad` returns one gradient for each argument of `f`. ValueError for keyword arguments, as in graph mode.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled."
            )
        return _build(f, [convert_to_tensor(arg) for arg in args])

    return decorated


def _build(f: Callable[..., Any], args: list[Any]) -> Any:
    key = f"CustomGradient-{next(_numbers)}"
    result, grad_function = f(*args)
    outputs = [convert_to_tensor(output) for output in nest.flatten(result)]

    def rule(op: Operation, *grads: Any) -> list[Any]:
        given = nest.flatten(grad_function(*grads[: len(outputs)]))
        if len(given) != len(args):
            raise ValueError(f"custom_gradient function expected to return {len(args)} gradients, but returned {len(given)}")
        return [None] * len(outputs) + given

    register_gradient(key, rule)
    # TensorFlow leaves these behind: they keep a result that is an argument apart from it.
    for output in outputs:
        get_op("Identity")(output, name="Identity")
    # The arguments go through the same node as the results, so that it has inputs for their gradients.
    with get_default_graph().gradient_override_map({"IdentityN": key}):
        passed = get_op("IdentityN")(outputs + args, name="IdentityN")
    return nest.pack_sequence_as(result, passed[: len(outputs)])
