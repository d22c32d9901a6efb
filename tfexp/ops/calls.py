"""Nodes that run functions of the graph's library: calls, and control flow whose branches and bodies are functions.

None of them has a kernel: the planner puts the function's nodes in the node's place (`plan.functions`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph import tape
from tfexp.graph.calls import called_functions
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function import Function
from tfexp.graph.function_graph import FunctionGraph, unique_number
from tfexp.graph.functional_cond_gradient import cond_gradient, zeros_like
from tfexp.graph.functional_while_gradient import while_gradient
from tfexp.graph.gradients import gradients, is_trainable, taking_none
from tfexp.graph.graph import Graph
from tfexp.graph.handles import capture_handle
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tensor import Tensor

_CALL = (
    "{Tin: list(type) >= 0; Tout: list(type) >= 0; f: func; config: string = ''; config_proto: string = ''; "
    "executor_type: string = ''}"
)
partitioned_call = define_op(f"PartitionedCall(args: Tin) -> (output: Tout) {_CALL}")
stateful_partitioned_call = define_op(f"StatefulPartitionedCall(args: Tin) -> (output: Tout) {_CALL} #stateful")

# All devices of a process are its own: a function runs where its nodes are placed, whatever the target is.
remote_call = define_op(
    "RemoteCall(target: string, args: Tin) -> (output: Tout) {Tin: list(type) >= 1; Tout: list(type) >= 1; f: func} "
    "#stateful"
).not_differentiable()


@remote_call.shape
def _(target: InputShape, args: Sequence[InputShape], *, Tout: list[Any]) -> list[TensorShape]:
    return [TensorShape(None)] * len(Tout)


@remote_call.kernel("CPU")
def _(ctx: Any, target: Any, args: Sequence[Any], *, f: Any) -> Sequence[Any]:
    return list(ctx.function(f)(args))


_IF = (
    "(cond: Tcond, input: Tin) -> (output: Tout) {Tcond: type; Tin: list(type) >= 0; Tout: list(type) >= 0; "
    "then_branch: func; else_branch: func; output_shapes: list(shape) = []}"
)
_WHILE = (
    "(input: T) -> (output: T) {T: list(type) >= 0; cond: func; body: func; output_shapes: list(shape) = []; "
    "parallel_iterations: int = 10}"
)
_CASE = (
    "(branch_index: int32, input: Tin) -> (output: Tout) {Tin: list(type) >= 0; Tout: list(type) >= 0; "
    "branches: list(func) >= 1; output_shapes: list(shape) = []}"
)
if_ = define_op(f"If{_IF} #stateful")
stateless_if = define_op(f"StatelessIf{_IF}")
while_ = define_op(f"While{_WHILE} #stateful")
stateless_while = define_op(f"StatelessWhile{_WHILE}")
case = define_op(f"Case{_CASE} #stateful")
stateless_case = define_op(f"StatelessCase{_CASE}")

for _op in (partitioned_call, stateful_partitioned_call):

    @_op.shape
    def _(args: Sequence[InputShape], *, Tout: list[Any]) -> list[TensorShape]:
        return [TensorShape(None)] * len(Tout)


for _op in (if_, stateless_if):

    @_op.shape
    def _(
        cond: InputShape,
        inputs: Sequence[InputShape],
        *,
        Tout: list[Any],
        output_shapes: list[TensorShape],
    ) -> list[TensorShape]:
        return output_shapes or [TensorShape(None)] * len(Tout)


for _op in (if_, stateless_if, case, stateless_case):
    _op.gradient(cond_gradient)

# Stands for a value that a branch does not have, where the other branch has one.
fake_param = define_op("FakeParam() -> (output: dtype) {dtype: type; shape: shape}")


@fake_param.shape
def _(*, shape: TensorShape) -> TensorShape:
    return shape


@fake_param.kernel("CPU")
def _(ctx: Any, *, dtype: DType, shape: TensorShape) -> Any:
    """Zeros, of no elements where the shape leaves a choice."""
    sizes = () if shape.rank is None else tuple([size or 0 for size in shape.as_list()])
    return np.zeros(sizes, dtype.as_numpy_dtype)


for _op in (case, stateless_case):

    @_op.shape
    def _(
        branch_index: InputShape,
        inputs: Sequence[InputShape],
        *,
        Tout: list[Any],
        output_shapes: list[TensorShape],
    ) -> list[TensorShape]:
        return output_shapes or [TensorShape(None)] * len(Tout)


for _op in (while_, stateless_while):

    @_op.shape
    def _(inputs: Sequence[InputShape], *, output_shapes: list[TensorShape]) -> list[TensorShape]:
        return output_shapes or [TensorShape(shape) for shape in inputs]


while_.gradient(while_gradient)
stateless_while.gradient(while_gradient)

symbolic_gradient = define_op(
    "SymbolicGradient(input: Tin) -> (output: Tout) {Tin: list(type) >= 1; Tout: list(type) >= 1; f: func}"
)


@symbolic_gradient.shape
def _(input: Sequence[InputShape], *, Tin: list[DType], Tout: list[DType]) -> list[TensorShape]:
    """Gradients have the shapes of the function's inputs, which come first; a variable's, not that of its handle."""
    kinds = zip(input, Tin, Tout, strict=False)  # behind the inputs are the gradients of the results
    return [TensorShape(None if given is dtypes.resource is not made else shape) for shape, given, made in kinds]


to_bool = define_op("ToBool(input: T) -> (output: bool) {T: type}")


@to_bool.shape
def _(input: InputShape) -> TensorShape:
    return TensorShape([])


@to_bool.kernel("CPU")
def _(ctx: Any, input: Any) -> Any:
    """A number is true unless it is zero, a string unless it is empty, anything else if it has elements."""
    if np.ndim(input):
        return np.bool_(np.size(input) > 0)
    return np.bool_(bool(np.asarray(input)[()]))


# --- building and calling functions -------------------------------------------------------------------------------------


def function_name(label: str) -> str:
    """A name that no other function has, with `label` in it."""
    return f"__inference_{label}_{unique_number()}"


def build_function(
    name: str, body: Callable[..., Sequence[Any]], arguments: Sequence[tuple[Any, Any, str]]
) -> tuple[Function, list[Tensor]]:
    """Trace `body(*arguments)` into a new function of the default graph's library.

    `arguments` are (dtype, shape, name). Returns the function and the tensors of the default graph that its body uses,
    which every call has to hand over after its arguments. The function's name begins with `name`.
    """
    outer = get_default_graph()
    graph = FunctionGraph(function_name(name), outer)
    with graph.as_default():
        inputs = [graph.argument(dtype, shape, argument) for dtype, shape, argument in arguments]
        outputs = [graph.capture(convert_to_tensor(result)) for result in body(*inputs)]
    return finish_function(graph, inputs, outputs)


def finish_function(
    graph: FunctionGraph, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> tuple[Function, list[Tensor]]:
    """The function of a graph whose body has been built, in the outer graph's library, and what it captured there."""
    function = Function(graph.name, graph, [*inputs, *graph.captured.values()], outputs)
    graph.outer._functions[function.name] = function
    return function, graph.outer_captures()


