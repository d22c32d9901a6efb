"""Sorting along an axis, built on TopK. Source: `tf.argsort`."""

from __future__ import annotations

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


def argsort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Tensor:
    """The int32 indices that sort `values` along `axis`. The order is always a stable one. `tf.argsort`."""
    with name_scope(name, "argsort"):
        if direction not in ("ASCENDING", "DESCENDING"):
            raise ValueError(f"{direction} should be one of ASCENDING, DESCENDING")
        axis = static_value(convert_to_tensor(axis, name="axis"))
        if axis is None:
            raise ValueError("axis must be a constant scalar")
        values = convert_to_tensor(values, name="values")
        return _largest_first(values if direction == "DESCENDING" else _reversed_order(values), int(axis))


def _reversed_order(values: Tensor) -> Tensor:
    """Numbers in the opposite order of `values`, without overflow."""
    dtype = values.dtype.base_dtype
    if not dtype.is_integer:
        return -values
    if dtype.is_unsigned:
        return dtype.max - values
    return -values - 1


def _largest_first(values: Tensor, axis: int) -> Tensor:
    """The indices that sort `values` along `axis`, those of the largest first."""
    size = shape(values)[axis]
    count = rank(values)
    dims = values.shape.ndims
    if axis == -1 or axis + 1 == dims:
        return top_k(values, size)[1]
    if dims is not None:
        at = axis % dims
        order: Any = constant(
            np.array([*np.arange(at), dims - 1, *np.arange(at + 1, dims - 1), at], np.int64), name="transposition"
        )
    else:
        first = count + axis if axis < 0 else axis
        order = concat([range_(first), [count - 1], range_(first + 1, count - 1), [first]], axis=0)
    return transpose(top_k(transpose(values, order), size)[1], order)
