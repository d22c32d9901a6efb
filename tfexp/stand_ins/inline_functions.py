"""`tensorflow.python.eager.def_function` and `.function`: what they decorate runs as it stands, where it is called.

There is no tracing: in a graph a call adds the function's own nodes, and where ops run at once it runs them. What a program
gets out of the function is the same; the graph has no call of a function in it. Source: TF 1.15.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.shallow_nest import flatten_up_to
from tfexp.graph.convert import convert_to_tensor


class Function:
    """A decorated Python function; a method's is bound to its object."""

    def __init__(self, python_function: Callable[..., Any], input_signature: Sequence[Any] | None = None):
        self.python_function = python_function
        self.input_signature = input_signature
        functools.update_wrapper(self, python_function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.input_signature is not None:
            args = _as_specified(args, self.input_signature, self.__name__)  # type: ignore[attr-defined]
        return nest.map_structure(_tensor_of_number, self.python_function(*args, **kwargs))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return Function(types.MethodType(self.python_function, instance), self.input_signature)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Function:
        """The function itself: one serves all arguments."""
        return self


def _as_specified(args: Sequence[Any], signature: Sequence[Any], name: str) -> tuple[Any, ...]:
    """The arguments as tensors of the signature's types; ValueError for those of other shapes, or another number of them."""
    if len(args) != len(signature):
        raise ValueError(f"{name} takes {len(signature)} arguments by its input_signature, got {len(args)}")
    flat, specs = flatten_up_to(list(signature), list(args)), nest.flatten(list(signature))
    tensors = [convert_to_tensor(value, spec.dtype) for value, spec in zip(flat, specs, strict=True)]
    for tensor, spec in zip(tensors, specs, strict=True):
        if not spec.shape.is_compatible_with(tensor.shape):
            raise ValueError(f"Python inputs incompatible with input_signature of {name}: {tensor} is no {spec}")
    return tuple(nest.pack_sequence_as(list(signature), tensors))


def _tensor_of_number(value: Any) -> Any:
    return convert_to_tensor(value) if isinstance(value, (bool, int, float, complex)) else value


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`@function` and `@function(input_signature=…)`; Python's `if` and `while` on tensors stay Python's."""
    if func is None:
        return lambda decorated: Function(decorated, input_signature)
    return Function(func, input_signature)


def defun(func: Callable[..., Any] | None = None, input_signature: Sequence[Any] | None = None, **_: Any) -> Any:
    """`function`, as it was called before. `tf.contrib.eager.defun`."""
    return function(func, input_signature)


defun_with_attributes = defun
