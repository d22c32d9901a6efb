"""Sparse tensors kept in a map of the session, under numbers that queues can hold in their place. TF 1.15.

What `tf.train.batch` and its like do with SparseTensors.
"""

from __future__ import annotations

import itertools
import threading
from typing import Any

import numpy as np

from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.core.text import as_text
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.sparse_batches import Parts, apart, together
from tfexp.ops.sparse_layout import check_ranks, check_sparse

Array = np.ndarray

_ATTRS = "container: string = ''; shared_name: string = ''"
_PARTS = "(sparse_indices: int64, sparse_values: T, sparse_shape: int64)"
add_op = define_op(f"AddSparseToTensorsMap{_PARTS} -> (sparse_handle: int64) {{T: type; {_ATTRS}}} #stateful")
add_many_op = define_op(f"AddManySparseToTensorsMap{_PARTS} -> (sparse_handles: int64) {{T: type; {_ATTRS}}} #stateful")
take_many_op = define_op(
    "TakeManySparseFromTensorsMap(sparse_handles: int64) -> (sparse_indices: int64, sparse_values: dtype, "
    f"sparse_shape: int64) {{dtype: type; {_ATTRS}}} #stateful"
)


class _TensorsMap:
    """Sparse tensors by number; taking one removes it."""

    def __init__(self, name: str):
        self.name = name
        self._lock = threading.Lock()
        self._parts: dict[int, Parts] = {}
        self._numbers = itertools.count()

    def add(self, parts: list[Parts]) -> Array:
        """Their numbers."""
        with self._lock:
            numbers = list(itertools.islice(self._numbers, len(parts)))
            self._parts.update(zip(numbers, parts, strict=True))
        return np.array(numbers, np.int64)

    def take(self, numbers: list[int]) -> list[Parts]:
        """Remove and return them. InvalidArgumentError for a number that is not there: then all stay."""
        with self._lock:
            missing = set(numbers) - self._parts.keys()
            if missing:
                raise invalid(f"Unable to find SparseTensor: {min(missing)} in map: {self.name}")
            return list(map(self._parts.pop, numbers))


def _map(ctx: Any, container: Any, shared_name: Any) -> _TensorsMap:
    given = as_text(shared_name)
    name = given or ctx.node_name
    found: _TensorsMap = ctx.resource(container, name, lambda: _TensorsMap(name), "sparse_tensors_map")
    return found


@add_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> TensorShape:
    check_ranks(indices, values, dims)
    return TensorShape([])


@add_op.kernel("CPU")
def _(
    ctx: Any, sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, container: Any, shared_name: Any
) -> Array:
    check_sparse(sparse_indices, sparse_values, sparse_shape)
    # The arrays are the step's; the map outlives it.
    parts = Parts(sparse_indices.copy(), sparse_values.copy(), sparse_shape.copy())
    return np.asarray(_map(ctx, container, shared_name).add([parts])[0])


@add_many_op.shape
def _(indices: InputShape, values: InputShape, dims: InputShape) -> TensorShape:
    check_ranks(indices, values, dims)
    return TensorShape([None])


@add_many_op.kernel("CPU")
def _(
    ctx: Any, sparse_indices: Array, sparse_values: Array, sparse_shape: Array, *, container: Any, shared_name: Any
) -> Array:
    parts = apart(sparse_indices.copy(), sparse_values.copy(), sparse_shape.copy())
    return _map(ctx, container, shared_name).add(parts)


@take_many_op.shape
def _(handles: InputShape) -> list[TensorShape]:
    with_rank(handles, 1)
    return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]


@take_many_op.kernel("CPU")
def _(ctx: Any, sparse_handles: Array, *, container: Any, shared_name: Any) -> list[Array]:
    if sparse_handles.ndim != 1:
        raise invalid(f"sparse_handles should be a vector but received shape {dims_text(sparse_handles.shape)}")
    if not len(sparse_handles):
        raise invalid("Must have at least one sparse handle to take.")
    parts = _map(ctx, container, shared_name).take(sparse_handles.tolist())
    return together(parts, (len(parts),), of_map=True)


def add_sparse(x: SparseTensor, map_op: Operation | None, many: bool) -> Tensor:
    """The number of a sparse tensor, or those of the ones along its first dimension, in the map of `map_op` or its own."""
    name = "" if map_op is None else map_op.name
    numbers: Tensor = (add_many_op if many else add_op)(*x.parts, shared_name=name)
    return numbers


def take_many_sparse(handles: Tensor, map_op: Operation, rank: int | None, name: str | None = None) -> SparseTensor:
    """A batch of what `map_op` has put into its map; `rank` is that of the batch, where it is known."""
    dtype = map_op.attrs["T"]
    with get_default_graph().colocate_with(map_op):
        shared_name = map_op.attrs["shared_name"] or map_op.name
        indices, values, dims = take_many_op(handles, dtype=dtype, shared_name=shared_name, name=name)
    indices.set_shape([None, rank])
    dims.set_shape([rank])
    return SparseTensor(indices, values, dims)
