"""What `len`, `range`, `int`, `float` and `print` mean of values that a graph computes."""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable
from typing import Any

from tfexp.autograph.feature import Feature
from tfexp.autograph.variables import is_symbolic
from tfexp.core import dtypes
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import range as range_op
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.py_func import py_function
from tfexp.ops.strings import string_to_number


def _len(value: Any) -> Any:
    """The size of the first dimension."""
    tensor: Tensor = convert_to_tensor(value)
    dims = tensor.get_shape()
    if dims.rank == 0:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {dims}")
    static = None if dims.rank is None else dims.as_list()[0]
    return shape(tensor)[0] if static is None else static


def _range(*limits: Any) -> Tensor:
    """`tf.range`; without a step, empty where Python's `range` is."""
    if len(limits) == 1:
        return range_op(maximum(limits[0], constant(0, dtype=convert_to_tensor(limits[0]).dtype)))
    start, limit, *step = limits
    if not step:
        return range_op(start, maximum(start, limit))
    return range_op(start, limit, *step)


def _number(value: Any, dtype: dtypes.DType) -> Any:
    tensor = convert_to_tensor(value)
    return string_to_number(tensor, dtype) if tensor.dtype.base_dtype is dtypes.string else cast(tensor, dtype)


def _int(value: Any = 0, base: int = 10) -> Any:
    if base != 10:
        raise NotImplementedError(f"int of a tensor takes no base other than 10, got {base}")
    return _number(value, dtypes.int32)


def _float(value: Any) -> Any:
    return _number(value, dtypes.float32)


def _print(*values: Any, **how: Any) -> Tensor:
    """A node that calls Python's `print` when it runs; single strings are shown as text. ValueError for other keywords."""
    if unknown := how.keys() - {"sep", "end", "file", "flush"}:
        raise ValueError(f"invalid keyword arguments: {tuple(unknown)}")

    def show(*found: Any) -> int:
        arrays = (tensor.numpy() for tensor in found)
        shown = [next(arrays) if is_symbolic(value) else value for value in values]
        builtins.print(*(value.decode() if isinstance(value, bytes) else value for value in shown), **how)
        return 0

    node: Tensor = py_function(show, [value for value in values if is_symbolic(value)], dtypes.int32)
    return node


_OF_TENSORS: dict[Any, Callable[..., Any]] = {
    builtins.len: _len,
    builtins.range: _range,
    builtins.int: _int,
    builtins.float: _float,
}


def overload(function: Any, features: frozenset[Feature]) -> Any:
    """What a builtin function is in converted code: itself, and of tensors of a graph something else."""
    of_tensors = _OF_TENSORS.get(function)
    if function is builtins.print and Feature.BUILTIN_FUNCTIONS in features:
        of_tensors = _print
    return function if of_tensors is None else _either(function, of_tensors)


@functools.cache
def _either(function: Any, of_tensors: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        chosen = of_tensors if any(is_symbolic(arg) for arg in args) else function
        return chosen(*args, **kwargs)

    return call
