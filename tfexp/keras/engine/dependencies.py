"""What depends on what in a graph: which losses and updates go with which inputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor

_symbolic_types: list[type] = []


def register_symbolic_tensor_type(cls: type) -> None:
    """Values of this class stand for tensors of a graph, too. `tf_utils.register_symbolic_tensor_type`."""
    _symbolic_types.append(cls)


def is_symbolic(value: Any) -> bool:
    """Whether it is a tensor of a graph, without a value."""
    return (isinstance(value, Tensor) and not value._graph.is_eager) or isinstance(value, tuple(_symbolic_types))


def graph_of(value: Any) -> Graph:
    """The graph of a tensor, sparse or dense, or of what stands for one."""
    graph: Graph = value.graph if hasattr(value, "graph") else convert_to_tensor(value)._graph
    return graph


def _operation(value: Any) -> Operation | None:
    if isinstance(value, Operation):
        return value
    found = getattr(getattr(value, "handle", value), "op", None)
    return found if isinstance(found, Operation) else None


def depending_on(inputs: Any, targets: Iterable[Any]) -> list[Any]:
    """The targets (operations, tensors) that one of the input tensors goes into, however far."""
    wanted = [(target, _operation(target)) for target in targets]
    sources = {op for value in nest.flatten(inputs, expand_composites=True) if (op := _operation(value)) is not None}
    found = _downstream(sources, {op.graph for _, op in wanted if op is not None})
    return [target for target, op in wanted if op is not None and op in found]


def _downstream(sources: set[Operation], graphs: set[Any]) -> set[Operation]:
    """The operations that are fed by the sources, through any number of others; the sources among them."""
    found = {op for op in sources if op.graph in graphs}
    stack = list(found)
    while stack:
        op = stack.pop()
        for after in [*(user for tensor in op.outputs for user in tensor._consumers), *op._control_outputs]:
            if after not in found:
                found.add(after)
                stack.append(after)
    return found
