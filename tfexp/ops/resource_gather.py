"""Rows and elements of a variable read through its handle: the rest of it is not looked at, and gradients stay sparse."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.kernel import Ref
from tfexp.core.merged_shape import merged
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.handle_values import variable_shape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import state
from tfexp.ops.array import expand_dims, reshape, size, squeeze
from tfexp.ops.array_gather import gather_nd_op, gather_v2_op, scatter_nd
from tfexp.ops.array_join import concat
from tfexp.ops.resource_state import variable_op, variable_shape_op
from tfexp.ops.shape_rules import with_rank

resource_gather_op = variable_op(
    "ResourceGather(resource: resource, indices: Tindices) -> (output: dtype) {batch_dims: int = 0; "
    "validate_indices: bool = true; dtype: type; Tindices: type in [int32,int64]} #stateful",
    writes=False,
)


@resource_gather_op.shape
def _(resource: InputShape, indices: InputShape, *, batch_dims: int) -> TensorShape:
    with_rank(resource, 0)
    params, chosen = resource.of_handle, TensorShape(indices.known_dims)
    if params.rank is None or chosen.rank is None:
        return TensorShape(None)
    if params.rank < 1:
        raise ValueError(f"Shape must be at least rank 1 but is rank {params.rank}")
    if not -chosen.rank <= batch_dims <= chosen.rank or batch_dims >= params.rank:
        raise ValueError(f"batch_dims {batch_dims} must be less than the ranks of {params} and at most that of {chosen}")
    batch = batch_dims + chosen.rank if batch_dims < 0 else batch_dims
    leading = merged(params[:batch], chosen[:batch])
    return leading.concatenate(chosen[batch:]).concatenate(params[batch + 1 :])


@resource_gather_op.kernel("CPU")
def _(ctx: Any, resource: Ref, indices: np.ndarray, *, batch_dims: int) -> np.ndarray:
    buffer = state.buffer_of(resource)
    batch = batch_dims + np.ndim(indices) if batch_dims < 0 else batch_dims
    rows: np.ndarray = gather_v2_op.kernels["CPU"].function(ctx, buffer, indices, np.int64(batch), batch_dims=batch)
    return rows


@resource_gather_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    handle, indices = op.inputs
    params_shape: Any = variable_shape(handle)
    count = expand_dims(size(indices), 0)
    values = reshape(grad, concat([count, params_shape[1:]], 0))
    return [IndexedSlices(values, reshape(indices, count), params_shape), None]


resource_gather_nd_op = variable_op(
    "ResourceGatherNd(resource: resource, indices: Tindices) -> (output: dtype) "
    "{dtype: type; Tindices: type in [int32,int64]} #stateful",
    writes=False,
)


@resource_gather_nd_op.shape
def _(resource: InputShape, indices: InputShape) -> TensorShape:
    with_rank(resource, 0)
    assert gather_nd_op.shape_rule is not None
    result: TensorShape = gather_nd_op.shape_rule(resource.of_handle, indices)
    return result


@resource_gather_nd_op.kernel("CPU")
def _(ctx: Any, resource: Ref, indices: np.ndarray) -> np.ndarray:
    elements: np.ndarray = gather_nd_op.kernels["CPU"].function(ctx, state.buffer_of(resource), indices)
    return elements


@resource_gather_nd_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    handle, indices = op.inputs
    dims = variable_shape_op(handle, out_type=indices.dtype.base_dtype)
    static = indices.get_shape()
    if static.ndims == 2 and static.known_dims[-1] == 1:  # type: ignore[index]  # the rank is known
        return [IndexedSlices(grad, squeeze(indices, axis=-1), dims), None]
    return [scatter_nd(indices, grad, dims), None]
