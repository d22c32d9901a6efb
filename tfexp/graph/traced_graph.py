"""`TracedGraph`: the graph of a function that a Python function is traced into, with its own order of effects.

Control flow in it is functional: `tf.cond` and `tf.while_loop` trace their branches and bodies into graphs of this kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.op import get_op
from tfexp.graph.dependencies import no_op
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.effects import order_effects
from tfexp.graph.function import Function
from tfexp.graph.function_graph import FunctionGraph, unique_number
from tfexp.graph.graph import Graph
from tfexp.graph.handles import owner_of
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor


class TracedGraph(FunctionGraph):
    """What it does happens in the order in which the program says it (`effects`)."""

    is_traced = True
    orders_effects = True

    def __init__(self, name: str, outer: Graph):
        super().__init__(name, outer, outer.around_functions)
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.structured_outputs: Any = None
        self.structured_input_signature: Any = None
        self._scope_of_capture = ""

    @property
    def outer_graph(self) -> Graph:
        return self.outer

    @property
    def captures(self) -> list[tuple[Tensor, Tensor]]:
        """(the tensor around it, the argument that stands for it)."""
        return list(self.captured.items())

    @property
    def external_captures(self) -> list[Tensor]:
        return list(self.captured)

    @property
    def internal_captures(self) -> list[Tensor]:
        return list(self.captured.values())

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it takes from around it, as far as the program still holds them."""
        owners = [owner_of(tensor) for tensor in self.captured]
        return tuple(dict.fromkeys([owner for owner in owners if owner is not None]))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple([variable for variable in self.variables if variable.trainable])

    def add_node(self, op_type: str, inputs: Sequence[Tensor], *args: Any, **kwargs: Any) -> Operation:
        # An argument that stands for something outside is named after the node that takes it first.
        name = kwargs.get("name") or op_type
        whole = name[:-1] if name.endswith("/") else self.unique_name(name, mark_as_used=False)
        self._scope_of_capture = f"{whole}_"
        return super().add_node(op_type, inputs, *args, **kwargs)

    def argument(self, dtype: Any, shape: Any, name: str) -> Tensor:
        return super().argument(dtype, shape, name.replace("/", "_").lower())

    def capture(self, tensor: Tensor) -> Tensor:
        """As for all functions; what is captured of eager execution has a value, which shapes may depend on."""
        is_new = tensor._graph is not self and tensor not in self.captured
        captured = super().capture(tensor)
        if is_new and isinstance(tensor, EagerTensor) and tensor._static_value is not None:
            captured._static_value = tensor._static_value
        return captured

    def _capture_name(self, tensor: Tensor) -> str:
        return self._scope_of_capture + super()._capture_name(tensor)

    def inner(self, label: str) -> TracedGraph:
        """The graph of a branch or body, to be built inside this one."""
        return TracedGraph(_inner_name(label), self)

    def results(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Nodes that the function is to return these from."""
        with name_scope(None), control_dependencies(None):
            return [get_op("Identity")(self.capture(tensor)) for tensor in tensors]

    def finish(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Function:
        """The function of this graph, in the library of the graph around it.

        All that has an effect runs in order, and before anybody sees an output (of `results`).
        """
        self.inputs, self.outputs = list(inputs), list(outputs)
        effects = order_effects(self.get_operations())
        if effects and outputs:
            with self.as_default(), name_scope(None), control_dependencies(None), control_dependencies(effects):
                done = no_op()
            for tensor in outputs:
                if tensor not in inputs:
                    tensor.op._add_control_input(done)
        function = Function(self.name, self, inputs, outputs, effects=effects)
        self.outer._functions[function.name] = function
        return function


class UnorderedGraph(TracedGraph):
    """As in TF1's graphs, only what a result needs is run, and in the order that control dependencies say."""

    orders_effects = False

    def inner(self, label: str) -> TracedGraph:
        return UnorderedGraph(_inner_name(label), self)

    def results(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        return [self.capture(tensor) for tensor in tensors]

    def finish(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> Function:
        self.inputs, self.outputs = list(inputs), list(outputs)
        function = Function(self.name, self, inputs, outputs, effects=[])
        self.outer._functions[function.name] = function
        return function


def graph_within(outer: Graph, label: str) -> TracedGraph:
    """The graph of a branch or body, to be built inside `outer`, with whose order of effects and collections it goes."""
    graph = outer.inner(label) if isinstance(outer, TracedGraph) else UnorderedGraph(_inner_name(label), outer)
    graph._collections = outer._collections
    return graph


def _inner_name(label: str) -> str:
    return f"{label.replace('/', '_')}_{unique_number()}"
