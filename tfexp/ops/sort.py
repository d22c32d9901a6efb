"""Sorting along an axis, built on TopK. Source: `tf.sort`, `tf.argsort`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.nn_topk import top_k


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None) -> Tensor:
    """`values` in order along `axis`; `direction` is ASCENDING or DESCENDING. `tf.sort`."""
    with name_scope(name, "sort"):
        return _sorted(values, axis, direction, 0)


def argsort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """The int32 indices that sort `values` along `axis`. The order is always a stable one. `tf.argsort`."""
    with name_scope(name, "argsort"):
        return _sorted(values, axis, direction, 1)


def _sorted(values: Any, axis: Any, direction: str, output: int) -> Tensor:
    """TopK's values (output 0) or indices (1) of whole rows."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
    axis = static_value(convert_to_tensor(axis, name="axis"))
    if axis is None:
        raise ValueError("axis must be a constant scalar")
    axis = int(axis)
    values = convert_to_tensor(values, name="values")
    if direction == "DESCENDING":
        return _largest_first(values, axis, output)
    mirror = _mirror(values)
    result = _largest_first(mirror(values), axis, output)
    return mirror(result) if output == 0 else result


def _mirror(values: Tensor) -> Callable[[Tensor], Tensor]:
    """What turns the order of such numbers round, and undoes itself, without overflow."""
    dtype = values.dtype.base_dtype
    if not dtype.is_integer:
        return lambda x: -x
    if dtype.is_unsigned:
        return lambda x: dtype.max - x
    return lambda x: -x - 1


def _largest_first(values: Tensor, axis: int, output: int) -> Tensor:
    size = shape(values)[axis]
    count = rank(values)
    dims = values.shape.ndims
    if axis == -1 or axis + 1 == dims:
        return top_k(values, size)[output]
    if dims is not None:
        at = axis % dims
        order: Any = constant(
            np.array([*np.arange(at), dims - 1, *np.arange(at + 1, dims - 1), at], np.int64), name="transposition"
        )
    else:
        first = count + axis if axis < 0 else axis
        order = concat([range_(first), [count - 1], range_(first + 1, count - 1), [first]], axis=0)
    return transpose(top_k(transpose(values, order), size)[output], order)
