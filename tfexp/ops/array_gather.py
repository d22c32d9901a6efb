"""Elements chosen by index, and elements put where an index says: Gather, GatherNd, ScatterNd."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, element_array, expand_dims, rank, reshape, shape, size, squeeze
from tfexp.ops.array_fill import broadcast_to, ones, zeros
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat, stack, unstack
from tfexp.ops.array_order import transpose
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.index_range import are_within
from tfexp.ops.reduce import reduce_prod
from tfexp.ops.segment import unsorted_segment_sum
from tfexp.ops.shape_rules import with_rank, with_rank_at_least

# --- gather -----------------------------------------------------------------------------------------------------------

gather_v2_op = define_op(
    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> (output: Tparams) {batch_dims: int = 0; Tparams: type; "
    "Tindices: type in [int32,int64]; Taxis: type in [int32,int64]}"
)


@gather_v2_op.shape
def _(params: InputShape, indices: InputShape, axis: InputShape, *, batch_dims: int) -> TensorShape:
    with_rank(axis, 0)
    dims, chosen = params.known_dims, indices.known_dims
    if dims is None or chosen is None:
        return TensorShape(None)
    batch = batch_dims + len(chosen) if batch_dims < 0 else batch_dims
    if axis.value is None:
        return TensorShape([None] * (len(dims) - 1 + len(chosen) - batch))
    position = int(axis.value)
    needed = position + 1 if position >= 0 else -position
    if len(dims) < needed:
        raise ValueError(f"Shape must be at least rank {needed} but is rank {len(dims)}")
    position %= len(dims)
    if not 0 <= batch <= min(position, len(chosen)):
        raise ValueError(f"batch_dims {batch_dims} must be at most axis {position} and the rank of indices {len(chosen)}")
    leading = merged(TensorShape(dims[:batch]), TensorShape(chosen[:batch])).as_list()
    return TensorShape([*leading, *dims[batch:position], *chosen[batch:], *dims[position + 1 :]])


def check_indices(indices: Any, limit: int) -> None:
    """ValueError naming the first index that is not in [0, limit)."""
    indices = np.asarray(indices)
    if not are_within(indices, limit):
        bad = np.argmax((indices < 0) | (indices >= limit))
        where = ",".join(map(str, np.unravel_index(int(bad), indices.shape)))
        at = f"indices[{where}]" if where else "indices"
        raise ValueError(f"{at} = {indices.reshape(-1)[bad]} is not in [0, {limit})")


@gather_v2_op.kernel("CPU")
def _(ctx: Any, params: Array, indices: Array, axis: Array, *, batch_dims: int) -> Array:
    if np.ndim(axis):
        raise ValueError(f"axis must be scalar, got shape {dims_text(np.shape(axis))}")
    position = int(axis)
    dims = np.shape(params)
    if not -len(dims) <= position < len(dims):
        raise ValueError(
            f"Expected axis in the range [{-len(dims)}, {len(dims)}), but got {position} for params of {dims_text(dims)}"
        )
    position %= len(dims)
    check_indices(indices, dims[position])
    batch = batch_dims + np.ndim(indices) if batch_dims < 0 else batch_dims
    if batch == 0:
        return element_array(np.take(params, indices, position))
    if np.shape(indices)[:batch] != dims[:batch]:
        raise ValueError(
            f"params.shape{dims_text(dims[:batch])} should be equal to indices.shape{dims_text(np.shape(indices)[:batch])} "
            f"in the first {batch} dimensions"
        )
    # Each leading (batch) dimension is walked in step with itself.
    moved = np.moveaxis(params, position, batch)
    grid = [np.arange(d).reshape([-1 if i == k else 1 for i in range(np.ndim(indices))]) for k, d in enumerate(dims[:batch])]
    gathered = moved[(*grid, indices)]
    sources = range(batch, np.ndim(indices))
    return np.moveaxis(gathered, sources, [s + position - batch for s in sources])


@gather_v2_op.bind
def _(node: BindRequest) -> Call | None:
    axis, dims = node.input_values[2], node.input_shapes[0].known_dims
    if axis is None or node.attrs["batch_dims"] or dims is None or node.output_dtypes[0].as_numpy_dtype is object:
        return None
    position = int(axis)
    if node.input_shapes[1].rank is None:
        return None

    def gather_checked(params: Array, indices: Array, axis: Array, out: Array | None = None) -> Array:
        check_indices(indices, params.shape[position])  # a variable's is not always the one that it was declared with
        return params.take(indices, position, out, "clip")  # to say again that they are in range would take a copy

    return Call(gather_checked, out=True)


def _gather_slices(op: Operation, grad: Any, params_shape: Tensor) -> IndexedSlices:
    """The gradient of gathering rows: the rows of `grad`, at the rows they came from."""
    indices = op.inputs[1]
    count = expand_dims(size(indices), 0)
    values_shape = concat([count, params_shape[1:]], 0)  # type: ignore[index]  # bound by ops.overloads
    values = reshape(convert_to_tensor(grad), values_shape)
    return IndexedSlices(values, reshape(indices, count), params_shape)


@gather_v2_op.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    params, indices, axis = op.inputs
    with get_default_graph().colocate_with(params):
        params_shape: Any = shape(params)
    position = static_value(axis)
    if position is not None and position == 0:
        return [_gather_slices(op, grad, params_shape), None, None]
    batch = op.attrs["batch_dims"]
    if batch < 0:
        batch += indices.get_shape().ndims
    expand_dims(size(indices), 0)  # of no use here, but TensorFlow's graphs have it
    outer = params_shape[:axis]
    inner = params_shape[axis:][1:]
    values_shape = concat([outer, [-1], inner], 0)
    values_dims, axis_dims = size(values_shape), size(outer)
    batch_axes = range_(batch)
    outer_axes = range_(batch, axis_dims)
    inner_axes = range_(axis_dims + 1, values_dims)  # type: ignore[operator]
    values = reshape(convert_to_tensor(grad), values_shape)
    order = concat([batch_axes, [axis_dims], outer_axes, inner_axes], 0)
    rows = transpose(values, order)
    result = _segment_sum(gather(params_shape, order), rows, indices, batch, params_shape[axis])
    back = concat([batch_axes, outer_axes + 1, [batch], inner_axes], 0)  # type: ignore[operator]
    result = transpose(result, back)
    return [reshape(result, shape(params)), None, None]


def _segment_sum(dims: Any, values: Any, indices: Any, batch: int, segments: Any) -> Tensor:
    """`values` summed into `segments` rows by index, for each element of the first `batch` dimensions apart."""
    count = expand_dims(size(indices), 0)
    if not batch:
        result: Tensor = unsorted_segment_sum(values, reshape(indices, count), segments)
        return result
    values_shape: Any = shape(values)
    outer = values_shape[:batch]
    inner = values_shape[batch:][1:]
    batches = reduce_prod(outer, [0])
    flat = concat([[-1], inner], 0)
    segments = segments * batches
    indices = _with_batch_offsets(dims, indices, batch)
    values = reshape(values, flat)
    summed = unsorted_segment_sum(values, reshape(indices, count), segments)
    return reshape(summed, concat([outer, flat], 0))


def _with_batch_offsets(dims: Any, indices: Any, batch: int) -> Any:
    """Indices into a tensor of shape `dims` whose first `batch + 1` dimensions are flattened into one."""
    dtype = indices.dtype.base_dtype
    stride: Any = ones([], dtype)
    for axis in range(batch, 0, -1):
        length = cast(dims[axis - 1], dtype)
        stride = stride * cast(dims[axis], dtype)
        start, step = zeros([], dtype), ones([], dtype)
        offsets = range_(start, length, step) * stride
        before = tile([1], [axis - 1])
        after = tile([1], [rank(indices) - axis])  # type: ignore[operator]
        indices = indices + reshape(offsets, concat([before, [length], after], 0))
    return indices


def gather(
    params: Any,
    indices: Any,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices of `params` at `indices` along `axis` (default: `batch_dims`). Source: `tf.gather`, TF 1.15.

    An index out of range is an InvalidArgumentError of the run.
    """
    if axis is None:
        axis = batch_dims
    position = static_value(axis) if isinstance(axis, Tensor) else axis
    if position is not None and position == 0 and hasattr(params, "sparse_read"):
        read: Tensor = params.sparse_read(indices, name=name)
        return read
    result: Tensor = gather_v2_op(params, indices, axis, batch_dims=batch_dims, name=name)
    return result


