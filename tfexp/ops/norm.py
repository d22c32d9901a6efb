"""Norms of vectors, of matrices and of whole tensors: `tf.norm`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, complex_numbers, elementwise_binary, elementwise_unary, linalg, reduce
from tfexp.ops.array_order import transpose


def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    keep_dims: Any = None,
) -> Tensor:
    """The norm of all elements (`axis` None), of vectors (an int) or of matrices (a pair of ints). `tf.norm`.

    `ord` is "euclidean", np.inf, or a positive number; for matrices "euclidean", "fro", 1, 2 or np.inf. Raises
    ValueError for others.
    """
    keepdims = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    is_matrix = isinstance(axis, (tuple, list))
    axes = () if axis is None else tuple(axis) if is_matrix else (axis,)
    if not all(isinstance(a, (int, np.integer)) for a in axes) or (is_matrix and len(set(axes)) != 2) or len(axes) > 2:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if is_matrix:
        axis = axes
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}")
    elif ord not in ("euclidean", np.inf) and not (isinstance(ord, (int, float)) and ord > 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2, 2.0):
            if is_matrix and ord in (2, 2.0):
                result = _largest_singular_value(tensor, axis)
            else:
                squares = tensor * complex_numbers.conj(tensor)
                result = elementwise_unary.sqrt(reduce.reduce_sum(squares, _listed(axis), keepdims=True))
        else:
            result = elementwise_unary.abs(tensor)
            if ord == 1:
                sum_axis = axis if axis is None or not is_matrix else axis[0]
                result = reduce.reduce_sum(result, sum_axis, keepdims=True)
                if is_matrix:
                    result = reduce.reduce_max(result, axis[-1], keepdims=True)
            elif ord == np.inf:
                if is_matrix:
                    result = reduce.reduce_sum(result, axis[1], keepdims=True)
                result = reduce.reduce_max(result, axis if not is_matrix else axis[0], keepdims=True)
            else:
                powers = elementwise_binary.pow(result, ord)
                result = elementwise_binary.pow(reduce.reduce_sum(powers, _listed(axis), keepdims=True), 1.0 / ord)
        if keepdims:
            return result
        squeezed = [] if axis is None else list(axis) if is_matrix else [axis]
        return get_op("Squeeze")(result, squeeze_dims=squeezed)


def _listed(axis: Any) -> Any:
    """The axis as the list of axes that TensorFlow makes of it."""
    return [axis] if isinstance(axis, (int, np.integer)) else axis


def _largest_singular_value(tensor: Tensor, axis: tuple[int, int]) -> Tensor:
    rank = tensor.shape.ndims
    order: Any
    back: Any
    if rank is None:
        count = array.rank(tensor)
        pair = get_op("FloorMod")(convert_to_tensor(axis, dtype=dtypes.int32), count)
        rest, _ = get_op("ListDiff")(array_fill.range(count), pair)
        order = array_join.concat([rest, pair], 0)
        back = get_op("InvertPermutation")(order)
    else:
        known = [a % rank for a in axis]
        order = [i for i in range(rank) if i not in known] + known
        back = np.argsort(order).tolist()
    values = reduce.reduce_max(linalg.svd(transpose(tensor, order), compute_uv=False), [-1], keepdims=True)
    return transpose(array.expand_dims(values, -1), back)
