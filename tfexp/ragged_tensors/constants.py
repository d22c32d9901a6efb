"""Ragged tensors from nested lists, placeholders. Source: `tf.ragged`, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant as dense_constant
from tfexp.graph.scopes import name_scope
from tfexp.ops import array_identity
from tfexp.ragged_tensors.tensor import RaggedTensor
from tfexp.ragged_tensors.value import RaggedTensorValue


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A RaggedTensor of nested lists, or a Tensor of what has no ragged dimension. Source: `tf.ragged.constant`.

    ragged_rank: how many dimensions after the first are ragged; by default all but the innermost dimensions of
    `inner_shape`. ValueError for lists whose depth differs or that do not fit.
    """
    kind = dtypes.as_dtype(row_splits_dtype)
    with name_scope(name, "RaggedConstant"):
        flat, splits, shape = _taken_apart(pylist, ragged_rank, inner_shape)
        flat_shape = shape if not splits else [-1, *shape] if flat else [0, *shape]
        values = np.asarray(flat, object if _is_text(flat) else None).reshape(flat_shape)
        text = dtypes.string if _is_text(flat) else dtype
        result: Any = dense_constant(values.tolist() if values.size else values, text, values.shape, name="values")
        for each in reversed(splits):
            result = RaggedTensor(result, dense_constant(each, kind))
        return result


def constant_value(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """As `constant`, a RaggedTensorValue or an array. Source: `tf.ragged.constant_value`."""
    flat, splits, shape = _taken_apart(pylist, ragged_rank, inner_shape)
    kind = object if dtype is None and _is_text(flat) else dtype
    values = np.asarray(flat, kind if dtype is None or isinstance(dtype, type) else dtypes.as_dtype(dtype).as_numpy_dtype)
    result: Any = values.reshape(shape if not splits else [-1, *shape] if flat else [0, *shape])
    for each in reversed(splits):
        result = RaggedTensorValue(result, np.asarray(each, dtypes.as_dtype(row_splits_dtype).as_numpy_dtype))
    return result


def _is_text(flat: list[Any]) -> bool:
    found: Any = flat
    while isinstance(found, (list, tuple)) and found:
        found = found[0]
    return isinstance(found, (str, bytes))


def _taken_apart(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> tuple[list[Any], list[list[int]], list[int]]:
    """(the innermost values, the row splits of every ragged dimension, the shape of one innermost value)."""
    nested = pylist.tolist() if isinstance(pylist, np.ndarray) else pylist
    if not isinstance(nested, (list, tuple)):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if inner_shape is not None and len(inner_shape):
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(inner_shape)}")
        return nested, [], []
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    depth, deepest = _scalar_depth(nested), _deepest(nested)
    if depth is not None and deepest > depth:
        raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
    levels = depth if depth is not None else deepest
    if inner_shape is not None:
        shape = list(inner_shape)
        if depth is not None and len(shape) > depth - 1 + (ragged_rank == 0):
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(shape)}")
        rank = max(levels - 1 - len(shape), 0) if ragged_rank is None else ragged_rank
    else:
        rank = max(levels - 1, 0) if ragged_rank is None else ragged_rank
        if depth is not None and rank >= depth:
            raise ValueError(f"Invalid pylist={pylist!r}: Can't construct a ragged tensor of ragged_rank {rank}")
        shape = []
    splits: list[list[int]] = []
    values: list[Any] = list(nested)
    for _ in range(rank):
        lengths = [len(row) for row in values]
        splits.append([0, *np.cumsum(lengths).tolist()])
        values = [element for row in values for element in row]
    if inner_shape is None:
        shape = list(np.shape(np.asarray(values, object) if _is_text(values) else values))[1:]
    return (values, splits, shape) if rank else (values, [], [len(values), *shape])


def _scalar_depth(nested: Any) -> int | None:
    """How many lists are around a scalar; None without any. ValueError where that differs."""
    if not isinstance(nested, (list, tuple)):
        return 0
    depths = {depth for element in nested if (depth := _scalar_depth(element)) is not None}
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return depths.pop() + 1 if depths else None


def _deepest(nested: Any) -> int:
    if not isinstance(nested, (list, tuple)):
        return 0
    return 1 + max(map(_deepest, nested), default=0)


def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> Any:
    """A RaggedTensor that every run has to feed, with a RaggedTensorValue. Source: `tf.ragged.placeholder`."""
    if ragged_rank == 0:
        return array_identity.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder"):
        flat = TensorShape([None]).concatenate(value_shape or [])
        result: Any = array_identity.placeholder(dtype, flat, "flat_values")
        for i in reversed(range(ragged_rank)):
            result = RaggedTensor(result, array_identity.placeholder(dtypes.int64, [None], f"row_splits_{i}"))
        return result
