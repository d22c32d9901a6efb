"""`tf.batch_gather`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import ones, zeros
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat, stack
from tfexp.ops.cast import cast_op
from tfexp.ops.reduce import reduce_prod


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
