"""Rows dealt out to several tensors and put together again, and dense tensors made of coordinates and values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.merged_shape import merged
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, require_scalar, reshape, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_gather import gather, gather_nd
from tfexp.ops.reduce import reduce_prod, reduce_sum
from tfexp.ops.shape_rules import check_begins_with, with_rank

# --- dynamic partition and stitch ----------------------------------------------------------------------------------------

dynamic_partition_op = define_op(
    "DynamicPartition(data: T, partitions: int32) -> (outputs: num_partitions * T) {num_partitions: int >= 1; T: type}"
)


@dynamic_partition_op.shape
def _(data: InputShape, partitions: InputShape, *, num_partitions: int) -> list[TensorShape]:
    dims, leading = data.known_dims, partitions.known_dims
    if dims is None or leading is None:
        return [TensorShape(None)] * num_partitions
    check_begins_with(data, partitions)
    return [TensorShape([None, *dims[len(leading) :]])] * num_partitions


@dynamic_partition_op.kernel("CPU")
def _(ctx: Any, data: Array, partitions: Array, *, num_partitions: int) -> list[Array]:
    partitions, data = np.asarray(partitions), np.asarray(data)
    if data.shape[: partitions.ndim] != partitions.shape:
        raise ValueError(
            f"data.shape must start with partitions.shape, got data.shape = {dims_text(data.shape)}, partitions.shape = "
            f"{dims_text(partitions.shape)}"
        )
    outside = (partitions < 0) | (partitions >= num_partitions)
    if outside.any():
        first = int(np.argmax(outside))
        where = ",".join(map(str, np.unravel_index(first, partitions.shape)))
        raise ValueError(
            f"partitions{f'[{where}]' if where else ''} = {partitions.reshape(-1)[first]} is not in [0, {num_partitions})"
        )
    return [data[partitions == part] for part in range(num_partitions)]


@dynamic_partition_op.gradient
def _(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    data, partitions = op.inputs
    dims = shape(partitions)
    positions = reshape(range_(reduce_prod(dims)), dims)
    dealt = dynamic_partition_op(positions, partitions, num_partitions=op.attrs["num_partitions"])
    stitched = parallel_dynamic_stitch_op(list(dealt), list(grads))
    return [reshape(stitched, shape(data)), None]


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Tensor]:
    """`data` dealt out to so many tensors, by the number of each row's tensor. Source: `tf.dynamic_partition`."""
    return list(dynamic_partition_op(data, partitions, num_partitions=num_partitions, name=name))


dynamic_stitch_op = define_op("DynamicStitch(indices: N * int32, data: N * T) -> (merged: T) {N: int >= 1; T: type}")
parallel_dynamic_stitch_op = define_op(
    "ParallelDynamicStitch(indices: N * int32, data: N * T) -> (merged: T) {N: int >= 1; T: type}"
)


def _stitched_shape(indices: list[InputShape], data: list[InputShape]) -> TensorShape:
    rest = TensorShape(None)
    for rows, values in zip(indices, data, strict=True):
        leading, dims = rows.known_dims, values.known_dims
        if leading is None or dims is None:
            continue
        check_begins_with(values, rows)
        rest = merged(rest, TensorShape(dims[len(leading) :]))
    known = [rows.value for rows in indices]
    count = None
    if all(v is not None for v in known):
        # Negative ones are refused when the node runs.
        count = max((max(0, int(v.max())) for v in known if v.size), default=-1) + 1
    return TensorShape([count]).concatenate(rest)


def _stitched(ctx: Any, indices: list[Array], data: list[Array]) -> Array:
    rows = [np.asarray(i).reshape(-1) for i in indices]
    rest = np.shape(data[0])[np.ndim(indices[0]) :]
    for i, (index, values) in enumerate(zip(indices, data, strict=True)):
        if np.shape(values)[: np.ndim(index)] != np.shape(index):
            raise ValueError(
                f"data[{i}].shape = {dims_text(np.shape(values))} does not start with indices[{i}].shape = "
                f"{dims_text(np.shape(index))}"
            )
        if np.shape(values) != (*np.shape(index), *rest):
            raise ValueError(
                f"data[{i}].shape must be indices[{i}].shape + {dims_text(rest)}, got data[{i}].shape = "
                f"{dims_text(np.shape(values))}, indices[{i}].shape = {dims_text(np.shape(index))}"
            )
        if rows[i].size and rows[i].min() < 0:
            raise ValueError(f"indices[{np.argmax(rows[i] < 0)}] is out of range")
    count = max((int(r.max()) for r in rows if r.size), default=-1) + 1
    first = np.asarray(data[0])
    merged = np.zeros((count, *rest), first.dtype)
    for index, values in zip(rows, data, strict=True):
        merged[index] = np.reshape(values, (len(index), *rest))
    return merged


