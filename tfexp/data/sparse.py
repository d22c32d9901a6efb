"""Sparse tensors as components of a data set's elements: one variant tensor each between its nodes."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.data.structure import Component, Kind
from tfexp.graph.convert import constant
from tfexp.graph.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import stack, unstack
from tfexp.ops.sparse_serial import deserialize_op, serialize_many_op, serialize_op


class _Sparse(Kind):
    name = "sparse"
    value_class = SparseTensor

    def belongs(self, value: Any) -> bool:
        return is_sparse(value)

    def converted(self, value: Any) -> SparseTensor:
        return as_sparse_tensor(value)

    def component(self, value: Any) -> Component:
        sparse = as_sparse_tensor(value)
        return Component(sparse.dtype.base_dtype, sparse.shape, None, SPARSE)

    def to_tensor(self, value: Any) -> Tensor:
        tensor: Tensor = serialize_op(*as_sparse_tensor(value).parts, out_type=dtypes.variant)
        return tensor

    def to_slices(self, value: Any) -> Tensor:
        tensor: Tensor = serialize_many_op(*as_sparse_tensor(value).parts, out_type=dtypes.variant)
        return tensor

    def from_tensor(self, tensor: Tensor, component: Component) -> SparseTensor:
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


SPARSE = _Sparse()
