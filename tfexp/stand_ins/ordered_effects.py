"""`tensorflow.python.framework.auto_control_deps`: what has an effect runs in the order of the program. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.core import nest
from tfexp.graph.convert import convert_to_tensor_or_indexed_slices
from tfexp.graph.effects import order_effects
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity


class AutomaticControlDependencies:
    """A block whose nodes run in the order in which they were made, as far as they have effects, and before what it returns.

    What it returns is given to `mark_as_return`.
    """

    def __init__(self) -> None:
        self._returned: list[Tensor] = []

    def mark_as_return(self, tensor: Any) -> Any:
        """A node for the value, which waits for all effects."""
        marked = nest.map_structure(identity, tensor, expand_composites=True)
        self._returned += nest.flatten(marked, expand_composites=True)
        return marked

    def __enter__(self) -> AutomaticControlDependencies:
        if not executing_eagerly():
            self._graph = get_default_graph()
            self._before = len(self._graph.get_operations())
        return self

    def __exit__(self, *error: object) -> None:
        if executing_eagerly() or error[0] is not None:
            return
        if self._graph is not get_default_graph():
            raise RuntimeError("Graph changed while trying to add control dependencies.")
        effects = order_effects(self._graph.get_operations()[self._before :])
        for tensor in self._returned:
            tensor.op._add_control_inputs([op for op in effects if op is not tensor.op])


def automatic_control_dependencies(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` as the body of such a block."""

    @functools.wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as block:
            result = f(*args, **kwargs)
            leaves = [
                None if leaf is None or isinstance(leaf, Operation) else block.mark_as_return(_tensor(leaf))
                for leaf in nest.flatten(result)
            ]
            return nest.pack_sequence_as(result, leaves)

    return wrapper


def _tensor(value: Any) -> Any:
    return value if isinstance(value, nest.Composite) else convert_to_tensor_or_indexed_slices(value)


def op_is_stateful(op: Operation) -> bool:
    """Whether a node keeps or changes a state."""
    return op._op_def.is_stateful
