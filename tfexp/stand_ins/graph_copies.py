"""Parts of graphs elsewhere: `tensorflow.python.eager`'s `lift_to_graph` and `wrap_function`, and functions' definitions.

Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tensorboard.compat.proto import function_pb2, graph_pb2

from tfexp.core import nest
from tfexp.functions.wrapped import WrappedFunction, wrap_function
from tfexp.graph.function import Function, value_names
from tfexp.graph.graphdef import import_graph_def
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import placeholder
from tfexp.ops.variable_base import variable_creator_scope
from tfexp.stand_ins.function_graphs import function_def_to_graph
from tfexp.train.object_models.of_sessions import UnliftableError


def lift_to_graph(
    tensors: Iterable[Any],
    graph: Any,
    sources: Iterable[Any] | None = None,
    disallowed_placeholders: Any = None,
    add_sources: bool = False,
    handle_captures: bool = False,
    base_graph: Any = None,
    op_map: dict[Any, Any] | None = None,
) -> dict[Any, Any]:
    """Copy tensors, and what they depend on, into `graph`: {tensor or operation of theirs: its copy}.

    sources: where to stop; with `add_sources` placeholders stand there for them, else what `op_map` has, or they themselves,
    captured. UnliftableError where a placeholder in `disallowed_placeholders` is needed. Loops cannot be copied.
    What is outside of `graph` is captured whether `handle_captures` or not; each tensor says itself what `base_graph` is.
    """
    copies: dict[Any, Any] = {} if op_map is None else op_map
    stops = {_operation(source) for source in sources or ()}
    with graph.as_default():
        for op in in_order([_operation(tensor) for tensor in tensors], stops):
            if op in copies:
                continue
            if op in (disallowed_placeholders or ()):
                raise UnliftableError(f"{op.name!r} depends on a placeholder, and cannot be lifted out of its graph")
            if op in stops:
                if add_sources:
                    made = [placeholder(tensor.dtype, tensor.shape, op.name) for tensor in op.outputs]
                    copies.update(zip([op, *op.outputs], [made[0].op, *made], strict=True))
                continue
            inputs = [copies.get(tensor, tensor) for tensor in op.inputs]
            with graph.control_dependencies([copies[c] for c in op.control_inputs if c in copies]):
                copy = graph.add_node(op.type, [graph.capture(t) for t in inputs], dict(op.attrs), op.name)
            copies[op] = copy
            copies.update(zip(op.outputs, copy.outputs, strict=True))
    return copies


def _operation(value: Any) -> Operation:
    return value if isinstance(value, Operation) else value.op


def in_order(wanted: Sequence[Operation], stops: set[Operation]) -> list[Operation]:
    """The operations that these need, those that others need first; a graph's order is such a one."""
    needed: set[Operation] = set()
    queue = list(wanted)
    while queue:
        op = queue.pop()
        if op not in needed:
            needed.add(op)
            if op not in stops:
                queue += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return sorted(needed, key=lambda op: op._id)


def function_from_graph_def(graph_def: graph_pb2.GraphDef, inputs: Any, outputs: Any) -> WrappedFunction:
    """A graph as a function of some of its tensors that gives others; both are (structures of) their names."""

    def imported() -> None:
        import_graph_def(graph_def, name="")

    whole = wrap_function(imported, [])
    return whole.prune(*(nest.map_structure(whole.graph.as_graph_element, names) for names in (inputs, outputs)))


class VariableHolder:
    """Calls of a function whose variables are kept; with `share_variables`, one of a name serves all who make it."""

    def __init__(self, fn: Callable[..., Any] | None = None, share_variables: bool = False):
        self._fn = fn
        self._share = share_variables
        self._by_name: dict[str, Any] = {}

    @property
    def variables(self) -> dict[str, Any]:
        return self._by_name

    def variable_creator_scope(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        name = kwargs.get("name")
        if self._share and name in self._by_name:
            return self._by_name[name]
        made = next_creator(**kwargs)
        self._by_name[name if name is not None else made.op.name] = made
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)

    def call_with_variable_creator_scope(self, fn: Any) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with variable_creator_scope(self.variable_creator_scope):
                return fn(*args, **kwargs)

        return wrapped


class WrappedGraph:
    """Functions of graphs that share their variables, by name."""

    def __init__(self, variable_holder: VariableHolder | None = None):
        self._holder = variable_holder or VariableHolder(share_variables=True)
        self.functions: dict[str, WrappedFunction] = {}

    @property
    def variables(self) -> dict[str, Any]:
        return self._holder.variables

    def wrap_function(self, fn: Any, signature: Sequence[Any], name: str | None = None) -> WrappedFunction:
        """`tf.wrap_function`, with this graph's variables; ValueError where the name is taken."""
        if name is not None and name in self.functions:
            raise ValueError(f"There is a wrapped function {name!r} already")
        wrapped = wrap_function(self._holder.call_with_variable_creator_scope(fn), signature, name)
        self.functions[name or wrapped.name] = wrapped
        return wrapped


def graph_to_function_def(
    graph: Any,
    operations: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> function_pb2.FunctionDef:
    """The graph as a FunctionDef. `graph_to_function_def.graph_to_function_def`."""
    name = getattr(graph, "name", None) or ""
    return Function(name, graph, list(inputs), list(outputs), output_names=out_names or ()).definition


def function_def_to_graph_def(
    fdef: function_pb2.FunctionDef, input_shapes: Sequence[Any] | None = None, copy_functions: bool = True
) -> tuple[graph_pb2.GraphDef, dict[str, str]]:
    """(a FunctionDef's body as a GraphDef, {name of a tensor in the function: its name there}).

    ValueError for another number of `input_shapes` than of inputs.
    """
    graph = function_def_to_graph(fdef, input_shapes, copy_functions)
    nodes = graph.get_operations()
    name_in_function = value_names({tensor.op for tensor in graph.inputs}, {op: op.name for op in nodes})
    outputs = [tensor for op in nodes for tensor in op.outputs]
    return graph.as_graph_def(), {name_in_function(tensor): tensor.name for tensor in outputs}
