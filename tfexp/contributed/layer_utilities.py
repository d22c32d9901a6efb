"""`tf.contrib.slim.utils`: what networks make their dicts of end points with, and arguments of layers. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tfexp.contributed import smart_cond as conditionals
from tfexp.contributed.layer_scope import (
    append_tensor_alias,
    convert_collection_to_dict,
    get_tensor_aliases,
    get_variable_collections,
)
from tfexp.contributed.layer_scope import collected as collect_named_outputs
from tfexp.core.shape import TensorShape, as_shape
from tfexp.graph.constant_value import constant_value as value_of_tensor
from tfexp.graph.control_flow import cond
from tfexp.graph.tensor import Tensor
from tfexp.ops.variable_base import Variable

__all__ = [
    "append_tensor_alias",
    "collect_named_outputs",
    "constant_value",
    "convert_collection_to_dict",
    "gather_tensors_aliases",
    "get_tensor_aliases",
    "get_variable_collections",
    "last_dimension",
    "n_positive_integers",
    "smart_cond",
    "static_cond",
    "two_element_tuple",
]

# --- outputs by name ----------------------------------------------------------------------------------------------------


def gather_tensors_aliases(tensors: Iterable[Any]) -> list[str]:
    """The names of all."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


# --- what is known -------------------------------------------------------------------------------------------------------


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """What a value, a tensor or variable is known to be, or None. ValueError for None and a tensor of another dtype."""
    given = value_or_tensor_or_var
    if given is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(given, (Tensor, Variable)):
        return given
    if dtype and given.dtype.base_dtype != dtype:
        raise ValueError(f"It has the wrong type {given.dtype.base_dtype} instead of {dtype}")
    return None if isinstance(given, Variable) else value_of_tensor(given)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """`fn1()` or `fn2()`, by a bool. TypeError for what cannot be called."""
    return conditionals.smart_cond(bool(pred), fn1, fn2)


def smart_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None) -> Any:
    """`fn1()` or `fn2()` where `pred` is known, else `tf.cond`."""
    known = constant_value(pred)
    return cond(pred, fn1, fn2, name=name) if known is None else static_cond(known, fn1, fn2)


# --- arguments of layers -------------------------------------------------------------------------------------------------


def two_element_tuple(int_or_tuple: Any) -> tuple[int, int]:
    """(n, n) of a number, (m, n) of two. ValueError for anything else."""
    sizes = n_positive_integers(2, int_or_tuple)
    return sizes[0], sizes[1]


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """`n` times a positive integer, or `n` of them as they are. ValueError for anything else, and for n < 1."""
    if n < 1:
        raise ValueError("n must be a positive integer")
    sizes = [value] * n if isinstance(value, int) else value.as_list() if isinstance(value, TensorShape) else list(value)
    if len(sizes) != n or not all(isinstance(size, int) and size > 0 for size in sizes):
        raise ValueError(f"Expected {n} positive integers, but received {value}")
    return tuple(sizes)


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """The last dimension. ValueError if it is not known, or the rank too low."""
    dims = as_shape(shape).as_list() if as_shape(shape).rank is not None else []
    last = dims[-1] if dims else None
    if last is None:
        raise ValueError(f"the last dimension must be known but is None: {shape}")
    if len(dims) < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {len(dims)}")
    return last
