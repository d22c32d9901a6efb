"""Sums of sparse tensors, with dense results. TF 1.15.

Only the elements that there are count: where a result has none, a dense one is 0 and a sparse one has no element.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.errors import InternalError, invalid
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.sparse_tensor import as_sparse_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_gather, cast
from tfexp.ops.reduce_gradients import kept_shape
from tfexp.ops.sparse_layout import NUMBERS, check_sparse, row_major

Array = np.ndarray

_ARGUMENTS = "(input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32)"


# --- groups of elements ------------------------------------------------------------------------------------------------


def _groups(rows: Array) -> tuple[Array, Array]:
    """(the positions that bring equal rows together, in row-major order; where in that order each new row begins)."""
    order = row_major(rows)
    ordered = rows[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, np.flatnonzero(is_new)


def _axes(axes: Array, rank: int) -> list[int]:
    if np.ndim(axes) > 1:
        raise invalid(f"Expected reduction_axes to be a scalar or a vector; got shape: {dims_text(np.shape(axes))}")
    for axis in np.ravel(axes):
        if not -rank <= axis < rank:
            raise invalid(f"Invalid reduction dimension {axis}, for input with {rank} dimensions.")
    return sorted({int(axis) % rank for axis in np.ravel(axes)})


def _reduced(ufunc: np.ufunc, indices: Array, values: Array, dims: Array, axes: Array) -> tuple[list[int], Array, Array]:
    """(the axes that stay, the places along them that have elements, their reduced values)."""
    check_sparse(indices, values, dims)
    gone = _axes(axes, len(dims))
    stay = [axis for axis in range(len(dims)) if axis not in gone]
    places = indices[:, stay]
    outside = ((places < 0) | (places >= dims[stay])).any(axis=1)
    if outside.any():
        row = int(np.argmax(outside))
        raise InternalError(None, None, f"indices[{row}] = {dims_text(indices[row])} is outside of {dims_text(dims)}")
    if not len(values):
        return stay, places, values
    order, starts = _groups(places)
    return stay, places[order[starts]], ufunc.reduceat(values[order], starts, dtype=values.dtype)


def _kept(dims: Array, stay: list[int]) -> Array:
    """`dims` with 1 for what is reduced."""
    kept = np.ones_like(dims)
    kept[stay] = dims[stay]
    return kept


# --- to dense ----------------------------------------------------------------------------------------------------------

reduce_sum_op = define_op(f"SparseReduceSum{_ARGUMENTS} -> (output: T) {{keep_dims: bool = false; T: type in [{NUMBERS}]}}")


def _dense(op: Op, ufunc: np.ufunc) -> None:
    @op.shape
    def _(indices: InputShape, values: InputShape, dims: InputShape, axes: InputShape, *, keep_dims: bool) -> TensorShape:
        if dims.value is None or axes.value is None:
            return TensorShape(None)
        known = dims.value.tolist()
        if any(not -len(known) <= axis < len(known) for axis in np.ravel(axes.value)):
            return TensorShape(None)  # the run refuses it
        gone = _axes(axes.value, len(known))
        if keep_dims:
            return TensorShape([1 if i in gone else d for i, d in enumerate(known)])
        return TensorShape([d for i, d in enumerate(known) if i not in gone])

    @op.kernel("CPU")
    def _(
        ctx: Any, input_indices: Array, input_values: Array, input_shape: Array, reduction_axes: Array, *, keep_dims: bool
    ) -> Array:
        stay, places, values = _reduced(ufunc, input_indices, input_values, input_shape, reduction_axes)
        result = np.zeros(tuple(input_shape[stay]), input_values.dtype)
        if len(values):
            result[tuple(places.T)] = values if stay else values[0]
        return result.reshape(_kept(input_shape, stay)) if keep_dims else result


_dense(reduce_sum_op, np.add)


@reduce_sum_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    indices, _, dims, axes = op.inputs
    if constant_value(dims) is not None and constant_value(axes) is not None:
        kept: Any = np.asarray(kept_shape(dims, axes), np.int32)
    else:
        kept = kept_shape(cast.cast(dims, dtypes.int32), axes)
    spread = array.reshape(grad, kept)
    repeats: Any = dims // cast.cast(kept, dtypes.int64)  # type: ignore[operator]  # bound by ops.overloads
    return [None, array_gather.gather_nd(spread, indices // repeats), None, None]  # type: ignore[operator]


# --- to sparse ---------------------------------------------------------------------------------------------------------


# --- functions ---------------------------------------------------------------------------------------------------------


def _arguments(
    sp_input: Any, axis: Any, reduction_axes: Any, keepdims: bool | None, keep_dims: bool | None
) -> tuple[list[Any], bool]:
    """(the op's inputs, whether reduced dimensions stay as 1)."""
    x = as_sparse_tensor(sp_input)
    axis = deprecated_argument_lookup("axis", axis, "reduction_axes", reduction_axes)
    keep = deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims)
    if axis is None:
        rank = x.get_shape().ndims
        if rank is None:
            axis = array_fill.range(0, array.rank(x))
        else:
            axis = constant(np.arange(rank), dtype=dtypes.int32)
    return [*x.parts, axis], bool(keep)


def sparse_reduce_sum(
    sp_input: Any, axis: Any = None, keepdims: bool | None = None, reduction_axes: Any = None, keep_dims: bool | None = None
) -> Tensor:
    """The dense sums over `axis`, an int or several (all by default). Source: `tf.sparse_reduce_sum`."""
    inputs, keep = _arguments(sp_input, axis, reduction_axes, keepdims, keep_dims)
    result: Tensor = reduce_sum_op(*inputs, keep_dims=keep)
    return result


# --- softmax -----------------------------------------------------------------------------------------------------------
