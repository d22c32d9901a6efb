"""CropAndResize, its gradients, and ExtractGlimpse: parts of images at places that need not be pixels.

A box is (y1, x1, y2, x2) in parts of the image, 0 the first pixel and 1 the last; y1 > y2 turns the part over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import OutOfRangeError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.core.text import as_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, shape
from tfexp.ops.image_resize_ops import with_size
from tfexp.ops.shape_rules import merged_dims, required_dim, with_rank

_ANY = "T: type in [uint8,uint16,int8,int16,int32,int64,half,float,double]"
_METHOD = "method: string in ['bilinear','nearest'] = 'bilinear'"
crop_and_resize_op = define_op(
    f"CropAndResize(image: T, boxes: float, box_ind: int32, crop_size: int32) -> (crops: float) {{{_ANY}; {_METHOD}; "
    "extrapolation_value: float = 0.0}"
)
crop_and_resize_grad_image_op = define_op(
    "CropAndResizeGradImage(grads: float, boxes: float, box_ind: int32, image_size: int32) -> (output: T) "
    f"{{T: type in [float,half,double]; {_METHOD}}}"
)
crop_and_resize_grad_boxes_op = define_op(
    f"CropAndResizeGradBoxes(grads: float, image: T, boxes: float, box_ind: int32) -> (output: float) {{{_ANY}; "
    "method: string in ['bilinear'] = 'bilinear'}"
)
_GLIMPSE = (
    "(input: float, size: int32, offsets: float) -> (glimpse: float) {centered: bool = true; normalized: bool = true; "
    "uniform_noise: bool = true; noise: string = 'uniform'}"
)
extract_glimpse_op = define_op(f"ExtractGlimpse{_GLIMPSE}").not_differentiable()


# --- shapes -----------------------------------------------------------------------------------------------------------


def _check_boxes_shape(boxes: InputShape, box_ind: InputShape) -> int | None:
    count, four = with_rank(boxes, 2).as_list()
    count = merged_dims(count, with_rank(box_ind, 1).as_list()[0])
    required_dim(four, 4)
    return count


@crop_and_resize_op.shape
def _(image: InputShape, boxes: InputShape, box_ind: InputShape, crop_size: InputShape) -> TensorShape:
    depth = with_rank(image, 4).as_list()[3]
    return with_size(_check_boxes_shape(boxes, box_ind), crop_size, depth)


@crop_and_resize_grad_image_op.shape
def _(grads: InputShape, boxes: InputShape, box_ind: InputShape, image_size: InputShape) -> TensorShape:
    return with_rank(image_size.value_as_shape, 4)


@crop_and_resize_grad_boxes_op.shape
def _(grads: InputShape, image: InputShape, boxes: InputShape, box_ind: InputShape) -> TensorShape:
    with_rank(boxes, 2)
    return boxes


@extract_glimpse_op.shape
def _(input: InputShape, size: InputShape, offsets: InputShape) -> TensorShape:
    batch, _, _, depth = with_rank(input, 4).as_list()
    rows, two = with_rank(offsets, 2).as_list()
    required_dim(two, 2)
    return with_size(merged_dims(batch, rows), size, depth)


# --- kernels ----------------------------------------------------------------------------------------------------------


class _Places(NamedTuple):
    """Where the pixels of each crop lie along an axis, [boxes, pixels]."""

    at: Array  # float32
    inside: Array
    low: Array  # the neighbours, clipped to the image
    high: Array
    share: Array  # of the upper one

    @property
    def nearest(self) -> Array:
        return np.where(self.at - np.floor(self.at) < 0.5, self.low, self.high)


def _places(start: Array, end: Array, old: int, new: int) -> _Places:
    last = np.float32(old - 1)
    if new > 1:
        step = (end - start) * last / np.float32(new - 1)
        at = (start * last)[:, None] + np.arange(new, dtype=np.float32) * step[:, None]
    else:
        at = (np.float32(0.5) * (start + end) * last)[:, None]
    inside = (at >= 0) & (at <= last)
    kept = np.where(inside, at, 0)
    low, high = np.floor(kept).astype(np.intp), np.ceil(kept).astype(np.intp)
    return _Places(at, inside, low, high, (kept - low).astype(np.float32))


def _check_boxes(boxes: Array, box_ind: Array, batch: int) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"boxes must have 4 columns, got shape {dims_text(boxes.shape)}")
    if box_ind.shape != boxes.shape[:1]:
        raise ValueError(f"box_index has incompatible shape: {dims_text(box_ind.shape)} for boxes {dims_text(boxes.shape)}")
    if box_ind.size and not ((box_ind >= 0) & (box_ind < batch)).all():
        raise OutOfRangeError(None, None, f"box_index has values outside [0, batch_size): batch_size is {batch}")


def _laid(boxes: Array, height: int, width: int, rows: int, columns: int) -> tuple[_Places, _Places]:
    return _places(boxes[:, 0], boxes[:, 2], height, rows), _places(boxes[:, 1], boxes[:, 3], width, columns)


@crop_and_resize_op.kernel("CPU")
def _(
    ctx: Any, image: Array, boxes: Array, box_ind: Array, crop_size: Array, *, method: Any, extrapolation_value: float
) -> Array:
    if image.ndim != 4:
        raise ValueError(f"input image must be 4-D, got shape {dims_text(image.shape)}")
    if crop_size.shape != (2,):
        raise ValueError(f"crop_size must have two elements, got shape {dims_text(crop_size.shape)}")
    _check_boxes(boxes, box_ind, image.shape[0])
    rows, columns = crop_size.tolist()
    if rows <= 0 or columns <= 0:
        raise ValueError("crop dimensions must be positive")
    if not (image.shape[1] and image.shape[2]):
        raise ValueError("image dimensions must be positive")
    y, x = _laid(boxes, image.shape[1], image.shape[2], rows, columns)
    of = box_ind[:, None, None]
    if method in (b"nearest", "nearest"):
        result = image[of, y.nearest[:, :, None], x.nearest[:, None, :]].astype(np.float32)
    else:
        top, bottom = (_between(image, of, edge, x) for edge in (y.low, y.high))
        result = top + (bottom - top) * y.share[:, :, None, None]
    result[~(y.inside[:, :, None] & x.inside[:, None, :])] = extrapolation_value
    return result


def _between(image: Array, of: Array, row: Array, x: _Places) -> Array:
    left = image[of, row[:, :, None], x.low[:, None, :]].astype(np.float32)
    right = image[of, row[:, :, None], x.high[:, None, :]].astype(np.float32)
    between: Array = left + (right - left) * x.share[:, None, :, None]
    return between


@crop_and_resize_grad_image_op.kernel("CPU")
def _(ctx: Any, grads: Array, boxes: Array, box_ind: Array, image_size: Array, *, T: DType, method: Any) -> Array:
    if grads.ndim != 4:
        raise ValueError(f"grads image must be 4-D, got shape {dims_text(grads.shape)}")
    if image_size.shape != (4,):
        raise ValueError(f"image_size must have 4 elements, got shape {dims_text(image_size.shape)}")
    if not (grads.shape[1] and grads.shape[2]):
        raise ValueError("grads dimensions must be positive")
    batch, height, width, depth = image_size.tolist()
    _check_boxes(boxes, box_ind, batch)
    if grads.shape[0] != boxes.shape[0] or grads.shape[3] != depth:
        raise ValueError(f"image_size and grads are incompatible: {image_size.tolist()} and {dims_text(grads.shape)}")
    y, x = _laid(boxes, height, width, grads.shape[1], grads.shape[2])
    inside = y.inside[:, :, None] & x.inside[:, None, :]
    flat = np.zeros((batch * height * width, depth), np.float64 if T.as_numpy_dtype == np.float64 else np.float32)
    first = box_ind[:, None, None].astype(np.intp) * height

    def add(row: Array, column: Array, weight: Any) -> None:
        place = (first + row[:, :, None]) * width + column[:, None, :]
        np.add.at(flat, place[inside], (grads * weight)[inside])

    if method in (b"nearest", "nearest"):
        add(y.nearest, x.nearest, np.float32(1))
    else:
        down, right = y.share[:, :, None, None], x.share[:, None, :, None]
        for row, of_row in ((y.low, 1 - down), (y.high, down)):
            for column, of_column in ((x.low, 1 - right), (x.high, right)):
                add(row, column, of_row * of_column)
    return flat.reshape(batch, height, width, depth).astype(T.as_numpy_dtype)


@crop_and_resize_grad_boxes_op.kernel("CPU")
def _(ctx: Any, grads: Array, image: Array, boxes: Array, box_ind: Array) -> Array:
    if grads.ndim != 4 or image.ndim != 4:
        raise ValueError(f"grads and image must be 4-D, got shapes {dims_text(grads.shape)} and {dims_text(image.shape)}")
    _check_boxes(boxes, box_ind, image.shape[0])
    if grads.shape[0] != boxes.shape[0] or grads.shape[3] != image.shape[3]:
        raise ValueError(f"image and grads are incompatible: {dims_text(image.shape)} and {dims_text(grads.shape)}")
    _, rows, columns, _ = grads.shape
    y, x = _laid(boxes, image.shape[1], image.shape[2], rows, columns)
    of = box_ind[:, None, None]
    corner = {
        (i, j): image[of, row[:, :, None], column[:, None, :]].astype(np.float32)
        for i, row in enumerate((y.low, y.high))
        for j, column in enumerate((x.low, x.high))
    }
    down, right = y.share[:, :, None, None], x.share[:, None, :, None]
    inside = (y.inside[:, :, None] & x.inside[:, None, :])[..., None]
    seen = np.where(inside, grads, 0)
    by_y = ((corner[1, 0] - corner[0, 0]) * (1 - right) + (corner[1, 1] - corner[0, 1]) * right) * seen
    by_x = ((corner[0, 1] - corner[0, 0]) * (1 - down) + (corner[1, 1] - corner[1, 0]) * down) * seen
    result = np.empty(boxes.shape, np.float32)
    for axis, (by, old, new) in enumerate(((by_y, image.shape[1], rows), (by_x, image.shape[2], columns))):
        along = by.sum(3).sum(2 - axis)
        # A place is start + i * (end - start) / (new - 1), in pixels; of one pixel the middle.
        share = np.arange(new, dtype=np.float32) / np.float32(new - 1) if new > 1 else np.array([0.5], np.float32)
        result[:, axis] = (along * (1 - share)).sum(1) * np.float32(old - 1)
        result[:, axis + 2] = (along * share).sum(1) * np.float32(old - 1)
    return result


@extract_glimpse_op.kernel("CPU")
def _(
    ctx: Any, input: Array, size: Array, offsets: Array, *, centered: bool, normalized: bool, uniform_noise: bool, noise: Any
) -> Array:
    if input.ndim != 4:
        raise ValueError(f"input must be 4-dimensional (batch_size, height, width, depth){dims_text(input.shape)}")
    if size.shape != (2,):
        raise ValueError(f"input must be a vector of size 2 (height, width){dims_text(size.shape)}")
    if offsets.shape != (input.shape[0], 2):
        raise ValueError(f"offsets should be of shape [batch_size, 2], got {dims_text(offsets.shape)}")
    rows, columns = size.tolist()
    if rows <= 0 or columns <= 0:
        raise ValueError(f"glimpse dimensions must be positive, got {[rows, columns]}")
    batch, height, width, _ = input.shape
    y: Array = offsets[:, 0].astype(np.float32)
    x: Array = offsets[:, 1].astype(np.float32)
    if normalized:
        y, x = y * np.float32(height), x * np.float32(width)
    if centered:
        y, x = (y + np.float32(height)) / 2, (x + np.float32(width)) / 2
    y, x = y - np.float32(rows) / 2, x - np.float32(columns) / 2
    at_y = y.astype(np.int64)[:, None] + np.arange(rows)
    at_x = x.astype(np.int64)[:, None] + np.arange(columns)
    inside = ((at_y >= 0) & (at_y < height))[:, :, None] & ((at_x >= 0) & (at_x < width))[:, None, :]
    numbers = np.arange(batch)[:, None, None]
    result = input[numbers, np.clip(at_y, 0, height - 1)[:, :, None], np.clip(at_x, 0, width - 1)[:, None, :]]
    result[~inside] = _noise(input, int((~inside).sum()), uniform_noise, noise)
    return result


def _noise(input: Array, count: int, uniform: bool, noise: Any) -> Array:
    """What a glimpse shows outside of the image; TensorFlow does not seed it either."""
    kind = as_text(noise)
    shape = (count, input.shape[3])
    random = np.random.default_rng()
    if kind == "zero":
        return np.zeros(shape, np.float32)
    if uniform and kind == "uniform":
        return random.uniform(0, 1, shape).astype(np.float32)
    if kind in ("gaussian", "uniform"):
        return random.normal(0, 1, shape).astype(np.float32)
    raise ValueError(f"Unknown noise type {kind!r}: it is one of uniform, gaussian, zero")


# --- gradients --------------------------------------------------------------------------------------------------------


@crop_and_resize_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image, boxes, box_ind, _ = op.inputs
    size: Any = image.shape.as_list() if image.shape.is_fully_defined() else shape(image)
    for_image = None
    if image.dtype.base_dtype.is_floating:
        for_image = crop_and_resize_grad_image_op(
            grad, boxes, box_ind, size, T=image.dtype.base_dtype, method=op.get_attr("method")
        )
    return [for_image, crop_and_resize_grad_boxes_op(grad, image, boxes, box_ind), None, None]
