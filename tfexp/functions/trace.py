"""Tracing: a Python function becomes the graph of a function."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.functions.arguments import Bound
from tfexp.functions.lifting import Lifting
from tfexp.graph.collections import GraphKeys
from tfexp.graph.graph import Graph
from tfexp.graph.handles import capture_handle
from tfexp.graph.results import Results
from tfexp.graph.scopes import get_default_graph, init_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import TracedGraph
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops import tensor_array_lists as _tensor_array_lists  # what TensorArrays are in what is traced
from tfexp.ops.calls import function_name
from tfexp.ops.variable_base import Variable, variable_creator_scope

__all__ = ["Trace", "Variables", "_tensor_array_lists"]


class Variables:
    """How many variables the traces of one `tf.function` made. Only the first call may make some: `closed` afterwards.

    They live as long as the program holds them.
    """

    def __init__(self) -> None:
        self.count = 0
        self.closed = False

    def add(self, variable: Variable, collections: Sequence[Any]) -> None:
        """A trace has made this one, asked to put it into these collections."""
        self.count += 1


class Trace:
    """What one trace of a Python function gave: the graph function, and the structures of what goes in and comes out.

    `arguments`: the tensors of the body that stand for the call's; `captured`: the outer graph's that follow them.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        bound: Bound,
        variables: Variables,
        shapes: Sequence[TensorShape | None] | None = None,
        make_graph: Callable[[str, Graph], TracedGraph] = TracedGraph,
        name: str | None = None,
    ):
        """`shapes`, for each leaf of the arguments: what to take instead of a tensor's own."""
        self.name = str(name or getattr(python_function, "__name__", type(python_function).__name__))
        outer = get_default_graph()
        self.graph = graph = make_graph(function_name(self.name), outer)
        with graph.as_default():
            values, given = self._arguments(bound, shapes)
            known = {
                placeholder: leaf
                for placeholder, leaf in zip(self.arguments, given, strict=True)
                if isinstance(leaf, Tensor)
            }
            with variable_creator_scope(_creator(graph, variables, known)):
                args, kwargs = values
                result = python_function(*args, **kwargs)
            outputs = graph.results(self._results(python_function, result).tensors)
        self.function = graph.finish([*self.arguments, *graph.captured.values()], outputs)

    def _arguments(self, bound: Bound, shapes: Sequence[TensorShape | None] | None) -> tuple[Any, list[Any]]:
        """The structure that the Python function is called with, with placeholders, and what these stand for."""
        graph = self.graph
        self.arguments: list[Tensor] = []
        self.argument_names: list[str] = []
        self.constants: list[Any] = []
        given: list[Any] = []
        leaves, specs = [], []
        for i, (leaf, name) in enumerate(zip(bound.leaves, bound.names, strict=True)):
            if not isinstance(leaf, (Tensor, TensorSpec)):
                self.constants.append(leaf)
                leaves.append(leaf)
                specs.append(leaf)
                continue
            shape = leaf.shape if shapes is None or shapes[i] is None else shapes[i]
            wanted = leaf.name if isinstance(leaf, TensorSpec) and leaf.name else name
            placeholder = graph.argument(leaf.dtype.base_dtype, shape, wanted)
            if leaf.dtype is dtypes.resource and isinstance(leaf, Tensor):
                capture_handle(placeholder, leaf)
            self.arguments.append(placeholder)
            self.argument_names.append(_unique(wanted, self.argument_names))
            given.append(leaf)
            leaves.append(placeholder)
            specs.append(TensorSpec(shape, leaf.dtype.base_dtype, wanted))
        following = iter(specs)

        def described(leaf: Any) -> Any:
            parts = [next(following) for _ in nest.flatten(leaf, expand_composites=True)]
            return tuple(parts) if isinstance(leaf, nest.Composite) else parts[0]

        self.structured_input_signature = nest.map_structure(described, bound.structure)
        return nest.pack_sequence_as(bound.structure, leaves, expand_composites=True), given

    def _results(self, python_function: Callable[..., Any], result: Any) -> Results:
        try:
            self.results = Results(result)
        except TypeError as error:
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more Tensors; in compilation of "
                f"{python_function}, found return value of {error}"
            ) from None
        return self.results


def _unique(name: str, taken: Sequence[str]) -> str:
    """The name, with the first number that makes it a new one where there is one like it."""
    numbered = (f"{name}_{number}" for number in itertools.count(1))
    return next(each for each in itertools.chain([name], numbered) if each not in taken)


def _creator(graph: TracedGraph, variables: Variables, known: dict[Tensor, Any]) -> Callable[..., Variable]:
    """What makes variables while `graph` is built: outside of it, and behind handles."""

    def create(
        following: Callable[..., Variable], initial_value: Any = None, name: str | None = None, **kwargs: Any
    ) -> Variable:
        if variables.closed:
            raise ValueError(
                f"tf.function-decorated function tried to create variables on non-first call: {name or 'Variable'!r} in the "
                f"function {graph.name!r}. Make it once, and keep it, or make it outside of the function."
            )
        if kwargs.get("collections") is None:
            kwargs["collections"] = [GraphKeys.GLOBAL_VARIABLES]
        outside = {inner: outer for outer, inner in graph.captured.items()}
        with init_scope():
            lift = Lifting({**known, **outside})
            value = initial_value
            if isinstance(initial_value, Tensor):
                value = lift(initial_value)
            elif callable(initial_value):
                value = _lifted_call(initial_value, lift)
            kwargs["use_resource"] = True
            variable = following(initial_value=value, name=name, **kwargs)
        variables.add(variable, kwargs["collections"])
        return variable

    return create


def _lifted_call(initial_value: Callable[[], Any], lift: Lifting) -> Callable[[], Any]:
    def call() -> Any:
        value = initial_value()
        return lift(value) if isinstance(value, Tensor) else value

    return call