gather_op = define_op(
    "Gather(params: Tparams, indices: Tindices) -> (output: Tparams) {validate_indices: bool = true; Tparams: type; "
    "Tindices: type in [int32,int64]}"
)


@gather_op.shape
def _(params: InputShape, indices: InputShape) -> TensorShape:
    return TensorShape(indices).concatenate(with_rank_at_least(params, 1)[1:])


@gather_op.kernel("CPU")
def _(ctx: Any, params: Array, indices: Array) -> Array:
    check_indices(indices, len(params))
    return element_array(np.take(params, indices, 0))


@gather_op.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    with get_default_graph().colocate_with(op.inputs[0]):
        params_shape = shape(op.inputs[0])
    return [_gather_slices(op, grad, params_shape), None]


# --- gather and scatter by coordinates ----------------------------------------------------------------------------------

gather_nd_op = define_op(
    "GatherNd(params: Tparams, indices: Tindices) -> (output: Tparams) {Tparams: type; Tindices: type in [int32,int64]}"
)


@gather_nd_op.shape
def _(params: InputShape, indices: InputShape) -> TensorShape:
    chosen = with_rank_at_least(indices, 1).known_dims
    dims = params.known_dims
    if chosen is None or dims is None or chosen[-1] is None:
        return TensorShape(None)
    if chosen[-1] > len(dims):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {dims_text(chosen)} and params shape: "
            f"{dims_text(dims)}"
        )
    return TensorShape([*chosen[:-1], *dims[chosen[-1] :]])


