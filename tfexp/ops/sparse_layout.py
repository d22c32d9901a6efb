"""Ops that move the elements of sparse tensors: reordered, reshaped, joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_gather, array_identity, array_order
from tfexp.ops.shape_rules import merged_dims, with_rank

Array = np.ndarray

NUMBERS = (
    "float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
    "uint32,uint64"
)


# Those that have an order.
REAL = "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64"


def dim_of(shape: TensorShape, axis: int) -> int | None:
    """The size of one dimension, None where it is unknown."""
    return None if shape.known_dims is None else shape.known_dims[axis]


def row_major(indices: Array) -> Array:
    """The positions that bring the rows of `indices` into row-major order; equal rows stay as they are."""
    if indices.shape[1] == 0:
        return np.arange(len(indices))
    return np.lexsort(indices.T[::-1])


def check_ranks(indices: InputShape, values: InputShape, dims: InputShape) -> None:
    """ValueError unless these may be the shapes of a sparse tensor's parts."""
    with_rank(indices, 2)
    with_rank(values, 1)
    with_rank(dims, 1)


def check_sparse(indices: Array, values: Array, dims: Array) -> None:
    """InvalidArgumentError unless these are the parts of a sparse tensor."""
    if indices.ndim != 2:
        raise invalid(f"Input indices should be a matrix but received shape {list(indices.shape)}")
    if values.ndim != 1:
        raise invalid(f"Input values should be a vector but received shape {list(values.shape)}")
    if dims.ndim != 1:
        raise invalid(f"Input shape should be a vector but received shape {list(dims.shape)}")
    if len(indices) != len(values):
        raise invalid(f"Number of elements in indices ({len(indices)}) and values ({len(values)}) do not match")
    if indices.shape[1] != len(dims):
        raise invalid(f"Index rank ({indices.shape[1]}) and shape rank ({len(dims)}) do not match")


# --- order ------------------------------------------------------------------------------------------------------------

reorder_op = define_op(
    "SparseReorder(input_indices: int64, input_values: T, input_shape: int64) -> (output_indices: int64, output_values: T) "
    "{T: type}"
)


@reorder_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> list[TensorShape]:
    with_rank(dims, 1)
    return [with_rank(indices, 2), with_rank(values, 1)]


@reorder_op.kernel("CPU")
def _(ctx: Any, input_indices: Array, input_values: Array, input_shape: Array) -> list[Array]:
    check_sparse(input_indices, input_values, input_shape)
    order = row_major(input_indices)
    return [input_indices[order], input_values[order]]


