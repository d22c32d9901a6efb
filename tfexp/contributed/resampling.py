"""`tf.contrib.resampler`: images read at any points. Source: TF 1.15; Jaderberg et al., Spatial Transformer Networks."""

from __future__ import annotations

import itertools
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather_nd
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import greater_equal, less
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.logical import logical_and


def resampler(data: Any, warp: Any, name: str = "resampler") -> Tensor:
    """[batch, …, channels]: `data` [batch, rows, columns, channels] at the points (x, y) of `warp` [batch, …, 2].

    Between pixels bilinear; what is outside is zero. Differentiable in both. ValueError for data of another rank, and points
    of other than two coordinates.
    """
    with name_scope(name, "resampler", [data, warp]):
        data = convert_to_tensor(data, name="data")
        warp = convert_to_tensor(warp, name="warp")
        if data.get_shape().ndims not in (4, None):
            raise ValueError(f"data must be [batch, rows, columns, channels], but its shape is {data.get_shape()}")
        if warp.get_shape().ndims is not None and warp.get_shape()[-1].value not in (2, None):
            raise ValueError(f"warp must be [batch, …, 2], but its shape is {warp.get_shape()}")
        extents, points = shape(data), shape(warp)
        batch, rows, columns, channels = (extents[i] for i in range(4))  # type: ignore[index]
        flat: Any = reshape(warp, stack([batch, -1, 2]))
        x, y = flat[:, :, 0], flat[:, :, 1]
        left, top = floor(x), floor(y)
        images = tile(expand_dims(range_(batch), 1), stack([1, shape(x)[1]]))  # type: ignore[index]
        total: Any = 0
        for down, right in itertools.product((0, 1), repeat=2):
            row, column = cast(top, dtypes.int32) + down, cast(left, dtypes.int32) + right  # type: ignore[operator]
            inside = logical_and(_within(row, rows), _within(column, columns))
            places = stack([images, clip_by_value(row, 0, rows - 1), clip_by_value(column, 0, columns - 1)], axis=2)  # type: ignore[operator]
            across = x - left if right else 1 - (x - left)
            upright = y - top if down else 1 - (y - top)
            weight = cast(across * upright, data.dtype) * cast(inside, data.dtype)  # type: ignore[operator]
            total = total + expand_dims(weight, 2) * gather_nd(data, places)
        result = reshape(total, concat([points[:-1], stack([channels])], 0))  # type: ignore[index]
        if warp.get_shape().ndims is not None:
            result.set_shape(warp.get_shape()[:-1].concatenate(data.get_shape()[-1:]))
        return result


def _within(place: Any, size: Any) -> Any:
    return logical_and(greater_equal(place, 0), less(place, size))