def coordinates(indices: Array, dims: Sequence[int], what: str) -> tuple[Array, ...]:
    """The NumPy index that the rows of `indices` mean; ValueError naming the first row that is outside `dims`."""
    depth = indices.shape[-1]
    if indices.size:
        limits = np.array(dims[:depth])
        outside = ((indices < 0) | (indices >= limits)).any(-1)
        if outside.any():
            first = int(np.argmax(outside))
            where = ",".join(map(str, np.unravel_index(first, outside.shape)))
            row = indices.reshape(-1, depth)[first].tolist()
            raise ValueError(
                f"indices{f'[{where}]' if where else ''} = {row} does not index into {what}shape {dims_text(dims)}"
            )
    return tuple(np.moveaxis(indices, -1, 0))


@gather_nd_op.kernel("CPU")
def _(ctx: Any, params: Array, indices: Array) -> Array:
    if np.ndim(indices) < 1:
        raise ValueError("indices must be at least a vector")
    if np.ndim(params) < 1:
        raise ValueError("params must be at least a vector")
    if indices.shape[-1] > np.ndim(params):
        raise ValueError(
            f"index innermost dimension length must be <= params rank; saw: {indices.shape[-1]} vs. {np.ndim(params)}"
        )
    params = np.asarray(params)
    if indices.size and not params.size:
        raise ValueError(
            f"Requested more than 0 entries, but params is empty.  Params shape: {dims_text(params.shape)}, indices shape: "
            f"{dims_text(indices.shape)}"
        )
    if indices.shape[-1] == 0:
        return np.broadcast_to(params, (*indices.shape[:-1], *params.shape)).copy()
    chosen = element_array(params[coordinates(indices, params.shape, "param ")])
    # Indices that are a single row choose as integers do, which gives a view.
    return np.array(chosen) if indices.ndim == 1 else chosen


@gather_nd_op.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    params, indices = op.inputs
    dims = shape(params, out_type=indices.dtype.base_dtype)
    static = indices.get_shape()
    if static.ndims == 2 and static.known_dims[-1] == 1:  # type: ignore[index]  # the rank is known
        return [IndexedSlices(grad, squeeze(indices, axis=-1), dims), None]
    return [scatter_nd(indices, grad, dims), None]


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Tensor:
    """The slices of `params` whose coordinates stand in the last axis of `indices`. Source: `tf.gather_nd`."""
    if batch_dims:
        return _batch_gather_nd(params, indices, batch_dims, name)
    if hasattr(params, "gather_nd"):
        read: Tensor = params.gather_nd(indices, name=name)
        return read
    result: Tensor = gather_nd_op(params, indices, name=name)
    return result


