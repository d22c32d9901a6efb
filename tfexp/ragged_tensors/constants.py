"""Ragged tensors from nested lists, placeholders. Source: `tf.ragged`, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant as dense_constant
from tfexp.graph.scopes import name_scope
from tfexp.ops import array_identity
from tfexp.ragged_tensors.tensor import of_rows
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
    if kind not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"row_splits must have dtype int32 or int64; got {kind.name}")
    with name_scope(name, "RaggedConstant"):
        flat, splits, shape = _taken_apart(pylist, ragged_rank, inner_shape)
        if shape is not None and scalar_depth(flat) is None:  # no values tell of the inner dimensions
            flat = np.zeros(shape, np.float32 if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype)
        result: Any = dense_constant(flat, dtype, shape, name="values", verify_shape=shape is not None)
        for each in reversed(splits):
            result = of_rows(result, dense_constant(each, kind))
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
    is_numpys = dtype is None or isinstance(dtype, (type, np.dtype))
    kind = dtype if is_numpys else dtypes.as_dtype(dtype).as_numpy_dtype
    result: Any = np.asarray(flat, kind)
    result = result if shape is None else result.reshape(shape)
    for each in reversed(splits):
        result = RaggedTensorValue(result, np.asarray(each, dtypes.as_dtype(row_splits_dtype).as_numpy_dtype))
    return result


def _taken_apart(pylist: Any, ragged_rank: int | None, inner_shape: Any) -> tuple[Any, list[list[int]], list[int] | None]:
    """(the innermost values, the row splits of every ragged dimension, the shape of the values or None for their own)."""
    nested = pylist.tolist() if isinstance(pylist, np.ndarray) else pylist
    own = None if inner_shape is None else list(inner_shape)
    if not isinstance(nested, (list, tuple)):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank}")
        if own:
            raise ValueError(f"Invalid pylist={pylist!r}: incompatible with dim(inner_shape)={len(own)}")
        return nested, [], None
    if ragged_rank is not None and ragged_rank < 0:
        raise ValueError(f"Invalid ragged_rank={ragged_rank}: must be nonnegative")
    depth, lists = scalar_depth(nested), deepest(nested)
    if depth is not None:
        if lists > depth:
            raise ValueError(f"Invalid pylist={pylist!r}: empty list nesting is greater than scalar value nesting")
        if own is not None and ragged_rank is not None and depth != ragged_rank + 1 + len(own):
            raise ValueError(
                f"Invalid pylist={pylist!r}: incompatible with ragged_rank={ragged_rank} and dim(inner_shape)={len(own)}"
            )
        if ragged_rank is not None and depth <= ragged_rank:
            raise ValueError(
                f"pylist has scalar values depth {depth}, but ragged_rank={ragged_rank} requires scalar value depth "
                f"greater than {ragged_rank}"
            )
    rank = max(lists - 1 - len(own or ()), 0) if ragged_rank is None else ragged_rank
    if not rank:
        return nested, [], own
    splits: list[list[int]] = []
    values: list[Any] = list(nested)
    for _ in range(rank):
        splits.append([0, *np.cumsum([len(row) for row in values]).tolist()])
        values = [element for row in values for element in row]
    return values, splits, [len(values), *(shape_of_values(values)[1:] if own is None else own)]


def shape_of_values(values: Any) -> list[int]:
    """The shape of nested lists. ValueError where their lengths differ."""
    if not isinstance(values, (list, tuple, np.ndarray)):
        return []
    shapes = [shape_of_values(value) for value in values]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("inner values have inconsistent shape")
    return [len(shapes), *(shapes[0] if shapes else [])]


def scalar_depth(nested: Any) -> int | None:
    """How many lists are around a scalar; None without any. ValueError where that differs."""
    if not isinstance(nested, (list, tuple, np.ndarray)):
        return 0
    depths = {depth for element in nested if (depth := scalar_depth(element)) is not None}
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return depths.pop() + 1 if depths else None


def deepest(nested: Any) -> int:
    """How many lists are within each other."""
    if not isinstance(nested, (list, tuple, np.ndarray)):
        return 0
    return 1 + max(map(deepest, nested), default=0)


def placeholder(dtype: Any, ragged_rank: int, value_shape: Any = None, name: str | None = None) -> Any:
    """A RaggedTensor that every run has to feed, with a RaggedTensorValue. Source: `tf.ragged.placeholder`."""
    if ragged_rank == 0:
        return array_identity.placeholder(dtype, value_shape, name)
    with name_scope(name, "RaggedPlaceholder"):
        flat = TensorShape([None]).concatenate(value_shape or [])
        result: Any = array_identity.placeholder(dtype, flat, "flat_values")
        for i in reversed(range(ragged_rank)):
            result = of_rows(result, array_identity.placeholder(dtypes.int64, [None], f"row_splits_{i}"))
        return result