def add_function(graph: Graph, function: Function) -> None:
    """Put a function, and what it calls, into the library of a graph; ValueError where its name is another one's."""
    known = graph._functions.get(function.name)
    if known is function:
        return
    if known is not None:
        raise ValueError(f"Cannot add function {function.name!r}: a different function with the same name already exists.")
    graph._functions[function.name] = function
    library = function.body._functions
    for name in [name for op in function.body.get_operations() for name in called_functions(op)]:
        if name in library:
            add_function(graph, library[name])


def forget_function(library: dict[str, Function], function: Function) -> None:
    """Take a function that nobody can call any more out of a library, with all that was made to differentiate it."""
    library.pop(function.name, None)
    pending = [function.__dict__.pop("_forward", None)]
    if function.is_built:
        pending += [one.backward for one in function.body.__dict__.pop("_derivatives", {}).values()]
    for one in pending:
        if one is not None:
            forget_function(library, one)


class _OfThread(threading.local):
    executor_type = ""


_OF_THREAD = _OfThread()


@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Calls of functions that are made within say so in their node; the plan runs them as all others.

    `executor_type`: `SINGLE_THREADED_EXECUTOR`, which TensorFlow then runs them with, or None. Source:
    `tf.experimental.function_executor_type`, TF 1.15.
    """
    if executor_type is not None and not isinstance(executor_type, str):
        raise TypeError(f"Expected string for argument 'executor_type' not {executor_type!r}.")
    saved, _OF_THREAD.executor_type = _OF_THREAD.executor_type, executor_type or ""
    try:
        yield
    finally:
        _OF_THREAD.executor_type = saved


def call_function(function: Function, args: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Call a function of the default graph's library; its outputs, with the shapes that its body knows."""
    return list(_call(function, args, name).outputs)


def _call(function: Function, args: Sequence[Tensor], name: str | None = None) -> Operation:
    graph = get_default_graph()
    op_type = "StatefulPartitionedCall" if function.is_stateful else "PartitionedCall"
    attrs = {
        "Tin": [t.dtype.base_dtype for t in args],
        "Tout": [t.dtype for t in function.outputs],
        "f": NameAttrList(name=function.name),
        "config": "",
        "config_proto": "",
        "executor_type": _OF_THREAD.executor_type,
    }
    call = graph.add_node(op_type, args, attrs, name=name)
    if not graph.is_eager:
        for output, inner in zip(call.outputs, function.outputs, strict=True):
            output.set_shape(inner.shape)
            capture_handle(output, inner)
    return call


def call_and_record(function: Function, args: Sequence[Tensor]) -> Operation:
    """Call a function of the default graph's library; the node, whose first outputs are the function's.

    In eager execution, where tapes watch, it has more of them: what its gradient needs.
    """
    for _ in range(tape.count_watching(args) if get_default_graph().is_eager else 0):
        function = forward_of(function)
    return _call(function, args)


