"""A `tf.function` that another program wrote: its traces, and which one a call fits. Source: `load_v2`, TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from tfexp.core import nest
from tfexp.core.shallow_nest import flatten_up_to
from tfexp.functions.arguments import Parameters
from tfexp.functions.concrete import ConcreteFunction
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec


class RestoredFunction:
    """Calls the first trace that its arguments fit; ValueError where none does: there is no Python code to trace anew."""

    def __init__(
        self,
        name: str,
        signature: inspect.Signature,
        input_signature: Any,
        concrete_functions: Sequence[ConcreteFunction],
    ):
        self.__name__ = name
        self.__signature__ = signature
        self.parameters = Parameters(self)
        self.input_signature = input_signature
        self.concrete_functions = list(concrete_functions)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found, tensors = self._matching(args, kwargs)
        return found.call_with(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments; a `tf.TensorSpec` stands for all tensors that fit it."""
        if self.input_signature is not None and not args and not kwargs:
            args = tuple(self.input_signature)
        return self._matching(args, kwargs)[0]

    def _matching(self, args: Sequence[Any], kwargs: Any) -> tuple[ConcreteFunction, list[Any]]:
        given = positional, named = self.parameters.bind(args, kwargs).structure
        for converts in (False, True):
            for function in self.concrete_functions:
                expected = function.structured_input_signature
                # TensorFlow 1.15 did not write down keyword-only arguments that nobody gave.
                known = {name: value for name, value in named.items() if name in kwargs or name in expected[1]}
                tensors = _fitting((positional, known), expected, converts)
                if tensors is not None:
                    return function, tensors
        options = "\n\n".join(
            f"Option {i}:\n  {_listed(*function.structured_input_signature)}"
            for i, function in enumerate(self.concrete_functions, 1)
        )
        raise ValueError(
            f"Could not find matching function to call loaded from the SavedModel. Got:\n  {_listed(*given)}\n\n"
            f"Expected these arguments to match one of the following {len(self.concrete_functions)} option(s):\n\n{options}"
        )

    def __repr__(self) -> str:
        return f"<restored function {self.__name__}{self.__signature__} at {id(self):#x}>"


def _fitting(given: Any, expected: Any, converts: bool) -> list[Any] | None:
    """The tensors of the arguments, or None where they do not fit. `converts`: numbers and arrays count as tensors."""
    try:
        leaves = flatten_up_to(expected, given, check_types=False)
    except (TypeError, ValueError):
        return None
    tensors = []
    for leaf, wanted in zip(leaves, nest.flatten(expected), strict=True):
        if isinstance(wanted, TensorSpec):
            if converts and not isinstance(leaf, (Tensor, TensorSpec)):
                leaf = _converted(leaf, wanted)
            if not isinstance(leaf, (Tensor, TensorSpec)) or not wanted.is_compatible_with(leaf):
                return None
            tensors.append(leaf)
        elif isinstance(leaf, (Tensor, TensorSpec)) or type(leaf) is not type(wanted) or leaf != wanted:
            return None
    return tensors


def _converted(value: Any, wanted: TensorSpec) -> Any:
    try:
        return convert_to_tensor(value, dtype=wanted.dtype)
    except (TypeError, ValueError):
        return value  # it fits no tensor, then


def _listed(args: Sequence[Any], kwargs: Any) -> str:
    positional = "".join(f"\n    * {one!r}" for one in args)
    return f"Positional arguments ({len(args)} total):{positional}\n  Keyword arguments: {kwargs!r}"
