"""What `tensorflow.python.ops.sparse_ops` says of stored sparse tensors beyond the public namespaces. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.op import get_op
from tfexp.graph.sparse_tensor import SparseTensor


def deserialize_sparse(serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None) -> SparseTensor:
    """The SparseTensor that the last dimension (3) of strings or variants stands for; of a `rank`, if that is known."""
    indices, values, dense_shape = get_op("DeserializeSparse")(serialized_sparse, dtype=dtype, name=name)
    indices.set_shape([None, rank])
    dense_shape.set_shape([rank])
    return SparseTensor(indices, values, dense_shape)