def _batch_gather_nd(params: Any, indices: Any, batch_dims: int, name: str | None) -> Tensor:
    """Coordinates relative to each batch element: the batch's own coordinates are put before them."""
    with name_scope(name, "BatchGatherND", [params, indices]) as scope:
        params, indices = convert_to_tensor(params, name="params"), convert_to_tensor(indices, name="indices")
        dims = indices.get_shape().ndims
        if dims is None or not 0 < batch_dims < dims:
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank(indices) = {dims}")
        indices_shape: Any = shape(indices)
        lengths = unstack(indices_shape, num=dims)
        columns = []
        for axis in range(batch_dims):
            column = reshape(range_(lengths[axis]), [-1 if i == axis else 1 for i in range(dims)])
            columns.append(broadcast_to(cast(column, indices.dtype.base_dtype), stack([*lengths[:-1], 1])))
        result: Tensor = gather_nd_op(params, concat([*columns, indices], -1), name=scope)
        return result


scatter_nd_op = define_op(
    "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> (output: T) {T: type; Tindices: type in [int32,int64]}"
)


def _check_updates(indices: TensorShape, updates: TensorShape, target: TensorShape) -> None:
    chosen, dims = indices.known_dims, target.known_dims
    if not chosen or chosen[-1] is None:
        return
    sizes = (*chosen, *(updates.known_dims or [0]))
    if dims is not None and 0 in dims and 0 not in sizes and None not in sizes:
        raise ValueError("Indices and updates specified for empty output shape")
    depth, batch = chosen[-1], len(chosen) - 1
    if not updates[:batch].is_compatible_with(chosen[:-1]):
        raise ValueError(
            f"The outer {batch} dimensions of indices.shape={dims_text(chosen)} must match the outer {batch} dimensions of "
            f"updates.shape={dims_text(updates.as_list())}"
        )
    if dims is None:
        return
    if depth > len(dims):
        raise ValueError(
            f"The last dimension of indices {dims_text(chosen)} must be at most the rank of shape {dims_text(dims)}"
        )
    expected, inner = TensorShape([*chosen[:-1], *dims[depth:]]), len(dims) - depth
    if not updates.is_compatible_with(expected):
        raise ValueError(
            f"The inner {inner} dimensions of output.shape={dims_text(dims)} must match the inner {inner} dimensions of "
            f"updates.shape={dims_text(updates.as_list())}: need {dims_text(expected.as_list())}"
        )


@scatter_nd_op.shape
def _(indices: InputShape, updates: InputShape, shape: InputShape) -> TensorShape:
    with_rank_at_least(indices, 1)
    with_rank_at_least(updates, 1)
    target = shape.value_as_shape
    _check_updates(indices, updates, target)
    return target


def _check_updates_at_run(indices: Array, updates: Array, dims: Sequence[int]) -> None:
    for dim in dims:
        if dim < 0:
            raise ValueError(f"Dimension {dim} must be >= 0")
    if np.ndim(indices) < 1:
        raise ValueError("Indices shape must have rank at least one. Found: []")
    if indices.size and np.size(updates) and 0 in dims:
        raise ValueError(f"Indices and updates specified for empty output.  indices shape: {dims_text(indices.shape)}")
    expected = (*indices.shape[:-1], *dims[indices.shape[-1] :])
    if np.shape(updates) != expected:
        raise ValueError(
            f"Must have updates.shape = indices.shape[:-1] + shape[indices.shape[-1]:], got updates.shape: "
            f"{dims_text(np.shape(updates))}, indices.shape: {dims_text(indices.shape)}, shape: {dims_text(dims)}"
        )


def _scatter(apply: Callable[[Array, Any, Array], None], target: Array, indices: Array, updates: Any) -> None:
    """Change what `indices` name in `target`; with coordinates of no dimension, each update is about all of it."""
    if indices.shape[-1]:
        apply(target, coordinates(indices, target.shape, ""), updates)
        return
    for update in np.reshape(updates, (math.prod(indices.shape[:-1]), *target.shape)):
        apply(target, ..., update)


@scatter_nd_op.kernel("CPU")
def _(ctx: Any, indices: Array, updates: Array, shape: Array) -> Array:
    dims = tuple(shape.tolist())
    _check_updates_at_run(indices, updates, dims)
    updates = np.asarray(updates)
    # Strings start as empty ones, and adding joins them.
    result = np.full(dims, b"", object) if updates.dtype == object else np.zeros(dims, updates.dtype)
    _scatter(np.add.at, result, indices, updates)
    return result


@scatter_nd_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [None, gather_nd(grad, op.inputs[0]), None]


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Tensor:
    """Zeros (or "") of a shape, with `updates` added at the coordinates in the last axis of `indices`. `tf.scatter_nd`."""
    result: Tensor = scatter_nd_op(indices, updates, shape, name=name)
    return result
