"""Resizing as TensorFlow 2 does it, which TensorFlow 1.15 has in `image_ops`: methods by name, pixels at their centres."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.tensor import Tensor
from tfexp.ops import image_size
from tfexp.ops.array import shape
from tfexp.ops.cast import cast
from tfexp.ops.image_scale import scale_and_translate_op
from tfexp.ops.image_size import ResizeMethod as ResizeMethodV1
from tfexp.ops.image_size import resize_image_with_pad as resize_image_with_pad_v1

__all__ = [
    "ResizeMethod",
    "ResizeMethodV1",
    "resize_image_with_pad_v1",
    "resize_image_with_pad_v2",
    "resize_images_v2",
]


class ResizeMethod:
    """The methods of `resize_images_v2`."""

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


_AT_CENTRES: dict[str, Callable[..., Tensor]] = {
    ResizeMethod.BILINEAR: functools.partial(image_size.resize_bilinear, half_pixel_centers=True),
    ResizeMethod.NEAREST_NEIGHBOR: functools.partial(image_size.resize_nearest_neighbor, half_pixel_centers=True),
    ResizeMethod.BICUBIC: functools.partial(image_size.resize_bicubic, half_pixel_centers=True),
    ResizeMethod.AREA: image_size.resize_area,
}
# Methods that sum over a kernel; the first two only where what is made smaller is smoothed.
_KERNELS = {ResizeMethod.BILINEAR: "triangle", ResizeMethod.BICUBIC: "keyscubic"}
_ALWAYS_KERNELS = (ResizeMethod.LANCZOS3, ResizeMethod.LANCZOS5, ResizeMethod.GAUSSIAN, ResizeMethod.MITCHELLCUBIC)


def _resizer(method: Any, antialias: bool) -> Callable[[Tensor, Tensor], Tensor]:
    """From images and the new size to the images of that size."""
    kernel = method if method in _ALWAYS_KERNELS else _KERNELS.get(method) if antialias else None
    if kernel is None:
        if method not in _AT_CENTRES:
            raise ValueError(f"Resize method is not implemented: {method}")
        return _AT_CENTRES[method]

    def resize(images: Tensor, size: Tensor) -> Tensor:
        sizes = shape(images)[1:3]  # type: ignore[index]  # bound by ops.overloads
        scale = cast(size, dtypes.float32) / cast(sizes, dtypes.float32)
        nowhere = constant(0.0, shape=[2])
        result: Tensor = scale_and_translate_op(images, size, scale, nowhere, kernel_type=kernel, antialias=antialias)
        return result

    return resize


def resize_images_v2(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """An image or a batch resized to `size`; antialias: what is made smaller is smoothed before."""
    return image_size.resized(images, size, _resizer(method, antialias), preserve_aspect_ratio, name, skip_if_same=False)


def resize_image_with_pad_v2(
    image: Any, target_height: Any, target_width: Any, method: Any = ResizeMethod.BILINEAR, antialias: bool = False
) -> Tensor:
    """The image as large as fits into that size, in the middle of zeros."""

    def resize(image: Any, size: Any) -> Tensor:
        return resize_images_v2(image, size, method, antialias=antialias)

    return image_size.padded(image, target_height, target_width, resize)
