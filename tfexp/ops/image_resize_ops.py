"""Ops that resize a batch of images: ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic, ResizeArea, and their gradients.

`half_pixel_centers` puts pixel i at i + 0.5 instead of at i; `align_corners` lets the corner pixels keep their places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.memory import require_memory
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import resize_kernels
from tfexp.ops.array import Array, shape
from tfexp.ops.array_slice import strided_slice
from tfexp.ops.resize_kernels import Taps
from tfexp.ops.shape_rules import required_dim, with_rank

_TYPES = "int8,uint8,int16,uint16,int32,int64"
_ATTRS = "align_corners: bool = false; half_pixel_centers: bool = false"
resize_bilinear_op = define_op(
    f"ResizeBilinear(images: T, size: int32) -> (resized_images: float) {{T: type in "
    f"[{_TYPES},bfloat16,half,float,double,bfloat16]; {_ATTRS}}}"
)
resize_bilinear_grad_op = define_op(
    "ResizeBilinearGrad(grads: float, original_image: T) -> (output: T) "
    f"{{T: type in [float,bfloat16,half,double]; {_ATTRS}}}"
)
resize_nearest_neighbor_op = define_op(
    f"ResizeNearestNeighbor(images: T, size: int32) -> (resized_images: T) {{T: type in "
    f"[{_TYPES},half,float,double,bfloat16]; {_ATTRS}}}"
)
resize_nearest_neighbor_grad_op = define_op(
    "ResizeNearestNeighborGrad(grads: T, size: int32) -> (output: T) {T: type in "
    f"[uint8,int8,int32,half,float,double,bfloat16]; {_ATTRS}}}"
)
resize_bicubic_op = define_op(
    f"ResizeBicubic(images: T, size: int32) -> (resized_images: float) {{T: type in "
    f"[{_TYPES},half,float,double,bfloat16]; {_ATTRS}}}"
)
resize_bicubic_grad_op = define_op(
    f"ResizeBicubicGrad(grads: float, original_image: T) -> (output: T) {{T: type in [float,double]; {_ATTRS}}}"
)
resize_area_op = define_op(
    f"ResizeArea(images: T, size: int32) -> (resized_images: float) {{T: type in "
    f"[{_TYPES},half,float,double,bfloat16]; align_corners: bool = false}}"
)


# --- shapes -----------------------------------------------------------------------------------------------------------


def with_size(batch: Any, size: InputShape, channels: Any) -> TensorShape:
    """[batch, *size, channels] for an input `size` (height, width) whose value may be known."""
    dims = with_rank(size, 1).as_list()
    required_dim(dims[0], 2)
    height, width = with_rank(size.value_as_shape, 2).as_list()
    return TensorShape([batch, height, width, channels])


def _attach_resized_shape(op: Op) -> None:
    @op.shape
    def _(images: InputShape, size: InputShape) -> TensorShape:
        batch, _, _, channels = with_rank(images, 4).as_list()
        return with_size(batch, size, channels)


for _op in (
    resize_bilinear_op,
    resize_nearest_neighbor_op,
    resize_nearest_neighbor_grad_op,
    resize_bicubic_op,
    resize_area_op,
):
    _attach_resized_shape(_op)
for _op in (resize_bilinear_grad_op, resize_bicubic_grad_op):
    _op.shape(lambda grads, original_image: original_image)


# --- kernels ----------------------------------------------------------------------------------------------------------


def _checked_size(images: Array, size: Array) -> tuple[int, int]:
    if images.ndim != 4:
        raise ValueError(f"input must be 4-dimensional{dims_text(images.shape)}")
    if size.shape != (2,):
        what = "1-dimensional" if size.ndim != 1 else "two elements"
        raise ValueError(f"shape_t must {'be ' if size.ndim != 1 else 'have '}{what}{dims_text(size.shape)}")
    height, width = size.tolist()
    if height <= 0 or width <= 0:
        raise ValueError("output dimensions must be positive")
    if images.shape[1] <= 0 or images.shape[2] <= 0:
        raise ValueError("input image must be of non-zero size")
    if images.shape[3] <= 0:
        raise ValueError("image must have at least one channel")
    require_memory([images.shape[0], height, width, images.shape[3]])
    return height, width


def _check_attrs(align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise ValueError("If half_pixel_centers is True, align_corners must be False.")


def _resized(x: Array, size: Array, rule: Any, apply: Any, align_corners: bool, half_pixel_centers: bool) -> Array:
    """`x`, floats, resized along the width, then along the height, as TensorFlow rounds."""
    new = _checked_size(x, size)
    _check_attrs(align_corners, half_pixel_centers)
    if new == x.shape[1:3]:
        return x
    rows, columns = (rule(old, n, align_corners, half_pixel_centers) for old, n in zip(x.shape[1:3], new, strict=True))
    return np.asarray(apply(x, rows, columns))


def _attach_float_resize(op: Op, rule: Any, apply: Any, shares: bool = False) -> None:
    """An op that makes float32 of any type."""

    @op.kernel("CPU", shares=shares)
    def _(ctx: Any, images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Array:
        return _resized(images.astype(np.float32), size, rule, apply, align_corners, half_pixel_centers)


def _weighted(x: Array, rows: Taps, columns: Taps) -> Array:
    return resize_kernels.gather(resize_kernels.gather(x, 1, rows), 2, columns)


_attach_float_resize(resize_bilinear_op, resize_kernels.linear, resize_kernels.bilinear, shares=True)
_attach_float_resize(resize_bicubic_op, resize_kernels.cubic, _weighted)


@resize_area_op.kernel("CPU")
def _(ctx: Any, images: Array, size: Array, *, align_corners: bool) -> Array:
    height, width = _checked_size(images, size)
    rows = resize_kernels.area(images.shape[1], height, align_corners)
    columns = resize_kernels.area(images.shape[2], width, align_corners)
    return _weighted(images.astype(np.float32), rows, columns)


@resize_nearest_neighbor_op.kernel("CPU")
def _(ctx: Any, images: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Array:
    height, width = _checked_size(images, size)
    _check_attrs(align_corners, half_pixel_centers)
    rows = resize_kernels.nearest(images.shape[1], height, align_corners, half_pixel_centers)
    columns = resize_kernels.nearest(images.shape[2], width, align_corners, half_pixel_centers)
    return np.take(np.take(images, rows, 1), columns, 2)


@resize_nearest_neighbor_grad_op.kernel("CPU")
def _(ctx: Any, grads: Array, size: Array, *, align_corners: bool, half_pixel_centers: bool) -> Array:
    height, width = _checked_size(grads, size)
    _check_attrs(align_corners, half_pixel_centers)
    result = grads if grads.dtype.kind in "iu" else grads.astype(np.promote_types(grads.dtype, np.float32))
    for axis, old in ((1, height), (2, width)):
        index = resize_kernels.nearest(old, grads.shape[axis], align_corners, half_pixel_centers)
        target = np.zeros((*result.shape[:axis], old, *result.shape[axis + 1 :]), result.dtype)
        resize_kernels.add_sorted(target, result, axis, index)
        result = target
    return result.astype(grads.dtype)


def _attach_float_gradient(op: Op, rule: Any) -> None:
    @op.kernel("CPU")
    def _(
        ctx: Any, grads: Array, original_image: Array, *, T: DType, align_corners: bool, half_pixel_centers: bool
    ) -> Array:
        if grads.ndim != 4 or original_image.ndim != 4:
            wrong = grads if grads.ndim != 4 else original_image
            raise ValueError(f"input_grad and original_image must be 4-dimensional, got {dims_text(wrong.shape)}")
        if grads.shape[0] != original_image.shape[0] or grads.shape[3] != original_image.shape[3]:
            raise ValueError(
                f"the gradient's batch and channels must be those of the image, but it has {dims_text(grads.shape)} "
                f"and the image {dims_text(original_image.shape)}"
            )
        _check_attrs(align_corners, half_pixel_centers)
        wide = np.float64 if original_image.dtype == np.float64 else np.float32
        result = grads.astype(wide)
        for axis in (1, 2):
            old = original_image.shape[axis]
            taps = rule(old, grads.shape[axis], align_corners, half_pixel_centers)
            result = resize_kernels.spread(result, axis, taps, old)
        return result.astype(T.as_numpy_dtype)


_attach_float_gradient(resize_bilinear_grad_op, resize_kernels.linear)
_attach_float_gradient(resize_bicubic_grad_op, resize_kernels.cubic)


# --- gradients --------------------------------------------------------------------------------------------------------


def _attach_rule(forward: Op, grad_op: Op, *allowed: str) -> None:
    @forward.gradient
    def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
        if allowed and op.inputs[0].dtype.base_dtype.name not in allowed:
            return [None, None]
        attrs = {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}
        return [grad_op(grad, op.inputs[0], **attrs), None]


_attach_rule(resize_bilinear_op, resize_bilinear_grad_op)
_attach_rule(resize_bicubic_op, resize_bicubic_grad_op, "float32", "float64")


@resize_nearest_neighbor_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    image = op.inputs[0]
    dims = image.shape[1:3]
    size: Any = dims.as_list() if dims.is_fully_defined() else strided_slice(shape(image), [1], [3])
    attrs = {name: op.get_attr(name) for name in ("align_corners", "half_pixel_centers")}
    return [resize_nearest_neighbor_grad_op(grad, size, **attrs), None]
