"""Images scaled and moved, each new pixel a sum over a kernel: ScaleAndTranslate and its gradient. Source: TF 1.15.

Row x of the result has its centre at (x + 0.5 - translation) / scale of the image; what lies outside of the image is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.memory import require_memory
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.image_resize_ops import with_size
from tfexp.ops.shape_rules import with_rank

_ATTRS = "kernel_type: string = 'lanczos3'; antialias: bool = true"
scale_and_translate_op = define_op(
    "ScaleAndTranslate(images: T, size: int32, scale: float, translation: float) -> (resized_images: float) "
    f"{{T: type in [int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,double]; {_ATTRS}}}"
)
scale_and_translate_grad_op = define_op(
    "ScaleAndTranslateGrad(grads: T, original_image: T, scale: float, translation: float) -> (output: T) "
    f"{{T: type in [float]; {_ATTRS}}}"
)


# --- kernels: weights by distance ---------------------------------------------------------------------------------------


def _lanczos(radius: float) -> Callable[[Array], Array]:
    return lambda x: np.where(x <= radius, np.sinc(x) * np.sinc(x / radius), 0)


def _gaussian(x: Array) -> Array:
    return np.where(x < 1.5, np.exp(-2 * x * x), 0)  # its radius is three standard deviations


def _cubic(b: float, c: float) -> Callable[[Array], Array]:
    """Mitchell and Netravali's family, "Reconstruction filters in computer graphics" (1988)."""
    near = (6 - 2 * b, 0.0, -18 + 12 * b + 6 * c, 12 - 9 * b - 6 * c)
    far = (8 * b + 24 * c, -12 * b - 48 * c, 6 * b + 30 * c, -b - 6 * c)

    def weight(x: Array) -> Array:
        inner, outer = (np.polynomial.polynomial.polyval(x, coefficients) / 6 for coefficients in (near, far))
        return np.where(x < 1, inner, np.where(x < 2, outer, 0))

    return weight


_TABLES = 8  # of float32, that weights go through
# kernel_type -> (radius, weight by distance)
_KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, _cubic(0.0, 0.5)),
    "mitchellcubic": (2.0, _cubic(1 / 3, 1 / 3)),
}


def _weights(old: int, new: int, scale: float, translation: float, kernel_type: str, antialias: bool) -> Array:
    """[new, old]: what each old pixel gives to each new one."""
    require_memory([_TABLES, new, old])
    if kernel_type not in _KERNELS:
        raise InvalidArgumentError(None, None, f"Unrecognized kernel type: {kernel_type}; there are {', '.join(_KERNELS)}")
    radius, weight = _KERNELS[kernel_type]
    # In TensorFlow's precision: whether a pixel on the rim of the kernel counts is decided by its last bit.
    half, step = np.float32(0.5), np.float32(1 / scale)
    stretch = max(step, np.float32(1)) if antialias else np.float32(1)
    centres = (np.arange(new, dtype=np.float32) + half) * step - step * np.float32(translation)
    reach = np.float32(radius) * stretch
    first = np.maximum(np.ceil(centres - reach - half), 0)
    last = np.minimum(np.floor(centres + reach - half), old - 1)
    # Of a kernel that lies between two pixels the nearest one is taken.
    last = np.maximum(first, last)
    pixels = np.arange(old, dtype=np.float32)
    reached = (pixels >= first[:, None]) & (pixels <= last[:, None])
    found = np.where(reached, weight(np.abs(pixels + half - centres[:, None]) * (1 / stretch)), 0)
    total = found.sum(1, keepdims=True)
    is_enough = np.abs(total) >= 1000 * np.finfo(np.float32).tiny
    found = np.where(is_enough, found / np.where(is_enough, total, 1), 0)
    outside = (centres < 0) | (centres > old)
    return np.where(outside[:, None], 0, found).astype(np.float32)


def _both(images: Array, size: Any, scale: Array, translation: Array, kernel_type: str, antialias: bool) -> list[Array]:
    for name, value in (("scale", scale), ("translation", translation)):
        if value.shape != (2,):
            raise InvalidArgumentError(None, None, f"{name} must have two elements, got shape {list(value.shape)}")
    if not (scale > 0).all():
        raise InvalidArgumentError(None, None, f"scale must be greater than zero, got {scale.tolist()}")
    along = zip(images.shape[1:3], size, scale.tolist(), translation.tolist(), strict=True)
    return [_weights(old, int(new), factor, offset, kernel_type, antialias) for old, new, factor, offset in along]


@scale_and_translate_op.shape
def _(images: InputShape, size: InputShape, scale: InputShape, translation: InputShape) -> TensorShape:
    dims = with_rank(images, 4).as_list()
    with_rank(scale, 1)
    with_rank(translation, 1)
    return with_size(dims[0], size, dims[3])


@scale_and_translate_op.kernel("CPU")
def _(ctx: Any, images: Array, size: Array, scale: Array, translation: Array, *, kernel_type: str, antialias: bool) -> Array:
    if images.ndim != 4:
        raise InvalidArgumentError(None, None, f"input must be 4-dimensional, got shape {list(images.shape)}")
    if size.shape != (2,) or (size <= 0).any():
        raise InvalidArgumentError(None, None, f"output dimensions must be positive, got {size.tolist()}")
    batch, _, _, channels = images.shape
    require_memory([batch, *size.tolist(), channels])
    rows, columns = _both(images, size, scale, translation, kernel_type, antialias)
    return np.einsum("yh,bhwc,xw->byxc", rows, images.astype(np.float32), columns, optimize=True)


@scale_and_translate_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    attrs = {name: op.get_attr(name) for name in ("kernel_type", "antialias")}
    attrs["kernel_type"] = attrs["kernel_type"].decode()
    return [scale_and_translate_grad_op(grad, op.inputs[0], op.inputs[2], op.inputs[3], **attrs), None, None, None]


@scale_and_translate_grad_op.shape
def _(grads: InputShape, original_image: InputShape, scale: InputShape, translation: InputShape) -> TensorShape:
    return TensorShape(original_image)


@scale_and_translate_grad_op.kernel("CPU")
def _(
    ctx: Any, grads: Array, original_image: Array, scale: Array, translation: Array, *, kernel_type: str, antialias: bool
) -> Array:
    fits = original_image.ndim == grads.ndim == 4 and original_image.shape[0] == grads.shape[0]
    if not fits or original_image.shape[3] != grads.shape[3]:
        raise InvalidArgumentError(
            None, None, f"A gradient of shape {list(grads.shape)} is none of an image of shape {list(original_image.shape)}"
        )
    rows, columns = _both(original_image, grads.shape[1:3], scale, translation, kernel_type, antialias)
    return np.einsum("yh,byxc,xw->bhwc", rows, grads, columns, optimize=True).astype(original_image.dtype)
