"""Sparse tensors as single tensors, and back: [3] strings or variants for one, a row of 3 for each slice of another."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.formats.tensor import array_to_wire, make_ndarray
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.sparse_layout import check_sparse, refuse

Array = np.ndarray

_PARTS = "(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> (serialized_sparse: out_type)"
_OUT = "{T: type; out_type: type in [string,variant] = string}"
serialize_sparse_op = define_op(f"SerializeSparse{_PARTS} {_OUT}")
serialize_many_sparse_op = define_op(f"SerializeManySparse{_PARTS} {_OUT}")
deserialize_sparse_op = define_op(
    "DeserializeSparse(serialized_sparse: Tserialized) -> (sparse_indices: int64, sparse_values: dtype, sparse_shape: "
    "int64) {dtype: type; Tserialized: type in [string,variant] = string}"
)
deserialize_many_sparse_op = define_op(
    "DeserializeManySparse(serialized_sparse: string) -> (sparse_indices: int64, sparse_values: dtype, sparse_shape: int64) "
    "{dtype: type}"
)
for _op in (serialize_sparse_op, serialize_many_sparse_op, deserialize_sparse_op, deserialize_many_sparse_op):
    _op.not_differentiable()


# --- shapes ------------------------------------------------------------------------------------------------------------


def _check_parts(indices: InputShape, values: InputShape, dims: InputShape) -> None:
    with_rank(indices, 2)
    with_rank(values, 1)
    with_rank(dims, 1)


@serialize_sparse_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> TensorShape:
    _check_parts(indices, values, dims)
    return TensorShape([3])


@serialize_many_sparse_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> TensorShape:
    _check_parts(indices, values, dims)
    return TensorShape([None, 3])


@deserialize_sparse_op.shape
def _(serialized: InputShape) -> list[TensorShape]:
    if serialized.rank == 0 or (serialized.rank and serialized.as_list()[-1] not in (None, 3)):
        raise ValueError(f"Dimension must be 3 but the shape of serialized_sparse is {serialized}")
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


@deserialize_many_sparse_op.shape
def _(serialized: InputShape) -> list[TensorShape]:
    with_rank(serialized, 2)
    if serialized.rank and serialized.as_list()[1] not in (None, 3):
        raise ValueError(f"Dimension must be 3 but is {serialized.as_list()[1]}")
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


# --- kernels -----------------------------------------------------------------------------------------------------------


def row_of(parts: tuple[Array, Array, Array], as_text: bool) -> list[Any]:
    """The three items that stand for a sparse tensor: its arrays, or their serialized TensorProtos."""
    return [array_to_wire(part).SerializeToString() for part in parts] if as_text else list(parts)


def rows(items: list[list[Any]]) -> Array:
    """Such rows as an [n, 3] array of objects."""
    result = np.empty((len(items), 3), object)
    for i, row in enumerate(items):
        for j, item in enumerate(row):
            result[i, j] = item
    return result


@serialize_sparse_op.kernel("CPU")
def _(ctx: Any, indices: Array, values: Array, dims: Array, *, out_type: DType) -> Array:
    check_sparse(indices, values, dims)
    return rows([row_of((np.array(indices), np.array(values), np.array(dims)), out_type is dtypes.string)])[0]


@serialize_many_sparse_op.kernel("CPU")
def _(ctx: Any, indices: Array, values: Array, dims: Array, *, out_type: DType) -> Array:
    check_sparse(indices, values, dims)
    if len(dims) < 2:
        raise refuse(f"Rank of input SparseTensor should be > 1, but saw rank: {len(dims)}")
    first = indices[:, 0]
    if (np.diff(first) < 0).any():
        raise refuse("indices are not sorted in batch dimension")
    if len(first) and not 0 <= first[0] <= first[-1] < dims[0]:
        raise refuse(f"Received unexpected column 0 value in input SparseTensor: {first[-1]} < 0 (or >= {dims[0]})")
    ends = np.searchsorted(first, np.arange(int(dims[0]) + 1))
    rest, kept, inner = np.array(indices[:, 1:]), np.array(values), np.array(dims[1:])
    as_text = out_type is dtypes.string
    parts = zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    return rows([row_of((rest[start:stop], kept[start:stop], inner), as_text) for start, stop in parts])


def _part(item: Any) -> Array:
    if isinstance(item, np.ndarray):
        return item
    try:
        return make_ndarray(TensorProto.FromString(bytes(item)))
    except (DecodeError, TypeError, ValueError) as error:
        raise refuse(f"Could not parse serialized_sparse: {error}") from None


def joined(serialized: Array, dtype: DType) -> list[Array]:
    """The sparse tensor whose slices along the leading axes are serialized; its other sizes are the largest there are."""
    if serialized.ndim == 0 or serialized.shape[-1] != 3:
        raise refuse(f"Serialized sparse should have 3 as the last dimension but has shape {list(serialized.shape)}")
    leading = serialized.shape[:-1]
    wanted = np.dtype(dtype.as_numpy_dtype)
    items = [tuple(map(_part, row)) for row in serialized.reshape(-1, 3)]
    for indices, values, dims in items:
        check_sparse(indices, values, dims)
        if values.dtype != wanted:
            raise refuse(f"Requested SparseTensor of type {dtype.name} but the serialized one is of type {values.dtype}")
        if len(dims) != len(items[0][2]):
            raise refuse(
                f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[0] was {len(items[0][2])} but rank of "
                f"another is {len(dims)}"
            )
    if not items:
        raise refuse("Serialized sparse has no elements: its rank is not known")
    counts = [len(values) for _, values, _ in items]
    places = np.array(np.unravel_index(np.repeat(np.arange(len(items)), counts), leading), np.int64).T if leading else None
    indices = np.concatenate([indices for indices, _, _ in items])
    if places is not None:
        indices = np.concatenate([places.reshape(len(indices), len(leading)), indices], axis=1)
    dims = np.max([dims for _, _, dims in items], axis=0)
    return [indices, np.concatenate([values for _, values, _ in items]), np.concatenate([leading, dims]).astype(np.int64)]


@deserialize_sparse_op.kernel("CPU")
@deserialize_many_sparse_op.kernel("CPU")
def _(ctx: Any, serialized: Array, *, dtype: DType) -> list[Array]:
    return joined(np.asarray(serialized, object), dtype)


# --- public functions --------------------------------------------------------------------------------------------------


def serialize_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """A SparseTensor as a vector of 3 strings (serialized TensorProtos) or variants. `tf.serialize_sparse`."""
    tensor: Tensor = serialize_sparse_op(*as_sparse_tensor(sp_input).parts, out_type=out_type, name=name)
    return tensor


def serialize_many_sparse(sp_input: Any, name: str | None = None, out_type: Any = dtypes.string) -> Tensor:
    """A SparseTensor of rank 2 and more as [n, 3] strings: a row for each slice. `tf.serialize_many_sparse`."""
    tensor: Tensor = serialize_many_sparse_op(*as_sparse_tensor(sp_input).parts, out_type=out_type, name=name)
    return tensor


def deserialize_many_sparse(serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None) -> Any:
    """The SparseTensor that `serialize_many_sparse` made rows of; `rank` is that of a row. `tf.deserialize_many_sparse`."""
    indices, values, dims = deserialize_many_sparse_op(serialized_sparse, dtype=dtypes.as_dtype(dtype), name=name)
    indices.set_shape([None, None if rank is None else rank + 1])
    dims.set_shape([None if rank is None else rank + 1])
    return SparseTensor(indices, values, dims)
