"""Python functions as nodes: `tf.py_func`. Source: TF 1.15.

A node knows its function by a token, which means something in the process that made it only. Graphs keep their functions
alive; when the last graph that uses one is gone, so is the token.
"""

from __future__ import annotations

import itertools
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
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.tape import keep_alive

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


@py_func_op.kernel("CPU", may_block=True)
@py_func_stateless_op.kernel("CPU", may_block=True)
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
