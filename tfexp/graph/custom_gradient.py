"""Gradients of the user's own: `tf.RegisterGradient`, `tf.NotDifferentiable`, `tf.custom_gradient`. Source: TF 1.15."""

from __future__ import annotations

import functools
import inspect
import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.op import get_op, register_gradient, remove_gradient
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tape import GradientTape, keep_alive

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

    `grad` returns one gradient for each argument of `f`. Where `f` uses variables, which have to be resource variables, it
    is called with `variables=[…]` and returns (gradients of the arguments, gradients of the variables). ValueError for
    keyword arguments, except in eager execution.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs and not get_default_graph().is_eager:
            raise ValueError(
                "The custom_gradient decorator currently supports keywords arguments only when eager execution is enabled."
            )
        return _build(functools.partial(f, **kwargs), [convert_to_tensor(arg) for arg in args])

    return decorated


def _variables() -> list[Any]:
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)


def variables_between(outputs: Sequence[Any], args: Sequence[Any]) -> list[Any]:
    """The graph's variables that `outputs` come from, other than by way of `args`."""
    pending = [output.op for output in outputs]
    before = {arg.op for arg in args}
    seen = set(before)
    while pending:
        op = pending.pop()
        if op not in seen:
            seen.add(op)
            pending.extend(source.op for source in op.inputs)
    return [variable for variable in _variables() if variable.op in seen and variable.op not in before]


def _takes_variables(grad_function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(grad_function).parameters
    return "variables" in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


class _Registered:
    """A gradient that is there as long as this."""

    def __init__(self, key: str):
        weakref.finalize(self, remove_gradient, key)


def _build(f: Callable[..., Any], args: list[Any]) -> Any:
    key = f"CustomGradient-{next(_numbers)}"
    known = len(_variables())
    with GradientTape() as tape:
        result, grad_function = f(*args)
    if any(variable.op.type != "VarHandleOp" for variable in _variables()[known:]):
        raise TypeError(
            "All variables used by `f` passed to custom_gradient must be `ResourceVariable`s. Ensure that no "
            "`variable_scope` is created with `use_resource=False`."
        )
    outputs = [convert_to_tensor(output) for output in nest.flatten(result)]
    graph = get_default_graph()
    in_graph = not graph.is_eager and not graph.building_function
    used = variables_between(outputs, args) if in_graph else list(tape.watched_variables())
    if used and not _takes_variables(grad_function):
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword "
            f"argument 'variables'. The variables are {used}"
        )
    register_gradient(key, _rule(grad_function, len(outputs), len(args), used))
    if graph.is_eager:
        keep_alive(_Registered(key))
    # TensorFlow leaves these behind: they keep a result that is an argument apart from it.
    for output in outputs:
        get_op("Identity")(output, name="Identity")
    # The arguments go through the same node as the results, so that it has inputs for their gradients.
    with get_default_graph().gradient_override_map({"IdentityN": key}):
        passed = get_op("IdentityN")(outputs + args + used, name="IdentityN")
    return nest.pack_sequence_as(result, passed[: len(outputs)])


def _rule(grad_function: Callable[..., Any], outputs: int, args: int, used: list[Any]) -> Callable[..., list[Any]]:
    """The gradient of an IdentityN of the outputs, the arguments and the variables `used`, of which the first have none."""

    def rule(op: Operation, *grads: Any) -> list[Any]:
        of_variables: list[Any] = []
        if used:
            of_arguments, of_variables = grad_function(*grads[:outputs], variables=used)
            if len(of_variables) != len(used):
                raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
        else:
            of_arguments = grad_function(*grads[:outputs])
        given = nest.flatten(of_arguments)
        if len(given) != args:
            raise ValueError(f"custom_gradient function expected to return {args} gradients, but returned {len(given)}")
        return [None] * outputs + given + list(of_variables)

    return rule