# --- differentiating calls ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Derivative:
    """The gradient of a function, as a function of the gradients of some outputs and then of tensors of its body (`used`).

    What it gives are the gradients of the inputs of these indices (`connected`).
    """

    backward: Function
    used: list[Tensor]
    connected: list[int]


def derivative_of(function: Function, given: tuple[int, ...]) -> Derivative:
    """Where the outputs of these indices have gradients. Made once for a body, in its library."""
    made: dict[Any, Derivative] = function.body.__dict__.setdefault("_derivatives", {})
    key = tuple(function.inputs), tuple([function.outputs[i] for i in given])
    if key not in made:
        made[key] = _differentiated(function, given)
    return made[key]


def _differentiated(function: Function, given: tuple[int, ...]) -> Derivative:
    wanted = [i for i, t in enumerate(function.inputs) if is_trainable(t)]
    graph = FunctionGraph(_fresh_name("__backward_", function), function.body)
    with graph.as_default():
        ys = [function.outputs[i] for i in given]
        weights = [graph.argument(y.dtype, y.shape, f"gradients_{i}") for i, y in enumerate(ys)]
        found = gradients(ys, [function.inputs[i] for i in wanted], weights)
        connected = [i for i, g in zip(wanted, found, strict=True) if g is not None]
        outputs = [graph.capture(convert_to_tensor(g)) for g in found if g is not None]
    backward, used = finish_function(graph, weights, outputs)
    return Derivative(backward, used, connected)


def _trainable_outputs(function: Function) -> tuple[int, ...]:
    return tuple([i for i, t in enumerate(function.outputs) if is_trainable(t)])


def forward_of(function: Function) -> Function:
    """The function with what its derivative uses of its body as further outputs, in the library of its body."""
    found: Function | None = function.__dict__.get("_forward")
    if found is None:
        given = _trainable_outputs(function)
        used = derivative_of(function, given).used if given else []
        known = {*function.inputs, *function.outputs}
        found = _with_outputs(function, [tensor for tensor in dict.fromkeys(used) if tensor not in known])
        found.__dict__["_forward_from"] = function
        function.__dict__["_forward"] = found
    return found


def _with_outputs(function: Function, more: Sequence[Tensor]) -> Function:
    name = _fresh_name("__forward_", function)
    longer = Function(name, function.body, function.inputs, [*function.outputs, *more], effects=function._effects)
    function.body._functions[name] = longer
    return longer


@partitioned_call.gradient
@stateful_partitioned_call.gradient
@taking_none
def _(op: Operation, *grads: Any) -> list[Tensor | None]:
    """A call of the function's gradient, which gets what it needs of the forward pass as further outputs of this call."""
    function = op.graph._functions[op.attrs["f"].name]
    given = tuple([i for i, g in enumerate(grads) if g is not None])
    if op.graph.is_eager:
        given = _prepared(function, given)
    weights = [zeros_like(op.outputs[i]) if grads[i] is None else convert_to_tensor(grads[i]) for i in given]
    derivative = derivative_of(function, given)
    forward = _values_of_body(op, function, derivative.used)
    add_function(get_default_graph(), derivative.backward)
    call = call_and_record(derivative.backward, [*weights, *forward])
    call.lease = op.lease
    results: list[Tensor | None] = [None] * len(op.inputs)
    for i, value in zip(derivative.connected, call.outputs, strict=False):
        results[i] = value
    return results


def _prepared(function: Function, given: tuple[int, ...]) -> tuple[int, ...]:
    """The outputs that the call which has run was ready to be differentiated for, and that these are among."""
    ready = given
    shorter: Function | None = function.__dict__.get("_forward_from")
    while shorter is not None:
        outputs = _trainable_outputs(shorter)
        if set(given) <= set(outputs):
            ready = outputs
        shorter = shorter.__dict__.get("_forward_from")
    return ready


def _values_of_body(call: Operation, function: Function, wanted: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of the function's body as the caller sees them: arguments, outputs, and outputs that the call gets now."""
    known = dict(zip(function.inputs, call.inputs, strict=True))
    known.update(zip(function.outputs, call.outputs, strict=True))
    more = [tensor for tensor in dict.fromkeys(wanted) if tensor not in known]
    if more:
        if call.graph.is_eager:
            raise LookupError(
                f"{function.name} was called without a tape; its gradient needs {len(more)} values of that call"
            )
        longer = _with_outputs(function, more)
        add_function(call.graph, longer)
        call._set_attr("f", NameAttrList(name=longer.name))
        call._set_attr("Tout", [t.dtype for t in longer.outputs])
        for tensor in more:
            output = Tensor(call, len(call.outputs), tensor.dtype, tensor.shape)
            call.outputs.append(output)
            known[tensor] = output
    return [known[tensor] for tensor in wanted]


def _fresh_name(prefix: str, function: Function) -> str:
    return f"{prefix}{function.name.removeprefix('__inference_').removeprefix('__forward_')}_{unique_number()}"
