"""`tensorflow.python.ops.sparse_ops`: sparse tensors put into maps of a session and taken out. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.sparse_map import add_many_op, add_op, take_many_sparse


def _put(op: Any, sp_input: Any, container: str | None, shared_name: str | None, name: str | None) -> Tensor:
    parts = SparseTensor.from_value(sp_input).parts
    handles: Tensor = op(*parts, container=container or "", shared_name=shared_name or "", name=name)
    return handles


def _add_sparse_to_tensors_map(
    sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """The number of a sparse tensor in the node's map; TypeError for what is none."""
    return _put(add_op, sp_input, container, shared_name, name)


def _add_many_sparse_to_tensors_map(
    sp_input: Any, container: str | None = None, shared_name: str | None = None, name: str | None = None
) -> Tensor:
    """The numbers of those along its first dimension."""
    return _put(add_many_op, sp_input, container, shared_name, name)


def _take_many_sparse_from_tensors_map(
    sparse_map_op: Operation, sparse_handles: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """A batch of what that node has put into its map. TypeError for another node."""
    if not isinstance(sparse_map_op, Operation):
        raise TypeError("sparse_map_op be an Operation")
    if sparse_map_op.type not in ("AddSparseToTensorsMap", "AddManySparseToTensorsMap"):
        raise TypeError("sparse_map_op must be one of AddSparseToTensorsMap or AddSparseToTensorsMap")
    return take_many_sparse(convert_to_tensor(sparse_handles, dtypes.int64), sparse_map_op, rank, name)
