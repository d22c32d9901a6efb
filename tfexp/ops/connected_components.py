"""Areas of images whose pixels are equal and touch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import invalid
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, expand_dims, reshape, shape, squeeze
from tfexp.ops.array_gather import gather
from tfexp.ops.array_unique import unique
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal
from tfexp.ops.cumulative import cumsum
from tfexp.ops.shape_rules import with_rank

image_connected_components_op = define_op(
    "ImageConnectedComponents(image: dtype) -> (components: int64)"
    " {dtype: type in [int64, int32, uint16, int16, uint8, int8, half, float, double, bool, string]}"
)


@image_connected_components_op.shape
def _(image: InputShape) -> TensorShape:
    return with_rank(image, 3)


@image_connected_components_op.kernel("CPU")
def _(ctx: Any, image: Array) -> Array:
    """1 + the first pixel of each area in the order of memory; an area goes on across edges, not across images."""
    if image.ndim != 3:
        raise invalid(f"Input image must have rank 3, but has shape {dims_text(image.shape)}")
    nothing = b"" if image.dtype == object else image.dtype.type(0)
    pixels = np.arange(image.size).reshape(image.shape)
    filled = image != nothing
    across = (image[:, :, 1:] == image[:, :, :-1]) & filled[:, :, 1:]
    down = (image[:, 1:] == image[:, :-1]) & filled[:, 1:]
    one = np.concatenate([pixels[:, :, 1:][across], pixels[:, 1:][down]])
    other = np.concatenate([pixels[:, :, :-1][across], pixels[:, :-1][down]])
    first = pixels.ravel().copy()
    while (apart := first[one] != first[other]).any():
        one, other = one[apart], other[apart]
        low, high = np.minimum(first[one], first[other]), np.maximum(first[one], first[other])
        np.minimum.at(first, high, low)
        while not np.array_equal(further := first[first], first):
            first = further
    return np.where(filled, first.reshape(image.shape) + 1, 0)


def connected_components(images: Any) -> Tensor:
    """int32 [rows, columns] or [batch, rows, columns], as `images`: 0 where a pixel is 0 (False, an empty text), else the
    number of its area, from 1 on through the whole batch: pixels of one value that touch across an edge.

    TypeError for another rank. Source: `tf.contrib.image.connected_components`.
    """
    with name_scope("connected_components"):
        images = convert_to_tensor(images, name="images")
        rank = images.get_shape().ndims
        if rank is None:
            raise ValueError("the rank of images must be known")
        if rank not in (2, 3):
            raise TypeError(f"images should have rank 2 (HW) or 3 (NHW). Static shape is {images.get_shape()}")
        found = image_connected_components_op(expand_dims(images, 0) if rank == 2 else images)
        areas, place = unique(reshape(found, [-1]))
        filled = cast(not_equal(areas, 0), dtypes.int32)
        numbers = reshape(gather(cumsum(filled) * filled, place), shape(found))  # type: ignore[operator]
        return squeeze(numbers, [0]) if rank == 2 else numbers
