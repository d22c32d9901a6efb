"""`tensorflow.python.framework.func_graph` and `.function_def_to_graph`: the graphs of functions. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto import function_pb2

from tfexp.autograph.conversion import convert
from tfexp.autograph.feature import features as as_features
from tfexp.core import nest
from tfexp.core.shallow_nest import flatten_with_joined_string_paths
from tfexp.core.shape import as_shape
from tfexp.functions.arguments import Parameters
from tfexp.functions.trace import Trace, Variables
from tfexp.graph.function import build_body
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.graph.traced_graph import TracedGraph
from tfexp.graph.type_spec import TensorSpec


class UnknownArgument:
    """What stands for an argument that is no tensor."""


class _OfAnyFunction(type):
    """Every function's graph counts as one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TracedGraph)


class FuncGraph(TracedGraph, metaclass=_OfAnyFunction):
    """The graph of a function inside of the default graph. Fill it `with graph.as_default()`, and set inputs and outputs."""

    def __init__(self, name: str, collections: Mapping[Any, Any] | None = None, capture_by_value: bool | None = None):
        super().__init__(name, get_default_graph())
        for key, values in (collections or {}).items():
            self._collections[key] = values


def func_graph_from_py_func(
    name: str,
    python_func: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    signature: Any = None,
    func_graph: TracedGraph | None = None,
    autograph: bool = False,
    autograph_options: Any = None,
    add_control_dependencies: bool = True,
    arg_names: Sequence[str] | None = None,
    op_return_value: Any = None,
    collections: Mapping[Any, Any] | None = None,
    capture_by_value: bool | None = None,
    override_flat_arg_shapes: Sequence[Any] | None = None,
) -> TracedGraph:
    """The graph that a Python function of tensors makes, with what went in and came out as its attributes.

    signature: specs of the arguments. func_graph: the graph to fill; else a new one, with `collections`. autograph: whether
    Python's `if`, `while` and `for` over tensors become the graph's. override_flat_arg_shapes: for each leaf of the
    arguments the shape to take, None for its own. Effects always run in order; other arguments change nothing.
    """
    graph = FuncGraph(name, collections, capture_by_value) if func_graph is None else func_graph
    parameters = Parameters(python_func)
    bound = parameters.bind(tuple(args), dict(kwargs or {})) if signature is None else parameters.as_arguments(signature)
    function = convert(python_func, as_features(autograph_options)) if autograph else python_func
    shapes = None
    if override_flat_arg_shapes is not None:
        shapes = [None if shape is None else as_shape(shape) for shape in override_flat_arg_shapes]
    trace = Trace(function, bound, Variables(), shapes, make_graph=lambda *_: graph, name=name)
    graph.structured_outputs = trace.results.pack(graph.outputs)
    graph.structured_input_signature = trace.structured_input_signature
    return graph


def convert_structure_to_signature(structure: Any, arg_names: Sequence[str] | None = None) -> Any:
    """The structure, a `tf.TensorSpec` for each tensor in it, named after its place, and an `UnknownArgument` for others."""

    def described(path: str, leaf: Any) -> Any:
        if isinstance(leaf, Tensor):
            return TensorSpec(leaf.shape, leaf.dtype, path)
        if isinstance(leaf, nest.Composite):
            return leaf._type_spec
        return leaf if isinstance(leaf, (bool, int, float, str, bytes, TensorSpec, type(None))) else UnknownArgument()

    leaves = flatten_with_joined_string_paths(structure)
    return nest.pack_sequence_as(structure, [described(path, leaf) for path, leaf in leaves])


def function_def_to_graph(
    fdef: function_pb2.FunctionDef, input_shapes: Sequence[Any] | None = None, copy_functions: bool = True
) -> TracedGraph:
    """The graph of a FunctionDef; the functions that it calls are those of the default graph.

    ValueError for another number of `input_shapes` than of inputs.
    """
    graph = FuncGraph(fdef.signature.name)
    graph.inputs, graph.outputs = build_body(fdef, graph)
    if input_shapes is not None:
        if len(input_shapes) != len(graph.inputs):
            raise ValueError(f"{fdef.signature.name}: there are {len(graph.inputs)} inputs and {len(input_shapes)} shapes")
        for tensor, shape in zip(graph.inputs, input_shapes, strict=True):
            tensor.set_shape(shape)
    graph.structured_outputs = list(graph.outputs)
    return graph


def is_function(fname: str) -> bool:
    """Whether the default graph's library has a function of that name."""
    return fname in get_default_graph()._functions
