"""Python functions as nodes: `tf.py_func`, `tf.numpy_function`, `tf.py_function`. Source: TF 1.15.

A node knows its function by a token, which means something in the process that made it only. Graphs keep their functions
alive; when the last graph that uses one is gone, so is the token.
"""

from __future__ import annotations

import itertools
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.errors import (
    InternalError,
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from tfexp.core.op import define_op
from tfexp.core.text import as_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.defaults import new_eager_world
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, get_default_graph
from tfexp.graph.tape import GradientTape, keep_alive
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import zeros_like

_TYPES = "Tin: list(type) >= 0; Tout: list(type) >= 0"


class _Registered:
    """A function that has a token: it takes arrays and returns arrays."""

    def __init__(self, function: Callable[[Sequence[Any], Sequence[DType]], list[np.ndarray]], original: Any):
        self.call = function
        self.original = original


_registered: weakref.WeakValueDictionary[str, _Registered] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def _register(function: _Registered) -> str:
    """The token of a function that lives as long as the graph that is being built (the outermost one).

    The world of eager execution goes on: once it has run there, who calls it holds it, and tapes that may differentiate it.
    """
    token = f"pyfunc_{next(_numbers)}"
    _registered[token] = function
    graph = get_default_graph()
    if graph.is_eager:
        keep_alive(function)
        return token
    while isinstance(graph, FunctionGraph) and not graph.outer.is_eager:
        graph = graph.outer
    graph.keep_alive(function)
    return token


# --- the ops -----------------------------------------------------------------------------------------------------------

py_func_op = define_op(f"PyFunc(input: Tin) -> (output: Tout) {{token: string; {_TYPES}}} #stateful").not_differentiable()
py_func_stateless_op = define_op(f"PyFuncStateless(input: Tin) -> (output: Tout) {{token: string; {_TYPES}}}")
py_func_stateless_op.not_differentiable()
eager_py_func_op = define_op(
    f"EagerPyFunc(input: Tin) -> (output: Tout) {{token: string; is_async: bool = false; {_TYPES}}} #stateful"
)


@py_func_op.kernel("CPU")
@py_func_stateless_op.kernel("CPU")
@eager_py_func_op.kernel("CPU")
def _(ctx: Any, input: Sequence[Any], *, token: Any, Tin: list[DType], Tout: list[DType]) -> list[np.ndarray]:
    token = as_text(token)
    found = _registered.get(token)
    if found is None:
        raise InvalidArgumentError(
            None,
            None,
            f"ValueError: Could not find callback with key={token} in the registry. A Python function can be called only in "
            "the process that built the graph: place its node on a task of that process.",
        )
    arguments = [_argument(value, dtype) for value, dtype in zip(input, Tin, strict=True)]
    try:
        results = found.call(arguments, Tout)
    except OpError as error:
        if isinstance(error, _RefusedError):
            raise error.reason from error.__cause__
        raise _as_op_error(error) from error
    except Exception as error:
        raise _as_op_error(error) from error
    if len(results) != len(Tout):
        raise InvalidArgumentError(
            None, None, f"{token} returns {len(results)} values, but expects to see {len(Tout)} values."
        )
    for i, (result, dtype) in enumerate(zip(results, Tout, strict=True)):
        if result.dtype != np.dtype(dtype.as_numpy_dtype):
            actual = as_dtype(result.dtype)
            raise InvalidArgumentError(
                None, None, f"{i}-th value returned by {token} is {_c_name(actual)}, but expects {_c_name(dtype)}"
            )
    return results


class _RefusedError(OpError):
    """What a function returned is nothing that a tensor can hold, for this `reason`."""

    def __init__(self, reason: OpError):
        super().__init__(None, None, reason.message)
        self.reason = reason


_CLASSES: tuple[tuple[type[Exception], type[OpError]], ...] = (
    (ValueError, InvalidArgumentError),
    (TypeError, InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
)


def _as_op_error(error: Exception) -> OpError:
    """The function's exception as one of a run, with its own traceback, which starts where this module calls it."""
    kind = next((cls for known, cls in _CLASSES if isinstance(error, known)), UnknownError)
    text = "".join(traceback.format_exception_only(type(error), error)).splitlines()[-1]
    if not str(error):
        text = f"{text}: "
    frames = "".join(traceback.format_tb(error.__traceback__)[1:])
    return kind(None, None, f"{text}\nTraceback (most recent call last):\n\n{frames}\n{text}\n\n")


def _c_name(dtype: DType) -> str:
    """A type's name in TensorFlow's messages."""
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def _argument(value: Any, dtype: DType) -> Any:
    """The function's own copy of a value; scalars are NumPy scalars, or bytes."""
    array: np.ndarray = np.array(value, dtype.as_numpy_dtype)
    return array if array.ndim else array[()]


def _results(value: Any) -> list[np.ndarray]:
    """What a function returned, as arrays that are the step's."""
    if value is None:
        return []
    return [_array(one) for one in value] if isinstance(value, (list, tuple)) else [_array(value)]


def _array(value: Any) -> np.ndarray:
    array = np.array(value, order="C")
    try:
        as_dtype(array.dtype)
    except TypeError as error:
        raise _RefusedError(InternalError(None, None, _refusal(array.dtype))) from error
    if array.dtype.kind in "SU" and not isinstance(value, np.ndarray):
        array = np.array(value, object)  # NumPy's bytes and texts of a fixed length lose the zeros that they end with
    if array.dtype.kind == "S":
        return array.astype(object)
    if array.dtype.kind not in "UO":
        return array
    encoded = np.empty(array.shape, object)
    encoded[...] = array
    flat = encoded.reshape(-1)
    for i, item in enumerate(flat.tolist()):
        if not isinstance(item, (str, bytes)):
            raise _RefusedError(InternalError(None, None, f"Unsupported object type {type(item).__name__}"))
        flat[i] = item.encode() if isinstance(item, str) else item
    return encoded


def _refusal(dtype: np.dtype) -> str:
    kinds = {"M": "DATETIME", "m": "TIMEDELTA", "f": "LONGDOUBLE", "c": "CLONGDOUBLE"}
    kind = kinds.get(dtype.kind)
    return "Unsupported numpy data type" if kind is None else f"Unsupported numpy type: NPY_{kind}"


# --- tf.py_func --------------------------------------------------------------------------------------------------------


def py_func(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """A node that calls `func` with the values of `inp`, NumPy arrays (scalars: NumPy scalars, or bytes).

    It returns arrays, or one, of exactly the types `Tout`, or None where that is empty. The result is a list of tensors, or
    a tensor where Tout is one type, whose shapes are unknown; there is no gradient. `stateful` functions are called in every
    run, others as often as it takes. The function runs in the process that builds the graph. What it raises becomes a
    `tf.errors` class: ValueError and TypeError InvalidArgumentError, StopIteration OutOfRangeError, MemoryError
    ResourceExhaustedError, NotImplementedError UnimplementedError, others UnknownError. Source: `tf.py_func`.
    """
    _check_callable(func)
    registered = _Registered(lambda arguments, _: _results(func(*arguments)), func)
    return _node(py_func_op if stateful else py_func_stateless_op, registered, inp, Tout, name)


def _check_callable(func: Any) -> None:
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")


def _node(op: Any, function: _Registered, inp: Sequence[Any], Tout: Any, name: str | None) -> Any:
    one = not isinstance(Tout, (list, tuple))
    types = [as_dtype(t) for t in ([Tout] if one else Tout)]
    token = _register(function)
    result = op(list(inp), token=token, Tout=types, name=name)
    if not types:
        return result if isinstance(result, Operation) and op is not py_func_stateless_op else []
    return result[0] if one else result


# --- tf.py_function ----------------------------------------------------------------------------------------------------


class _Eager:
    """A function of eager tensors, what its last call left on a tape, and how that is differentiated."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function
        self._lock = threading.Lock()
        self._last: tuple[Any, GradientTape, list[Tensor], list[Tensor]] | None = None

    def __call__(self, arguments: Sequence[Any], types: Sequence[DType]) -> list[np.ndarray]:
        world = new_eager_world()
        with world.as_default(), GradientTape(persistent=True) as tape:
            inputs = [convert_to_tensor(value) for value in arguments]
            tape.watch([t for t in inputs if t.dtype.is_floating or t.dtype.is_complex])
            value = self._function(*inputs)
            returned = [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
            if any(hasattr(one, "assign") for one in returned):
                raise RuntimeError(f"Attempting to return a variable from an eagerly executed py_func: {returned}")
            outputs = [convert_to_tensor(one, dtype=dtype) for one, dtype in zip(returned, types)]
        with self._lock:
            self._last = (world, tape, inputs, outputs)
        return [np.array(t.numpy(), t.dtype.as_numpy_dtype) for t in outputs]  # type: ignore[attr-defined]

    def gradient(self, grads: Sequence[Any], types: Sequence[DType]) -> list[np.ndarray]:
        """With respect to each input, of the call before; zeros where the outputs do not depend on it."""
        with self._lock:
            last = self._last
        if last is None:
            raise ValueError("the gradient of a tf.py_function was run before the function")
        world, tape, inputs, outputs = last
        with world.as_default():
            weights = [convert_to_tensor(g) for g in grads]
            chosen = [i for i, t in enumerate(outputs) if t.dtype.is_floating or t.dtype.is_complex]
            found = tape.gradient([outputs[i] for i in chosen], list(inputs), [weights[i] for i in chosen])
            dense = [None if g is None else convert_to_tensor(g) for g in found]
        return [
            np.zeros_like(t.numpy(), t.dtype.as_numpy_dtype)  # type: ignore[attr-defined]
            if g is None
            else np.array(g.numpy(), t.dtype.as_numpy_dtype)  # type: ignore[attr-defined]
            for g, t in zip(dense, inputs, strict=True)
        ]


def py_function(func: Any, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """A node that calls `func` with eager tensors of the values of `inp`; ops that it uses run at once.

    It returns what converts to tensors of the types `Tout`, or None where that is empty. There is a gradient, by what the
    function's last call left on a tape. Otherwise as `py_func`. Source: `tf.py_function`.
    """
    _check_callable(func)
    eager = _Eager(func)
    return _node(eager_py_func_op, _Registered(eager, eager), inp, Tout, name)


@eager_py_func_op.gradient
def _(op: Operation, *grads: Any) -> list[Any]:
    token = op.get_attr("token")
    found = _registered[as_text(token)]
    eager: _Eager = found.original
    types = [t.dtype.base_dtype for t in op.inputs]
    given = [zeros_like(y) if g is None else g for g, y in zip(grads, op.outputs, strict=True)]
    backward = _Registered(eager.gradient, _NoSecond())
    with control_dependencies([op]):
        result = eager_py_func_op(given, token=_register(backward), Tout=types)
    for grad, x in zip(result, op.inputs, strict=True):
        grad.set_shape(x.shape)
    return list(result)


class _NoSecond:
    """Stands for the function of a gradient, which itself has none."""

    def gradient(self, grads: Sequence[Any], types: Sequence[DType]) -> list[np.ndarray]:
        raise NotImplementedError("tf.py_function has no second derivative")
