"""`Defun`: a Python function as a function of the graph's library, called by nodes whose type is its name.

Source: `tensorflow.python.framework.function`, TF 1.15.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tensorboard.compat.proto import function_pb2, op_def_pb2
from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.text import as_bytes
from tfexp.graph.calls import called_functions
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.function_graph import ByValueGraph, FunctionGraph
from tfexp.graph.graph import Graph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops.resource_variables import ResourceVariable
from tfexp.ops.variable_scope import VariableScope, get_variable_scope, variable_scope
from tfexp.ops.variable_store import variable_store


class Defun:
    """The decorator: `@Defun(tf.float32)` makes a function of a float, `@Defun()` one for each tuple of types that is given.

    `func_name`: its name, else the Python function's with a digest. `out_names`: the names of its results. `grad_func`: the
    function of inputs and gradients of outputs that gives the gradients of inputs; `python_grad_func`: a rule `(op, *grads)`
    instead. `shape_func(op)`: the shapes of a call's results. `capture_by_value`: nodes around it that it uses are copied,
    of the stateful ones those in `whitelisted_stateful_ops`. `capture_resource_var_by_value` (True): of a resource variable
    that it gets, it is handed the value. `noinline`, `compiled`, `_implements`, `_reference` and what begins with
    `experimental_` are attributes of the function.
    """

    def __init__(self, *input_types: Any, **kwargs: Any):
        self._input_types = [dtypes.as_dtype(one) for one in input_types]
        self._options = {name: kwargs.pop(name) for name in _OPTIONS if name in kwargs}
        self._options["attrs"] = _attrs_of(kwargs)

    def __call__(self, func: Callable[..., Any]) -> DefinedFunction | OverloadedFunction:
        if not callable(func):
            raise ValueError(f"func {func} must be callable")
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults:
            raise ValueError(
                f"Functions with argument defaults or keywords arguments are not supported. {func} has defaults "
                f"{spec.defaults} and keywords {spec.varkw}."
            )
        arguments = spec.args[1:] if inspect.ismethod(func) else spec.args
        count = len(self._input_types)
        if count and (count < len(arguments) or (count > len(arguments) and not spec.varargs)):
            raise ValueError(
                f"The function has fewer or more arguments than the number of specified input types: {func} takes "
                f"{len(arguments)}{' or more' if spec.varargs else ''}, and there are {count} types"
            )
        if not count and (arguments or spec.varargs):
            return OverloadedFunction(func, arguments, self._options)
        names = [*arguments, *(f"arg{i}" for i in range(len(arguments), count))]
        return DefinedFunction(func, names, self._input_types, **self._options)


_OPTIONS = (
    "func_name",
    "grad_func",
    "python_grad_func",
    "out_names",
    "shape_func",
    "capture_by_value",
    "whitelisted_stateful_ops",
    "capture_resource_var_by_value",
)


def _attrs_of(kwargs: dict[str, Any]) -> dict[str, AttrValue]:
    """The attributes that the keywords ask for; ValueError for unknown ones."""
    attrs = {}
    if "noinline" in kwargs:
        attrs["_noinline"] = AttrValue(b=bool(kwargs.pop("noinline")))
    if kwargs.pop("compiled", False):
        attrs |= {"_XlaCompile": AttrValue(b=True), "_XlaSeparateCompiledGradients": AttrValue(b=False)}
    if kwargs.pop("separate_compiled_gradients", False):
        attrs["_XlaSeparateCompiledGradients"] = AttrValue(b=True)
    for key in [key for key in kwargs if key.startswith("experimental_") or key in ("_implements", "_reference")]:
        attrs[key] = _free_attr(key, kwargs.pop(key))
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    return attrs


def _free_attr(key: str, value: Any) -> AttrValue:
    """An attribute of a kind that its value says. ValueError where none does; the names of implementations are texts."""
    if isinstance(value, (bytes, str)):
        return AttrValue(s=as_bytes(value))
    if key.startswith("experimental_"):
        if isinstance(value, bool):
            return AttrValue(b=value)
        if isinstance(value, int):
            return AttrValue(i=value)
        if isinstance(value, float):
            return AttrValue(f=value)
    raise ValueError(f"Unsupported attribute type for {key} with type {type(value)}")


class DefinedFunction:
    """A function of known types. Traced when it is first needed; a call adds it to the library of the call's graph."""

    def __init__(
        self,
        func: Callable[..., Any],
        argnames: Sequence[str],
        input_types: Sequence[DType],
        func_name: str | None = None,
        grad_func: Any = None,
        python_grad_func: Callable[..., Any] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable[[Operation], Any] | None = None,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: Iterable[Operation] | None = None,
        capture_resource_var_by_value: bool = True,
        attrs: Mapping[str, AttrValue] | None = None,
    ):
        self._func, self._argnames, self._input_types = func, list(argnames), list(input_types)
        self._func_name, self._grad_func, self._python_grad_func = func_name, grad_func, python_grad_func
        self._out_names, self._shape_func = list(out_names or ()), shape_func
        self._by_value, self._attrs = capture_by_value, dict(attrs or {})
        self._copied_with_state = frozenset(whitelisted_stateful_ops or ())
        self._reads_outside = capture_resource_var_by_value
        self._devices = get_default_graph().around_functions
        self._function: Function | None = None
        self._captured: list[Tensor] = []

    # --- what it is ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._func_name or self._made().name

    @property
    def definition(self) -> function_pb2.FunctionDef:
        return self._made().definition

    @property
    def _signature(self) -> op_def_pb2.OpDef:
        return self._made().definition.signature

    @property
    def declared_input_types(self) -> tuple[DType, ...]:
        return tuple(self._input_types)

    @property
    def captured_inputs(self) -> list[Tensor]:
        """Tensors of the graph around it that every call hands over after the arguments."""
        self._made()
        return list(self._captured)

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        """(name, type) of the nodes of its body that have a state or an effect."""
        return [(op.name, op.type) for op in self._made().effects]

    @property
    def grad_func_name(self) -> str | None:
        return None if self._grad_func is None else self._grad_func.name

    @property
    def python_grad_func(self) -> Callable[..., Any] | None:
        return self._python_grad_func

    def set_grad_func(self, grad_func: Any) -> None:
        """Say which function computes its gradient; ValueError once it is in use."""
        if self._function is not None:
            raise ValueError(f"The gradient of {self.name!r} cannot be set any more: it has been defined")
        self._grad_func = grad_func

    # --- making it -----------------------------------------------------------------------------------------------------

    def _made(self) -> Function:
        if self._function is None:
            self._function = self._traced(get_default_graph())
        return self._function

    def _traced(self, outer: Graph) -> Function:
        label = self._func_name or getattr(self._func, "__name__", type(self._func).__name__).strip("<>")
        graph = (
            ByValueGraph(label, outer, self._devices, self._copied_with_state)
            if self._by_value
            else FunctionGraph(label, outer, self._devices)
        )
        scope_around = get_variable_scope()

        def outside(getter: Callable[..., Any], name: str, reuse: Any = None, **kwargs: Any) -> Any:
            """Variables are made in the graph around the function, below the scope there."""
            with outer.as_default():
                variable = scope_around.get_variable(variable_store(), name, reuse=reuse or None, **kwargs)
                graph.variables_used.append(variable)
                return variable.value() if self._reads_outside and isinstance(variable, ResourceVariable) else variable

        graph.seed = None  # what it draws is not the same in each run, unless an op's own seed says so
        with graph.as_default():
            inputs = [graph.argument(t, None, name) for t, name in zip(self._input_types, self._argnames, strict=True)]
            with variable_scope(VariableScope(None), custom_getter=outside):
                outputs = self._outputs(graph, self._func(*inputs))
        if graph.awaited:
            raise ValueError(
                f"{next(iter(graph.awaited))!r}, which nodes of {label!r} wait for, is not an element of this graph."
            )
        self._captured = graph.outer_captures()
        if self._out_names and len(self._out_names) != len(outputs):
            raise InvalidArgumentError(
                None,
                None,
                f"output names must be either empty or equal in size to outputs. output names size = {len(self._out_names)} "
                f"outputs size = {len(outputs)} (function {label!r})",
            )
        repeated = next((name for i, name in enumerate(self._out_names) if name in self._out_names[:i]), None)
        if repeated is not None:
            raise InvalidArgumentError(
                None,
                None,
                f"Cannot have duplicate output names. Name '{repeated}' appears more than once in 'output_names' array. "
                f"(function {label!r})",
            )
        function = Function(
            label, graph, [*inputs, *graph.captured.values()], outputs, self._attrs, output_names=self._out_names
        )
        if self._func_name is None:
            gradient = "" if self._grad_func is None else f"_{self._grad_func.name}"
            function.definition.signature.name = function.name = f"{label}{gradient}_{_digest(function.definition)}"
        function.definition.signature.description = self._func.__doc__ or ""
        function.gradient_rule = self._python_grad_func
        function.gradient_name = self.grad_func_name
        return function

    def _outputs(self, graph: FunctionGraph, result: Any) -> list[Tensor]:
        if result is None:
            return []
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        if any(one is None for one in results):
            raise ValueError(f"Function {getattr(self._func, '__name__', self._func)} can not return None.")
        return [graph.capture(convert_to_tensor(one)) for one in results]

    def add_to_graph(self, g: Graph) -> None:
        """Put it, its gradient and what it calls into the library of `g`; InvalidArgumentError where its name is taken.

        ValueError where it has a gradient of both kinds.
        """
        function = self._made()
        if self._grad_func is not None and self._python_grad_func is not None:
            raise ValueError(f"Gradient defined twice for function {function.name}")
        if g._functions.get(function.name) is function:
            return
        if self._grad_func is not None:
            self._grad_func.add_to_graph(g)
        _add(g, function)

    # --- calling it ----------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A node that calls it: its result, a tuple of several, or the node where there is none.

        ValueError for another number of arguments, other types and unknown keywords.
        """
        graph, function = get_default_graph(), self._made()
        self.add_to_graph(graph)
        name, attrs = kwargs.pop("name", None), _attrs_of(kwargs)
        if len(args) != len(self._input_types):
            raise ValueError(f"Expected number of arguments: {len(self._input_types)}, received: {len(args)}")
        given = [convert_to_tensor(arg) for arg in args]
        for tensor, wanted, argument in zip(given, self._input_types, self._argnames, strict=True):
            if tensor.dtype.base_dtype != wanted.base_dtype:
                raise ValueError(
                    f"Input {argument!r} passed {tensor.dtype.base_dtype.name} expected {wanted.name} while calling the "
                    f"function {function.name!r}"
                )
        natives = {key: value.b for key, value in attrs.items()}
        node = graph.add_node(function.name, [*given, *self._captured], natives, name=name)
        if self._shape_func is not None:
            for tensor, shape in zip(node.outputs, self._shape_func(node), strict=True):
                tensor.set_shape(shape)
        if len(node.outputs) == 1:
            return node.outputs[0]
        return tuple(node.outputs) if node.outputs else node


class OverloadedFunction:
    """A function without types: one `DefinedFunction` for each tuple of types that it is called with."""

    def __init__(self, func: Callable[..., Any], argnames: Sequence[str], options: Mapping[str, Any]):
        self._func, self._argnames, self._options = func, list(argnames), dict(options)
        self._by_types: dict[tuple[DType, ...], DefinedFunction] = {}
        for name in ("grad_func",):
            if isinstance(self._options.get(name), DefinedFunction):
                raise ValueError(f"{name} of a function without types has to be one without types, too")

    def instantiate(self, input_types: Sequence[Any]) -> DefinedFunction:
        """The function for these types."""
        types = tuple(dtypes.as_dtype(one).base_dtype for one in input_types)
        if types not in self._by_types:
            names = [*self._argnames, *(f"arg{i}" for i in range(len(self._argnames), len(types)))]
            if len(names) != len(types):
                raise ValueError(f"Expected number of arguments: {len(names)}, received: {len(types)}")
            options = dict(self._options)
            if options.get("func_name") is not None:
                options["func_name"] = "_".join([options["func_name"], *(one.name for one in types)])
            gradient = options.pop("grad_func", None)
            made = self._by_types[types] = DefinedFunction(self._func, names, types, **options)
            if gradient is not None:
                results = [
                    dtypes.as_dtype(arg.type) for arg in made._traced(get_default_graph()).definition.signature.output_arg
                ]
                made.set_grad_func(gradient.instantiate([*types, *results]))
        return self._by_types[types]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = [convert_to_tensor(arg) for arg in args]
        return self.instantiate([tensor.dtype for tensor in tensors])(*tensors, **kwargs)


def _digest(definition: function_pb2.FunctionDef) -> str:
    """What tells functions of one Python name apart: letters and digits that depend on the body."""
    digest = hashlib.sha256(definition.SerializeToString(deterministic=True)).digest()
    return base64.b64encode(digest, b"AA").decode()[:11]


def _add(graph: Graph, function: Function) -> None:
    known = graph._functions.get(function.name)
    if known is function:
        return
    if known is not None and known.definition != function.definition:
        raise InvalidArgumentError(
            None,
            None,
            f"Cannot add function {function.name!r} because a different function with the same name already exists.",
        )
    graph._functions[function.name] = function
    needed = [name for op in function.body.get_operations() for name in called_functions(op)]
    for name in [*needed, *([] if function.gradient_name is None else [function.gradient_name])]:
        if name in function.body._functions:
            _add(graph, function.body._functions[name])


# --- from within a body --------------------------------------------------------------------------------------------------


def get_extra_inputs() -> list[Tensor]:
    """What the function that is being built uses of the graph around it; nothing outside of functions."""
    graph = get_default_graph()
    return list(graph.captured) if isinstance(graph, FunctionGraph) else []


def get_extra_args() -> list[Tensor]:
    """The arguments of the function that is being built which stand for `get_extra_inputs()`."""
    graph = get_default_graph()
    return list(graph.captured.values()) if isinstance(graph, FunctionGraph) else []


def get_extra_vars() -> list[Any]:
    """The variables that the function which is being built has got so far, an entry for each time."""
    graph = get_default_graph()
    return list(graph.variables_used) if isinstance(graph, FunctionGraph) else []
