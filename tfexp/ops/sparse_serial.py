"""Sparse tensors as three serialized TensorProtos (or variants), to be stored and batched as dense ones. TF 1.15.

For sparse elements of data sets (D6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.formats.tensor import array_to_wire, make_ndarray
from tfexp.ops.shape_rules import merged_dims
from tfexp.ops.sparse_batches import Parts, apart, together
from tfexp.ops.sparse_layout import check_ranks, check_sparse

Array = np.ndarray

serialize_op = define_op(
    "SerializeSparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> (serialized_sparse: out_type) "
    "{T: type; out_type: type in [string,variant] = string}"
)
serialize_many_op = define_op(
    "SerializeManySparse(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> (serialized_sparse: out_type) "
    "{T: type; out_type: type in [string,variant] = string}"
)
deserialize_op = define_op(
    "DeserializeSparse(serialized_sparse: Tserialized) -> (sparse_indices: int64, sparse_values: dtype, "
    "sparse_shape: int64) {dtype: type; Tserialized: type in [string,variant] = string}"
)


@serialize_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> TensorShape:
    check_ranks(indices, values, dims)
    return TensorShape([3])


@serialize_many_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> TensorShape:
    check_ranks(indices, values, dims)
    return TensorShape([None, 3])


_SPARSE = [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


@deserialize_op.shape
def _(serialized: InputShape) -> list[TensorShape]:
    if serialized.known_dims is not None:
        merged_dims(3, serialized.known_dims[-1] if serialized.known_dims else None)
    return list(_SPARSE)


def _stored(array: Array, dtype: DType, out_type: DType) -> Any:
    if out_type == dtypes.variant:
        return array
    return array_to_wire(array, dtype).SerializeToString()


def store(parts: list[Parts], dtype: DType, out_type: DType) -> Array:
    """[n, 3]: what stands for each; for variants the arrays themselves."""
    result = np.empty((len(parts), 3), object)
    for row, (indices, values, dims) in zip(result, parts, strict=True):  # a record each, as for tf.Examples
        row[0] = _stored(indices, dtypes.int64, out_type)
        row[1] = _stored(values, dtype, out_type)
        row[2] = _stored(dims, dtypes.int64, out_type)
    return result


@serialize_op.kernel("CPU")
def _(ctx: Any, sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, T: DType, out_type: DType) -> Array:
    check_sparse(sparse_indices, sparse_values, sparse_shape)
    # The arrays are the step's; what is stored as it is has to be its own.
    parts = Parts(sparse_indices.copy(), sparse_values.copy(), sparse_shape.copy())
    return store([parts], T, out_type)[0]


@serialize_many_op.kernel("CPU")
def _(ctx: Any, sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, T: DType, out_type: DType) -> Array:
    return store(apart(sparse_indices.copy(), sparse_values.copy(), sparse_shape.copy()), T, out_type)


def _restored(stored: Any, dtype: DType, what: str) -> Array:
    if isinstance(stored, np.ndarray):
        array, found = stored, dtypes.as_dtype(stored.dtype) if stored.dtype != object else dtypes.string
    else:
        proto = TensorProto()
        try:
            proto.ParseFromString(stored)
            found, array = dtypes.as_dtype(proto.dtype), make_ndarray(proto)
        except (DecodeError, TypeError, ValueError) as error:
            raise invalid("Could not parse serialized proto") from error
    if found != dtype:
        shown = {"float32": "float", "float64": "double"}
        names = [shown.get(d.name, d.name) for d in (dtype, found)]
        raise invalid(f"Requested SparseTensor of type {names[0]} but {what}.dtype() == {names[1]}")
    return array


def _restore(serialized: Array, dtype: DType) -> list[Array]:
    if not serialized.size:
        text = "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension"
        raise invalid(f"{text} {dims_text(serialized.shape)}")
    if not serialized.ndim or serialized.shape[-1] != 3:
        raise invalid(f"Serialized sparse should have 3 as the last dimension, has shape {dims_text(serialized.shape)}")
    parts = []
    for i, (indices, values, dims) in enumerate(serialized.reshape(-1, 3)):
        name = f"SparseTensor[{i}]"
        places = _restored(indices, dtypes.int64, f"{name}.indices")
        elements = _restored(values, dtype, f"{name}.values")
        sizes = _restored(dims, dtypes.int64, f"{name}.shape")
        check_sparse(places, elements, sizes)
        parts.append(Parts(places, elements, sizes))
    return together(parts, serialized.shape[:-1])


@deserialize_op.kernel("CPU")
def _(ctx: Any, serialized_sparse: Array, *, dtype: DType) -> list[Array]:
    return _restore(serialized_sparse, dtype)


# --- functions ---------------------------------------------------------------------------------------------------------
