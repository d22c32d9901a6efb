"""Joining the strings of one tensor: ReduceJoin, for the message of `Dataset.list_files` (D6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError, OutOfRangeError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank
from tfexp.ops.array_fill import range as range_
from tfexp.ops.string_arrays import attr_bytes, string_array

reduce_join_op = define_op(
    "ReduceJoin(inputs: string, reduction_indices: int32) -> (output: string) "
    "{keep_dims: bool = false; separator: string = ''}"
)


@reduce_join_op.shape
def _(inputs: TensorShape, reduction_indices: InputShape, *, keep_dims: bool) -> TensorShape:
    axes = reduction_indices.value
    if inputs.rank is None:
        return TensorShape(None)
    if axes is None:
        return TensorShape([None] * inputs.rank) if keep_dims else TensorShape(None)
    dims = list(inputs.known_dims or ())
    gone = set()
    for axis in np.ravel(axes).tolist():
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"Invalid reduction dimension {axis} for input with {len(dims)} dimensions.")
        gone.add(axis % len(dims))
    kept = [(1 if i in gone else d) for i, d in enumerate(dims) if keep_dims or i not in gone]
    return TensorShape(kept)


@reduce_join_op.kernel("CPU")
def _(ctx: Any, inputs: np.ndarray, reduction_indices: Any, *, keep_dims: bool, separator: bytes | str) -> np.ndarray:
    """Of the texts that are joined, the axis that is named first varies fastest."""
    array = np.asarray(inputs, object)
    axes = array.ndim
    order: list[int] = []
    for axis in np.ravel(reduction_indices).tolist():
        if not -axes <= axis < axes:
            raise OutOfRangeError(None, None, f"Invalid reduction dimension {axis} for input with {axes} dimension(s)")
        if axis % axes in order:
            raise InvalidArgumentError(None, None, f"Duplicate reduction dimension {axis}")
        order.append(axis % axes)
    if not order:
        return array.copy()
    kept = [axis for axis in range(axes) if axis not in order]
    shape = tuple(1 if axis in order else array.shape[axis] for axis in range(axes) if keep_dims or axis not in order)
    moved = array.transpose(*kept, *reversed(order))
    size = int(np.prod([array.shape[axis] for axis in order]))
    rows = moved.reshape(moved.size // size, size).tolist() if size else [[]] * int(np.prod(shape))
    return string_array(list(map(attr_bytes(separator).join, rows)), shape)


reduce_join_op.not_differentiable()


def reduce_join(
    inputs: Any,
    axis: Any = None,
    keep_dims: Any = None,
    separator: str = "",
    name: str | None = None,
    reduction_indices: Any = None,
    keepdims: Any = None,
) -> Tensor:
    """Strings joined along axes, along the first one named first (None: along all, the last one first).

    Source: `tf.reduce_join`.
    """
    axes = reduction_indices if axis is None else axis
    keep = keepdims if keep_dims is None else keep_dims
    with name_scope(None, "ReduceJoin", [inputs, axes]):
        strings = convert_to_tensor(inputs, dtypes.string)
        joined: Tensor = reduce_join_op(
            strings, _all_axes(strings) if axes is None else axes, keep_dims=bool(keep), separator=separator, name=name
        )
    return joined


def _all_axes(strings: Tensor) -> Tensor:
    if strings.shape.rank is not None:
        return constant(list(range(strings.shape.rank))[::-1], dtypes.int32)
    return range_(rank(strings) - 1, -1, -1)
