"""The graph of a function while it is built, and what it does about tensors of the graphs around it: hand over, or copy."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.function import Function
from tfexp.graph.graph import Graph
from tfexp.graph.handles import capture_handle
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor

# Variables that a body makes or looks for are the program's.
_SHARED_COLLECTIONS = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)


_numbers = itertools.count()


def function_name(label: str) -> str:
    """A name that no other function has, with `label` in it."""
    return f"__inference_{label}_{next(_numbers)}"


class FunctionGraph(Graph):
    """The graph of a function while it is built inside `outer`.

    What the body uses of the graphs around it is captured: it becomes an argument (`captured` maps the outer tensor to it)
    that the caller hands over. What its nodes are to wait for outside has run before the function is called.
    What is collected outside is seen here; what is collected here is not seen outside, but for variables.
    """

    def __init__(self, name: str, outer: Graph):
        super().__init__()
        self.name = name
        self.outer = outer
        self.captured: dict[Tensor, Tensor] = {}
        self._functions = outer._functions
        self._seed = outer.seed
        for key in outer.get_all_collection_keys():
            self._collections[key] = outer.get_collection(key)
        for key in _SHARED_COLLECTIONS:
            self._collections[key] = outer.get_collection_ref(key)

    @property
    def building_function(self) -> bool:
        return True

    @property
    def outermost(self) -> Graph:
        return self.outer.outermost

    def argument(self, dtype: DType, shape: Any, name: str) -> Tensor:
        """A new argument: it is there before anything in the body."""
        with self.as_default(), name_scope(None), control_dependencies(None):
            attrs = {"dtype": dtype, "shape": TensorShape(shape)}
            return self.add_node("Placeholder", [], attrs, name=name).outputs[0]

    def capture(self, tensor: Tensor) -> Tensor:
        """The argument that stands for a tensor of a graph around this one; ValueError for other graphs' tensors."""
        if tensor._graph is self:
            return tensor
        found = self.captured.get(tensor)
        if found is None:
            self._check_around(tensor)
            if tensor.dtype._is_ref_dtype:
                raise ValueError(
                    f"The function {self.name!r} cannot use the reference {tensor.name} of the graph around it: only values "
                    "can be captured. Read it (`variable.read_value()`) before."
                )
            outer = self.outer.capture(tensor)
            found = self.argument(outer.dtype, outer.shape, tensor._op.name.replace("/", "_"))
            capture_handle(found, tensor)
            self.captured[tensor] = found
        return found

    def _check_around(self, tensor: Tensor) -> None:
        graph: Graph = self
        while isinstance(graph, FunctionGraph):
            graph = graph.outer
            if tensor._graph is graph:
                return
        raise ValueError(f"{tensor} must be from the function {self.name!r} or from a graph around it")

    def add_node(self, op_type: str, inputs: Sequence[Tensor], *args: Any, **kwargs: Any) -> Operation:
        return super().add_node(op_type, [self.capture(tensor) for tensor in inputs], *args, **kwargs)

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """As in all graphs; what is outside of the function is not waited for."""
        if control_inputs is None:
            return super().control_dependencies(None)
        return super().control_dependencies([one for one in control_inputs if self._is_inside(one)])

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """As in all graphs; where things outside of the function are is not known inside."""
        if op is not None and not self._is_inside(op):
            return contextlib.nullcontext()
        return super().colocate_with(op, ignore_existing)

    def _is_inside(self, element: Any) -> bool:
        return getattr(getattr(element, "op", element), "graph", self) is self

    def finish(self, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> tuple[Function, list[Tensor]]:
        """The function of this graph, whose body is complete, in the outer graph's library.

        Also returns the outer graph's tensors that a caller has to hand over after `inputs`.
        """
        function = Function(self.name, self, [*inputs, *self.captured.values()], outputs)
        self.outer._functions[function.name] = function
        return function, [self.outer.capture(tensor) for tensor in self.captured]


# Ops that are marked as stateful, so that each of their nodes runs, and that have no state: a copy does the same.
_WITHOUT_STATE = frozenset({"CheckNumerics", "MatchingFiles", "ReadFile"})


class ByValueGraph(FunctionGraph):
    """A function that copies what it uses of the graph around it, so that it needs no arguments.

    ValueError for what has a state, or is fed, and cannot be copied.
    """

    def __init__(self, name: str, outer: Graph):
        super().__init__(name, outer)
        self._copies: dict[Operation, Operation] = {}

    def capture(self, tensor: Tensor) -> Tensor:
        if tensor._graph is self:
            return tensor
        return self._copy(tensor.op).outputs[tensor.value_index]

    def _copy(self, op: Operation) -> Operation:
        if op not in self._copies:
            if op.type in ("Placeholder", "PlaceholderV2"):
                raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
            makes_dataset = any(t.dtype is dtypes.variant for t in op.outputs)
            is_copied = makes_dataset or op.type in _WITHOUT_STATE
            if op._op_def.is_stateful and not is_copied:
                raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")
            inputs = [self._copy(t.op).outputs[t.value_index] for t in op.inputs]
            self._copies[op] = self.add_node(op.type, inputs, op.attrs, name=op.name)
        return self._copies[op]
