"""Tracing: a Python function becomes the graph of a function."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.shape import TensorShape
from tfexp.functions.arguments import Bound
from tfexp.functions.effects import order_effects
from tfexp.functions.lifting import Lifting
from tfexp.functions.results import Results
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import no_op
from tfexp.graph.eager_tensor import EagerTensor
from tfexp.graph.function import Function
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.graph import Graph
from tfexp.graph.handles import capture_handle
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, get_default_graph, init_scope, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.graph.type_spec import TensorSpec
from tfexp.ops.array_identity import identity
from tfexp.ops.calls import function_name
from tfexp.ops.variable_base import Variable, variable_creator_scope


class Variables:
    """The variables that traces of one `tf.function` made; they live as long as the program holds them.

    Only the first call may make some: `closed` afterwards.
    """

    def __init__(self) -> None:
        self.made: list[weakref.ref[Variable]] = []
        self.closed = False


class TracedGraph(FunctionGraph):
    """The graph of a function that `tf.function` traces."""

    orders_effects = True

    def __init__(self, name: str, outer: Graph):
        super().__init__(name, outer)
        self._scope_of_capture = ""

    def add_node(self, op_type: str, inputs: Sequence[Tensor], attrs: Any = None, name: Any = None, *rest: Any, **more: Any) -> Any:
        # An argument that stands for something outside is named after the node that takes it first.
        self._scope_of_capture = f"{self._node_name_of(name or op_type)}_"
        return super().add_node(op_type, inputs, attrs, name, *rest, **more)

    def _node_name_of(self, name: str) -> str:
        return name[:-1] if name.endswith("/") else self.unique_name(name, mark_as_used=False)

    def argument(self, dtype: Any, shape: Any, name: str) -> Tensor:
        return super().argument(dtype, shape, name.replace("/", "_").lower())

    def capture(self, tensor: Tensor) -> Tensor:
        """As for all functions; what is captured of eager execution has a value that shapes may depend on."""
        if tensor.graph is self or tensor in self.captured:
            return super().capture(tensor)
        captured = super().capture(tensor)
        if isinstance(tensor, EagerTensor) and tensor._static_value is not None:
            captured._static_value = tensor._static_value
        return captured

    def _capture_name(self, tensor: Tensor) -> str:
        return self._scope_of_capture + super()._capture_name(tensor)


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
    ):
        """`shapes`, for each leaf of the arguments: what to take instead of a tensor's own."""
        self.python_function = python_function
        self.name = getattr(python_function, "__name__", type(python_function).__name__)
        outer = get_default_graph()
        self.graph = graph = TracedGraph(function_name(self.name), outer)
        graph._device_stack = list(outer.around_functions)
        with graph.as_default():
            values = self._arguments(bound, shapes)
            known = {
                placeholder: leaf
                for placeholder, leaf in zip(self.arguments, self._given, strict=True)
                if isinstance(leaf, Tensor)
            }
            with variable_creator_scope(_creator(graph, variables, known)):
                args, kwargs = values
                result = python_function(*args, **kwargs)
            outputs = self._outputs(result)
            effects = order_effects(graph)
            _run_before(effects, outputs)
        inputs = [*self.arguments, *graph.captured.values()]
        self.function = Function(graph.name, graph, inputs, outputs, effects=effects)
        outer._functions[self.function.name] = self.function

    def _arguments(self, bound: Bound, shapes: Sequence[TensorShape | None] | None) -> Any:
        """The structure that the Python function is called with, placeholders in place of tensors."""
        graph = self.graph
        self.arguments: list[Tensor] = []
        self.argument_names: list[str] = []
        self.constants: list[Any] = []
        self._given: list[Any] = []
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
            self.argument_names.append(wanted)
            self._given.append(leaf)
            leaves.append(placeholder)
            specs.append(TensorSpec(shape, leaf.dtype.base_dtype, wanted))
        self.structured_input_signature = nest.pack_sequence_as(bound.structure, specs, expand_composites=True)
        return nest.pack_sequence_as(bound.structure, leaves, expand_composites=True)

    def _outputs(self, result: Any) -> list[Tensor]:
        """The results as nodes of the function, which all nodes that act before them may keep waiting."""
        self.results = Results(result, self.python_function)
        with name_scope(None), control_dependencies(None):
            return [identity(self.graph.capture(tensor)) for tensor in self.results.tensors]


def _run_before(effects: Sequence[Operation], outputs: Sequence[Tensor]) -> None:
    """Nobody sees a result before everything that has to run has run."""
    if not effects or not outputs:
        return
    with name_scope(None), control_dependencies(None), control_dependencies(effects):
        done = no_op()
    for tensor in outputs:
        tensor.op._add_control_input(done)


def _creator(graph: TracedGraph, variables: Variables, known: dict[Tensor, Any]) -> Callable[..., Variable]:
    """What makes variables while `graph` is built: outside of it, and behind handles."""

    def create(following: Callable[..., Variable], initial_value: Any = None, name: str | None = None, **kwargs: Any) -> Variable:
        if variables.closed:
            raise ValueError(
                f"tf.function-decorated function tried to create variables on non-first call: the variable {name or 'Variable'!r} "
                f"in the function {graph.name!r}. Make it once, and keep it, or make it outside of the function."
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
        variables.made.append(weakref.ref(variable))
        return variable

    return create


def _lifted_call(initial_value: Callable[[], Any], lift: Lifting) -> Callable[[], Any]:
    def call() -> Any:
        value = initial_value()
        return lift(value) if isinstance(value, Tensor) else value

    return call
