"""The short way of an op call in eager execution: what does not depend on the values is remembered.

For stateless ops of single tensors, all that `graph.apply` and `EagerGraph.add_node` find out (types, attributes, whether
the shapes fit, the callable to use) follows from the op, the attributes given, the inputs' dtypes and shapes, and the values
of those inputs that the shape rule asks for (`Reshape`'s shape, `Sum`'s axes).
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.kernel import BindRequest, Ref
from tfexp.core.op import Op, output_types
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph import tape
from tfexp.graph.apply import apply_op, parts_of_call
from tfexp.graph.eager_tensor import EagerOperation, EagerTensor
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.shape_inference import output_shapes
from tfexp.runtime.failures import as_eager_error

# So many combinations are remembered; then all are forgotten, which costs less than to know which ones are in use.
_MOST = 5000


@dataclass(frozen=True)
class _Known:
    """A remembered combination: `function(*arrays)` computes the one output."""

    function: Callable[..., Any]
    dtype: DType
    attrs: dict[str, Any]
    constants: tuple[tuple[int, EagerTensor], ...]  # inputs that were given as Python integers


@dataclass(frozen=True)
class _ByValue:
    """A combination that goes on with the values of these inputs."""

    inputs: tuple[int, ...]


class _Quiet(threading.local):
    """A context of each thread in which NumPy has no warnings to give: to enter it is cheaper than `np.errstate`.

    It cannot be entered twice, and need not: the kernels of the short way call nobody back.
    """

    def __init__(self) -> None:
        self.context = contextvars.copy_context()
        self.context.run(np.seterr, all="ignore")


_quiet = _Quiet()

# None: these go the long way.
_calls: dict[Any, _Known | _ByValue | None] = {}
_NEW: Any = object()  # instead of what `_calls` knows of a call that it knows nothing of


def apply_eagerly(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None) -> Any:
    """What a call of an op does once eager execution is there: `graph.apply.apply_op`, or its short cut."""
    graph: Any = get_default_graph()
    if not graph.is_eager or graph.marks_nodes:
        return apply_op(op, args, kwargs, name)
    if kwargs and not kwargs.keys() <= op.attrs.keys():  # an input by its name, which is nothing to remember
        return apply_op(op, args, kwargs, name)
    key: list[Any] = [op, *kwargs.items()]
    values: list[Any] = []
    for arg in args:
        if type(arg) is EagerTensor:
            value = arg._value
            if type(value) is Ref:
                return apply_op(op, args, kwargs, name)
            values.append(value)
            key.append(arg._dtype)
            key.append(getattr(value, "shape", None))
        elif type(arg) is int or (type(arg) in (list, tuple) and all(type(item) is int for item in arg)):
            values.append(None)
            key.append(type(arg))
            key.append(tuple(arg) if type(arg) is list else arg)
        else:
            return apply_op(op, args, kwargs, name)
    whole: Any = tuple(key)
    try:
        known = _calls.get(whole, _NEW)
    except TypeError:  # an attribute that cannot be hashed
        return apply_op(op, args, kwargs, name)
    if type(known) is _ByValue:
        whole = _with_values(whole, values, known.inputs)
        known = _calls.get(whole, _NEW)
    if type(known) is not _Known:
        result = apply_op(op, args, kwargs, name)
        if known is _NEW:
            _remember(whole, op, args, kwargs, graph)
        return result
    for i, tensor in known.constants:
        values[i] = tensor._value
    try:
        value = _quiet.context.run(known.function, *values)
    except Exception as error:
        raise as_eager_error(error, op.name) from error
    result = EagerTensor(value, known.dtype, graph)
    if tape.recording.tapes:
        inputs = list(args)
        for i, tensor in known.constants:
            inputs[i] = tensor
        tape.record(EagerOperation(graph, op, op.name, inputs, known.attrs, [result]))
    return result


def _remember(key: Any, op: Op, args: Sequence[Any], kwargs: dict[str, Any], graph: Any) -> None:
    """Note what to do next time, after the long way has been gone without a complaint."""
    if len(_calls) >= _MOST:
        _calls.clear()
    _calls[key] = None
    if not _has_short_way(op, args):
        return
    parts, attrs = parts_of_call(op, args, kwargs)
    tensors: list[Any] = list(parts)
    constants = tuple([(i, tensors[i]) for i, arg in enumerate(args) if tensors[i] is not arg])
    values = [tensor._value for tensor in tensors]
    if not all(isinstance(value, (np.ndarray, np.generic)) for value in values):
        return
    asked: set[int] = set()
    shapes = output_shapes(op, op.name, attrs, [_noted(i, value, asked) for i, value in enumerate(values)], 1)
    by_value = tuple(sorted(asked - {i for i, _ in constants}))
    if by_value:
        _calls[key] = _ByValue(by_value)
        key = _with_values(key, values, by_value)
    request = BindRequest(
        op_type=op.name,
        name=op.name,
        attrs=attrs,
        input_dtypes=tuple([tensor._dtype.base_dtype for tensor in tensors]),
        input_shapes=tuple([TensorShape(value.shape) for value in values]),
        input_values=tuple([np.asarray(value) if i in asked else None for i, value in enumerate(values)]),
        output_dtypes=tuple(output_types(op, attrs)),
        output_shapes=tuple(shapes),
    )
    _calls[key] = _Known(_function_for(op, request, graph), request.output_dtypes[0], attrs, constants)


def _has_short_way(op: Op, args: Sequence[Any]) -> bool:
    """Whether it is a stateless op of single tensors, all of which are given, that has a kernel and one output."""
    return (
        not op.is_stateful
        and bool(args)
        and len(args) == len(op.inputs)
        and "CPU" in op.kernels
        and op.has_single_output
        and not any(arg.is_list or arg.is_ref for arg in op.inputs)
    )


def _noted(i: int, value: Any, asked: set[int]) -> InputShape:
    """What a shape rule is told of input `i`; it joins `asked` when its value is asked for."""

    def ask(value: Any) -> Any:
        asked.add(i)
        return np.asarray(value)

    def ask_as_shape(value: Any) -> TensorShape:
        return TensorShape([None if size < 0 else int(size) for size in ask(value).tolist()])

    return InputShape(TensorShape(value.shape), value, ask, ask_as_shape)


def _with_values(key: Any, values: Sequence[Any], inputs: tuple[int, ...]) -> Any:
    """The key of a call of these values, where the inputs' values matter."""
    return (key, *[np.asarray(values[i]).tobytes() for i in inputs])


def _function_for(op: Op, request: BindRequest, graph: Any) -> Callable[..., Any]:
    """The callable of arrays that runs the op: what it binds for such inputs, or else its kernel."""
    call = op.bind_rule(request) if op.bind_rule is not None else None
    if call is not None and not call.scratch:
        return call.function
    kernel = op.kernels["CPU"]
    function, context, declared = kernel.function, graph.context_of(op), kernel.declared(request.attrs)
    return lambda *inputs: function(context, *inputs, **declared)
