"""`tf.repeat`, `tf.batch_gather` and `tf.unravel_index`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims, rank, reshape, shape
from tfexp.ops.array_fill import broadcast_to, ones, zeros
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import boolean_mask, sequence_mask
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast_op
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.reduce import reduce_max, reduce_prod, reduce_sum
from tfexp.ops.shape_rules import with_rank

unravel_index_op = define_op(
    "UnravelIndex(indices: Tidx, dims: Tidx) -> (output: Tidx) {Tidx: type in [int32,int64] = int32}"
)


@unravel_index_op.shape
def _(indices: InputShape, dims: InputShape) -> TensorShape:
    axes = with_rank(dims, 1).as_list()
    known = indices.known_dims
    if known is None:
        return TensorShape(None)
    if not known:
        return TensorShape(axes)
    return TensorShape([*axes, indices.num_elements()])


@unravel_index_op.kernel("CPU")
def _(ctx: Any, indices: Array, dims: Array) -> Array:
    if np.ndim(indices) > 1:
        shown = str(indices.shape).replace(" ", "").strip("()")
        raise InvalidArgumentError(None, None, f'The indices can only be scalar or vector, got "[{shown}]"')
    if np.ndim(dims) != 1:
        raise InvalidArgumentError(None, None, f"The indices can only be 1-D, got {dims_text(np.shape(dims))}")
    if (dims == 0).any():
        where = int(np.argmax(dims == 0))
        raise InvalidArgumentError(
            None, None, f"Input dims cannot contain a dim of zero, but dims contains zero at index {where}"
        )
    if (indices >= np.prod(dims, dtype=np.int64)).any() or (indices < 0).any():
        raise InvalidArgumentError(None, None, "index is out of bound as with dims")
    return np.stack(np.unravel_index(indices, tuple(dims.tolist()))).astype(indices.dtype)


def unravel_index(indices: Any, dims: Any, name: str | None = None) -> Tensor:
    """The coordinates of flat indices in an array of shape `dims`: [rank, n], or [rank] for a scalar. `tf.unravel_index`."""
    result: Tensor = unravel_index_op(indices, dims, name=name)
    return result


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Tensor:
    """params[i, ..., indices[i, ..., j]]: leading dimensions in step, chosen along the indices' last. `tf.batch_gather`.

    ValueError where the rank of the indices is not known.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        count = indices.shape.ndims
        if count is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        dtype = indices.dtype.base_dtype
        indices_shape, params_shape = shape(indices), shape(params)
        stride: Any = ones((), dtype)
        dims: Any = cast_op(params_shape, DstT=dtype)
        flat: Any = indices
        for axis in range(count - 1, 0, -1):
            length = dims[axis - 1]
            stride = stride * dims[axis]
            offsets = range_(zeros((), dtype), length, ones((), dtype), name="Range") * stride  # type: ignore[operator]
            flat = flat + reshape(offsets, stack([*[1] * (axis - 1), length, *[1] * (count - axis)]))
        flat = reshape(flat, [-1])
        inner: Any = params_shape[count:]  # type: ignore[index]
        rows = reshape(params, concat([[reduce_prod(params_shape[:count], [0])], inner], axis=0))  # type: ignore[index]
        result = reshape(gather(rows, flat), concat([indices_shape, inner], axis=0))
        known, chosen = params.shape.known_dims, indices.shape.known_dims
        if known is not None and chosen is not None:
            batch = [own if d is None else d for d, own in zip(chosen[:-1], known, strict=False)]
            result.set_shape([*batch, *chosen[-1:], *known[count:]])
        return result


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Tensor:
    """Each element along `axis` (of the flattened input if None) as many times as `repeats` says: one number, or one each.

    ValueError for repeats of a higher rank or of another length. Source: `tf.repeat`, as `np.repeat`.
    """
    if axis is None:
        input, axis = reshape(input, [-1]), 0
    with name_scope(name, "Repeat", [input, repeats]):
        data = convert_to_tensor(input, name="data")
        times: Any = cast_op(convert_to_tensor(repeats, name="repeats"), DstT=dtypes.int32)
        times.shape.with_rank_at_most(1)
        data = _with_rank_at_least(data, axis + 1 if axis >= 0 else -axis)
        data_shape: Any = shape(data)
        ndims = data.shape.ndims
        if ndims is not None and not -ndims <= axis < ndims:
            raise ValueError(f"axis={axis} out of bounds: expected {-ndims}<=axis<{ndims}")
        if axis < 0 and ndims is None:
            raise ValueError("axis must be non-negative where the rank of the input is not known")
        axis = axis % ndims if ndims is not None else axis
        if times.shape.num_elements() == 1:
            times = reshape(times, [])
            tiled = _tiled(expand_dims(data, axis + 1), times, axis + 1)
            before = data_shape[:axis]
            return reshape(tiled, concat([before, [times * data_shape[axis]], data_shape[axis + 1 :]], axis=0))
        if times.shape.ndims == 1:
            data.shape.dims and data.shape[axis].assert_is_compatible_with(times.shape[0])  # type: ignore[index]
        times = wide = broadcast_to(times, [data_shape[axis]])
        if axis:
            own = shape(times)
            wide = broadcast_to(times, concat([data_shape[: axis + 1 - rank(times)], own], axis=0))  # type: ignore[operator]
            wide.set_shape([None] * (axis + 1))
        most = reduce_max(wide)
        most = maximum(convert_to_tensor(0, dtype=times.dtype, name="zero"), most)
        mask = sequence_mask(wide, most)
        tiled = _tiled(expand_dims(data, axis + 1), most, axis + 1)
        result = boolean_mask(tiled, mask)
        if axis:
            size = reduce_sum(times, range_(0, rank(times), name="Range"))
            result = reshape(result, concat([data_shape[:axis], [size], data_shape[axis + 1 :]], axis=0))
        return result


def _with_rank_at_least(data: Tensor, wanted: int) -> Tensor:
    """A scalar as a vector; and `data` with axes of length 1 in front where only the run knows that it has too few."""
    if data.shape.ndims is not None:
        return data if data.shape.ndims else stack([data])
    sizes, ndims = shape(data), rank(data)
    dims: Any = concat([[1] * wanted, sizes], axis=0)
    return reshape(data, dims[-ndims:])  # type: ignore[operator]


def _tiled(data: Tensor, times: Any, axis: int) -> Tensor:
    ndims = data.shape.ndims
    if ndims is not None:
        return tile(data, [*[1] * axis, times, *[1] * (ndims - axis - 1)])
    around: Any = ones(rank(data), times.dtype)
    return tile(data, concat([around[:axis], [times], around[axis + 1 :]], axis=0))