def _stitch_gradient(op: Operation, grad: Any) -> list[Tensor | None]:
    count = op.attrs["N"]
    grad = convert_to_tensor(grad) if isinstance(grad, IndexedSlices) else grad
    return [None] * count + [gather(grad, op.inputs[i]) for i in range(count)]


def _define_stitch(op: Op) -> None:
    op.shape(_stitched_shape)
    op.kernel("CPU")(_stitched)
    op.gradient(_stitch_gradient)


_define_stitch(dynamic_stitch_op)
_define_stitch(parallel_dynamic_stitch_op)


def dynamic_stitch(indices: Sequence[Any], data: Sequence[Any], name: str | None = None) -> Tensor:
    """merged[indices[m][i]] = data[m][i]; of rows that come more than once, the last. Source: `tf.dynamic_stitch`."""
    result: Tensor = dynamic_stitch_op(list(indices), list(data), name=name)
    return result


# --- parallel stack ---------------------------------------------------------------------------------------------------


# --- sparse to dense --------------------------------------------------------------------------------------------------

sparse_to_dense_op = define_op(
    "SparseToDense(sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T) -> (dense: T) "
    "{validate_indices: bool = true; T: type; Tindices: type in [int32,int64]}"
)


@sparse_to_dense_op.shape
def _(
    sparse_indices: InputShape, output_shape: InputShape, sparse_values: InputShape, default_value: InputShape
) -> TensorShape:
    with_rank(default_value, 0)
    with_rank(output_shape, 1)
    return output_shape.value_as_shape


@sparse_to_dense_op.kernel("CPU")
def _(
    ctx: Any,
    sparse_indices: Array,
    output_shape: Array,
    sparse_values: Array,
    default_value: Array,
    *,
    validate_indices: bool,
) -> Array:
    if np.ndim(output_shape) != 1:
        raise ValueError(f"output_shape should be a vector, got shape {dims_text(np.shape(output_shape))}")
    require_scalar("default_value", default_value)
    dims = tuple(np.asarray(output_shape).tolist())
    indices = np.asarray(sparse_indices)
    if indices.ndim > 2:
        raise ValueError(f"sparse_indices should be a scalar, vector, or matrix, got shape {dims_text(indices.shape)}")
    indices = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if indices.shape[1] != len(dims):
        raise ValueError(f"output_shape has incorrect number of elements: {len(dims)} should be: {indices.shape[1]}")
    values = np.asarray(sparse_values)
    if values.ndim and values.shape != (len(indices),):
        raise ValueError(f"sparse_values has incorrect shape {dims_text(values.shape)}, should be [] or [{len(indices)}]")
    if validate_indices:
        _check_ordered(indices, dims)
    if ((indices < 0) | (indices >= dims)).any():
        raise ValueError(f"Indices are not valid (out of bounds).  Shape: {dims_text(dims)}")
    default = np.asarray(default_value)
    dense = np.full(dims, default, dtype=default.dtype)
    if dims:
        dense[tuple(indices.T)] = values
    elif len(indices):
        dense[()] = values.ravel()[-1]
    return dense


def _check_ordered(indices: Array, dims: Sequence[int]) -> None:
    """ValueError for the first row that is out of bounds, or not after the one before it."""
    if indices.shape[1] == 1:  # of vectors, which most are, it is told by little
        places = indices[:, 0]
        if not len(places) or (places[0] >= 0 and places[-1] < dims[0] and (places[1:] > places[:-1]).all()):
            return
    outside = np.any((indices < 0) | (indices >= np.array(dims, indices.dtype)), axis=1)
    follows = np.ones(len(indices), bool)
    steps = np.diff(indices, axis=0)
    differs = np.asarray(steps != 0)
    if indices.shape[1]:
        # Rows are ordered by the first column in which they differ.
        first = steps[np.arange(len(steps)), differs.argmax(axis=1)]
        follows[1:] = first > 0
    else:
        follows[1:] = False
    wrong = outside | ~follows
    if not wrong.any():
        return
    i = int(np.argmax(wrong))
    row = dims_text(indices[i].tolist())
    if outside[i]:
        raise ValueError(f"indices[{i}] = {row} is out of bounds: need 0 <= index < {dims_text(dims)}")
    reason = "is out of order. Many sparse ops require sorted indices." if differs[i - 1].any() else "is repeated"
    raise ValueError(f"indices[{i}] = {row} {reason}")


@sparse_to_dense_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    indices, dims = op.inputs[:2]
    values_grad = gather_nd(grad, indices)
    default_grad = reduce_sum(grad) - reduce_sum(values_grad)  # type: ignore[operator]
    return [zeros_like(indices), zeros_like(dims), values_grad, default_grad]


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor with `sparse_values` at these coordinates. Source: `tf.sparse_to_dense`.

    `validate_indices` demands that they are within the shape, in order and without repeats (InvalidArgumentError).
    """
    result: Tensor = sparse_to_dense_op(
        sparse_indices, output_shape, sparse_values, default_value, validate_indices=validate_indices, name=name
    )
    return result
