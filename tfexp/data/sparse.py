"""Sparse tensors as components of a data set's elements: one variant tensor each between its nodes."""

from __future__ import annotations

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.data.structure import KINDS, Component, Kind
from tfexp.graph.convert import constant
from tfexp.graph.sparse_tensor import SparseTensor, SparseTensorValue, as_sparse_tensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import stack, unstack
from tfexp.ops.sparse_serial import deserialize_op, serialize_many_op, serialize_op


def _component(value: SparseTensor | SparseTensorValue) -> Component:
    sparse = as_sparse_tensor(value)
    return Component(sparse.dtype.base_dtype, sparse.shape, None, SPARSE)


def _to_tensor(value: SparseTensor | SparseTensorValue) -> Tensor:
    tensor: Tensor = serialize_op(*as_sparse_tensor(value).parts, out_type=dtypes.variant)
    return tensor


def slices_tensor(value: SparseTensor | SparseTensorValue) -> Tensor:
    """A vector of variants: the slices of a sparse tensor along its first dimension."""
    tensor: Tensor = serialize_many_op(*as_sparse_tensor(value).parts, out_type=dtypes.variant)
    return tensor


def _from_tensor(tensor: Tensor, component: Component) -> SparseTensor:
    indices, values, dims = deserialize_op(tensor, dtype=component.dtype)
    known = component.shape.known_dims
    if known is not None:
        indices.set_shape([None, len(known)])
        dims = _with_known(dims, known)
    sparse = SparseTensor(indices, values, dims)
    sparse.set_shape(component.shape)
    return sparse


def _with_known(dims: Tensor, known: tuple[int | None, ...]) -> Tensor:
    """The dense shape with constants for what is known of it."""
    if None not in known:
        return constant(list(known), dtype=dtypes.int64, name="shape")
    if not any(known):
        dims.set_shape([len(known)])
        return dims
    parts = unstack(dims, num=len(known))
    filled = [part if size is None else constant(size, dtype=dtypes.int64) for part, size in zip(parts, known, strict=True)]
    return stack(filled)


SPARSE = Kind("sparse", SparseTensor, is_sparse, _component, _to_tensor, _from_tensor, TensorShape(None))
KINDS.append(SPARSE)