@reorder_op.gradient
def _(op: Operation, unused: Any, grad: Tensor) -> list[Any]:
    # Numbers that go the way of the values tell where each of them came from.
    indices, _, dims = op.inputs
    count = array.shape(indices)[0]  # type: ignore[index]  # bound by ops.overloads
    order = sparse_reorder(SparseTensor(indices, array_fill.range(count), dims)).values
    return [None, array_gather.gather(grad, array_order.invert_permutation(order)), None]


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same sparse tensor with its elements in row-major order. Source: `tf.sparse_reorder`, `tf.sparse.reorder`."""
    x = as_sparse_tensor(sp_input)
    indices, values = reorder_op(*x.parts, name=name)
    dims = x.get_shape()
    dense_shape = dims.as_list() if dims.is_fully_defined() else array_identity.identity(x.dense_shape)
    return SparseTensor(indices, values, dense_shape)


# --- shape ------------------------------------------------------------------------------------------------------------

reshape_op = define_op(
    "SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) -> (output_indices: int64, "
    "output_shape: int64)"
)


@reshape_op.shape
def _(indices: InputShape, dims: InputShape, new_dims: InputShape) -> list[TensorShape]:
    rows = dim_of(with_rank(indices, 2), 0)
    with_rank(dims, 1)
    rank = dim_of(with_rank(new_dims, 1), 0)
    old, new = dims.value_as_shape.known_dims, new_dims.value_as_shape.known_dims
    if old is not None and new is not None and None not in old:
        _check_elements(int(np.prod(old, dtype=np.int64)), list(new))  # type: ignore[arg-type]
    return [TensorShape([rows, rank]), TensorShape([rank])]


def _check_elements(elements: int, new: list[int | None]) -> None:
    known = int(np.prod([d for d in new if d is not None], dtype=np.int64))
    unknown = new.count(None)
    if (unknown == 0 and known != elements) or (unknown == 1 and (known == 0 or elements % known)):
        text = ", ".join("?" if d is None else str(d) for d in new)
        raise ValueError(f"Cannot reshape a tensor with {elements} elements to shape [{text}] ({known} elements).")


@reshape_op.kernel("CPU")
def _(ctx: Any, input_indices: Array, input_shape: Array, new_shape: Array) -> list[Array]:
    if input_indices.ndim != 2:
        raise invalid(f"Input indices should be a matrix but received shape {dims_text(input_indices.shape)}")
    for name, value in (("Input", input_shape), ("Target", new_shape)):
        if value.ndim != 1:
            raise invalid(f"{name} shape should be a vector but received shape {dims_text(value.shape)}")
    if input_indices.shape[1] != len(input_shape):
        raise invalid("Input tensor rank must match input shape length.")
    dims = _completed(input_shape, new_shape)
    flat = _flat(input_indices, input_shape)
    if len(flat) and len(dims):
        coordinates = np.unravel_index(flat, tuple(dims))
        indices = np.stack(coordinates, axis=1).astype(np.int64)
    else:
        indices = np.zeros((len(input_indices), len(dims)), np.int64)
    return [indices, dims]


def _flat(indices: Array, dims: Array) -> Array:
    strides = np.append(np.cumprod(dims[:0:-1])[::-1], 1) if len(dims) else np.zeros(0, np.int64)
    flat: Array = indices @ strides.astype(np.int64)
    size = int(np.prod(dims))
    if ((flat < 0) | (flat >= size)).any():
        row = int(np.argmax((flat < 0) | (flat >= size)))
        raise invalid(f"indices[{row}] = {dims_text(indices[row])} is out of bounds: need 0 <= index < {dims_text(dims)}")
    return flat


def _completed(old: Array, new: Array) -> Array:
    """The new shape, with the size that -1 stands for."""
    size = int(np.prod(old))
    if (new < -1).any():
        axis = int(np.argmax(new < -1))
        raise invalid(f"size {axis} must be non-negative, not {new[axis]}")
    missing = np.flatnonzero(new == -1)
    if len(missing) > 1:
        raise invalid(f"only one output dimension may be -1, not both {missing[0]} and {missing[1]}")
    dims = new.copy()
    if len(missing):
        dims[missing] = 1
        rest = int(np.prod(dims))
        if rest == 0:
            raise invalid(
                "reshape cannot infer the missing input size for an empty tensor unless all specified are non-zero"
            )
        if size % rest:
            raise invalid(
                f"Input to reshape is a SparseTensor with {size} dense values, but the requested shape requires a multiple "
                f"of {rest}. input_shape={dims_text(old)} output_shape={dims_text(dims)}"
            )
        dims[missing] = size // rest
    if int(np.prod(dims)) != size:
        raise invalid(
            f"Input to reshape is a tensor with {size} dense values, but the requested shape has {int(np.prod(dims))}. "
            f"input_shape={dims_text(old)} output_shape={dims_text(dims)}"
        )
    return dims


# --- joined ------------------------------------------------------------------------------------------------------------

concat_op = define_op(
    "SparseConcat(indices: N * int64, values: N * T, shapes: N * int64) -> (output_indices: int64, output_values: T, "
    "output_shape: int64) {concat_dim: int; N: int >= 2; T: type}"
).not_differentiable()


@concat_op.shape
def _(indices: list[InputShape], values: list[InputShape], dims: list[InputShape]) -> list[TensorShape]:
    rows: int | None = 0
    rank: int | None = None
    shape = TensorShape([None])
    for index, value, dim in zip(indices, values, dims, strict=True):
        count = merged_dims(dim_of(with_rank(index, 2), 0), dim_of(with_rank(value, 1), 0))
        rows = None if rows is None or count is None else rows + count
        rank = merged_dims(rank, dim_of(index, 1))
        shape = merged(shape, with_rank(dim, 1))
    return [TensorShape([rows, rank]), TensorShape([rows]), shape]


@concat_op.kernel("CPU")
def _(
    ctx: Any, indices: Sequence[Array], values: Sequence[Array], shapes: Sequence[Array], *, concat_dim: int
) -> list[Array]:
    rank = len(shapes[0])
    if not -rank <= concat_dim < rank:
        raise invalid(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    axis = concat_dim % rank
    for i, (index, value, dims) in enumerate(zip(indices, values, shapes, strict=True)):
        check_sparse(index, value, dims)
        if len(dims) != rank:
            raise invalid(f"Ranks of all input tensors must match: expected {rank} but got {len(dims)} at position {i}")
        wrong = np.flatnonzero((dims != shapes[0]) & (np.arange(rank) != axis))
        if len(wrong):
            d = int(wrong[0])
            raise invalid(
                f"Input shapes must match: expected {shapes[0][d]} for dimension {d} but got {dims[d]} at position {i}"
            )
    ends = np.cumsum([dims[axis] for dims in shapes])
    moved = np.concatenate(indices)
    moved[:, axis] += np.repeat(np.append(0, ends[:-1]), [len(index) for index in indices])
    order = row_major(moved)
    shape = shapes[0].copy()
    shape[axis] = ends[-1]
    return [moved[order], np.concatenate(values)[order], shape]


# --- sliced ------------------------------------------------------------------------------------------------------------


def matches(wanted: Array, rows: Array) -> Array:
    """For each row of `wanted` the number of the equal row of `rows`, -1 for none."""
    both, numbers = np.unique(np.concatenate([rows, wanted]), axis=0, return_inverse=True)
    place = np.full(len(both), -1)
    numbers = numbers.reshape(-1)
    place[numbers[: len(rows)]] = np.arange(len(rows))
    found: Array = place[numbers[len(rows) :]]
    return found


def taken(values: Array, places: Array) -> Array:
    """`values[places]`, with 0 for the places that are -1."""
    result = np.zeros(len(places), values.dtype)
    result[places >= 0] = values[places[places >= 0]]
    return result


# --- empty rows --------------------------------------------------------------------------------------------------------
