"""Initial values of variables that are made while a function is traced: computed outside of it, before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor


class Lifting:
    """Copies nodes of a function's graph into the default graph (in eager execution: computes them)."""

    def __init__(self, known: Mapping[Tensor, Any]):
        """`known`: what stands outside for a tensor of the function: a captured one, or an argument of the call."""
        self._known = dict(known)
        self._copies: dict[Operation, Operation] = {}

    def __call__(self, tensor: Tensor) -> Tensor:
        """ValueError where it depends on an argument whose value is not known."""
        if tensor in self._known:
            known: Tensor = self._known[tensor]
            return known
        if not isinstance(tensor._graph, FunctionGraph) or tensor._graph is get_default_graph():
            return tensor
        return self._copied(tensor.op, get_default_graph()).outputs[tensor.value_index]

    def _copied(self, op: Operation, graph: Graph) -> Operation:
        if op not in self._copies:
            if op.type == "Placeholder":
                raise ValueError(
                    f"The initial value of a variable depends on the argument {op.name!r} of the function "
                    f"{getattr(op.graph, 'name', '')!r}, which has no value while the function is traced."
                )
            inputs = [self(tensor) for tensor in op.inputs]
            self._copies[op] = graph.add_node(op.type, inputs, dict(op.attrs), name=op.name)
        return self._copies[op]
