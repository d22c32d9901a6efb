"""`tf.wrap_function`: a function of TF1's graphs, traced once, whose graph can be asked for parts of it. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import nest
from tfexp.functions.arguments import Parameters
from tfexp.functions.concrete import ConcreteFunction
from tfexp.functions.trace import Trace, Variables
from tfexp.graph.collections import GraphKeys
from tfexp.graph.function import Function
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.results import Results
from tfexp.graph.scopes import add_to_collections
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import UnorderedGraph
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops.calls import function_name


class WrappedFunction(ConcreteFunction):
    """A function that `tf.wrap_function` made; it keeps the variables that it uses.

    `prune(feeds, fetches)`: the function of some tensors of its graph that gives others.
    """

    def __init__(self, trace: Any, variables: Sequence[Any]):
        super().__init__(trace)
        self._kept = tuple(variables)

    def prune(self, feeds: Any, fetches: Any, name: str | None = None) -> WrappedFunction:
        """`feeds` and `fetches` are (structures of) tensors of `graph`, or their names; a fetch may be an operation.

        ValueError for what is of another graph.
        """

        def element(one: Any) -> Any:
            found = self.graph.as_graph_element(one) if isinstance(one, str) else one
            if getattr(found, "graph", None) is not self.graph:
                raise ValueError(f"{self.name}: prune takes tensors of its own graph, and their names; got {one!r}")
            return found

        return WrappedFunction(
            _Part(
                self._trace,
                nest.map_structure(element, feeds),
                nest.map_structure(element, fetches),
                function_name(name or "pruned"),
            ),
            self._kept,
        )


class _OwnGraph(UnorderedGraph):
    """As a program of its own: it has its own variable scopes, shares its own variables, and has its own collections."""

    def __init__(self, name: str, outer: Graph):
        super().__init__(name, outer)
        self._collections = {}

    @property
    def variable_graph(self) -> Graph:
        return self


class _KeptVariables(Variables):
    """They live as long as the function, and are in its graph's collections."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[Any] = []

    def add(self, variable: Any, collections: Sequence[Any]) -> None:
        super().add(variable, collections)
        self.made.append(variable)
        trainable = [GraphKeys.TRAINABLE_VARIABLES] if variable.trainable else []
        add_to_collections({*collections, *trainable}, variable)


class _Part:
    """A part of a trace, as a trace."""

    def __init__(self, whole: Any, feeds: Any, fetches: Any, name: str):
        self.name, self.graph = name, whole.graph
        self.arguments: list[Tensor] = [tensor for tensor in nest.flatten(feeds) if tensor.dtype.name != "resource"]
        self.argument_names = [tensor.op.name for tensor in self.arguments]
        self.constants: list[Any] = []
        specs = [TensorSpec.from_tensor(tensor) for tensor in self.arguments]
        self.structured_input_signature: Any = (tuple(specs), {})
        operations = [one for one in nest.flatten(fetches) if isinstance(one, Operation)]
        self.results = Results(nest.map_structure(lambda one: None if isinstance(one, Operation) else one, fetches))
        inputs = [*self.arguments, *self.graph.captured.values()]
        self.function = Function(name, self.graph, inputs, self.results.tensors, effects=operations)
        self.graph.outer._functions[name] = self.function


def wrap_function(fn: Callable[..., Any], signature: Sequence[Any], name: str | None = None) -> WrappedFunction:
    """`fn`, a function of tensors that fit `signature`, as a graph function that keeps the variables it makes.

    `fn` is run once, here, and may do what programs of TF1 do: make variables, use them, add control dependencies. What
    is no spec in `signature` is an argument as it is.
    """
    variables = _KeptVariables()
    bound = Parameters(fn).as_arguments(tuple(signature))
    trace = Trace(fn, bound, variables, make_graph=_OwnGraph, name=name)
    return WrappedFunction(trace, variables.made)
