"""Images seen through projective transforms, and the two forms in which such transforms are written.

A transform is eight numbers [a0, a1, a2, b0, b1, b2, c0, c1], the first of the matrix [[a0, a1, a2], [b0, b1, b2],
[c0, c1, 1]]: it takes the point (x, y) of the output to ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the input, with
k = c0 x + c1 y + 1. Source: TF 1.15 and, with `fill_mode`, TF 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, reshape, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_join import concat
from tfexp.ops.linalg import matrix_inverse
from tfexp.ops.shape_rules import required_dim, with_rank

_TYPES = "dtype: type in [uint8,int32,int64,half,bfloat16,float,double]"
_ATTRS = f"{{{_TYPES}; interpolation: string; fill_mode: string = 'CONSTANT'}}"
image_projective_transform_v2 = define_op(
    "ImageProjectiveTransformV2(images: dtype, transforms: float, output_shape: int32) -> (transformed_images: dtype) "
    f"{_ATTRS}"
)
image_projective_transform_v3 = define_op(
    "ImageProjectiveTransformV3(images: dtype, transforms: float, output_shape: int32, fill_value: float) -> "
    f"(transformed_images: dtype) {_ATTRS}"
)


def _transformed_shape(images: InputShape, output_shape: InputShape) -> TensorShape:
    batch, _, _, channels = with_rank(images, 4).as_list()
    size = with_rank(output_shape, 1)[0].value
    required_dim(size, 2)
    known = output_shape.value
    rows, columns = (None, None) if known is None else map(int, known)
    return TensorShape([batch, rows, columns, channels])


@image_projective_transform_v2.shape
def _(images: InputShape, transforms: InputShape, output_shape: InputShape) -> TensorShape:
    return _transformed_shape(images, output_shape)


@image_projective_transform_v3.shape
def _(images: InputShape, transforms: InputShape, output_shape: InputShape, fill_value: InputShape) -> TensorShape:
    with_rank(fill_value, 0)
    return _transformed_shape(images, output_shape)


def _places(transforms: Array, rows: int, columns: int) -> tuple[Array, Array, Array]:
    """(x, y) in the input of each output pixel, and whether it has such a point: [transforms, rows, columns] each."""
    a0, a1, a2, b0, b1, b2, c0, c1 = transforms.T[:, :, None, None]
    x, y = np.arange(columns, dtype=np.float32), np.arange(rows, dtype=np.float32)[:, None]
    k = c0 * x + c1 * y + np.float32(1)
    return (a0 * x + a1 * y + a2) / k, (b0 * x + b1 * y + b2) / k, k != 0


def _inside(place: Array, length: int, fill_mode: str) -> Array:
    """Coordinates beyond the image brought back into it, as `fill_mode` says; by CONSTANT they stay outside."""
    if fill_mode == "CONSTANT":
        return place
    if fill_mode == "REFLECT":  # d c b a | a b c d | d c b a
        place = np.mod(place, np.float32(2 * length))
        place = np.where(place >= length, 2 * length - place - 1, place)
    elif fill_mode == "WRAP":  # a b c d | a b c d | a b c d
        # TensorFlow counts the times around by the distance of the outer pixels.
        around = np.trunc(np.abs(place) / max(length - 1, 1))
        moved = np.where(place < 0, place + length * (around + 1), place - length * around)
        place = np.where((place < 0) | (place > length - 1), moved, place)
    return np.clip(place, 0, length - 1).astype(np.float32)


def _transformed(
    images: Array, transforms: Array, output_shape: Array, interpolation: str, fill_mode: str, fill_value: float
) -> Array:
    if images.ndim != 4:
        raise InvalidArgumentError(None, None, "Input images must have rank 4")
    batch, height, width, channels = images.shape
    if transforms.ndim != 2 or transforms.shape[1] != 8 or transforms.shape[0] not in (1, batch):
        raise InvalidArgumentError(None, None, "Input transform should be num_images x 8 or 1 x 8")
    if output_shape.shape != (2,):
        raise InvalidArgumentError(None, None, f"output shape must have two elements{list(output_shape.shape)}")
    rows, columns = map(int, output_shape)
    if rows <= 0 or columns <= 0:
        raise InvalidArgumentError(None, None, "output dimensions must be positive")
    x, y, exists = _places(transforms, rows, columns)
    x, y = _inside(x, width, fill_mode), _inside(y, height, fill_mode)
    fill = np.float32(fill_value)
    pixels = images.reshape(batch, height * width, channels)

    def read(row: Array, column: Array) -> Array:
        """[batch, rows, columns, channels] in float32: the pixels there, the fill value outside."""
        within = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        index = np.where(within, row * np.float64(width) + column, 0).astype(np.intp)
        found = np.take_along_axis(pixels, np.broadcast_to(index.reshape(len(index), -1, 1), (batch, rows * columns, 1)), 1)
        values = found.reshape(batch, rows, columns, channels)
        return np.where(within[..., None], values.astype(kind, copy=False), fill.astype(kind))

    if interpolation == "NEAREST":
        kind = images.dtype
        half_away = (
            np.copysign(np.floor(np.abs(y) + np.float32(0.5)), y),
            np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x),
        )
        result = read(*half_away)
    else:
        kind = np.dtype(np.float32)
        top, left = np.floor(y), np.floor(x)
        down, right = (y - top)[..., None], (x - left)[..., None]
        upper = (1 - right) * read(top, left) + right * read(top, left + 1)
        lower = (1 - right) * read(top + 1, left) + right * read(top + 1, left + 1)
        result = (1 - down) * upper + down * lower
    return np.where(exists[..., None], result, fill.astype(result.dtype)).astype(images.dtype, copy=False)


@image_projective_transform_v2.kernel("CPU")
def _(ctx: Any, images: Array, transforms: Array, output_shape: Array, *, interpolation: str, fill_mode: str) -> Array:
    return _transformed(images, transforms, output_shape, interpolation, fill_mode, 0.0)


@image_projective_transform_v3.kernel("CPU")
def _(
    ctx: Any,
    images: Array,
    transforms: Array,
    output_shape: Array,
    fill_value: Array,
    *,
    interpolation: str,
    fill_mode: str,
) -> Array:
    return _transformed(images, transforms, output_shape, interpolation, fill_mode, float(fill_value))


def _gradient(op: Operation, grad: Tensor, again: Op, *more: Any) -> list[Any]:
    """The gradient seen through the inverse transform: TensorFlow's answer, exact where pixels go to pixels."""
    images, transforms = op.inputs[:2]
    inverse = matrix_inverse(flat_transforms_to_matrices(transforms))
    back = again(
        grad,
        matrices_to_flat_transforms(inverse),
        shape(images)[1:3],  # type: ignore[index]
        *more,
        interpolation=op.get_attr("interpolation"),
        fill_mode=op.get_attr("fill_mode"),
    )
    return [back, *[None] * (len(op.inputs) - 1)]


@image_projective_transform_v2.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    return _gradient(op, grad, image_projective_transform_v2)


@image_projective_transform_v3.gradient
def _(op: Operation, grad: Tensor) -> list[Any]:
    return _gradient(op, grad, image_projective_transform_v3, 0.0)


def flat_transforms_to_matrices(transforms: Any, name: str | None = None) -> Any:
    """The matrices [n, 3, 3] of transforms [n, 8] or [8]. ValueError for other ranks. `tf.contrib.image`, TF 1.15."""
    with name_scope(name, "flat_transforms_to_matrices", [transforms]):
        transforms = convert_to_tensor(transforms, name="transforms")
        if transforms.get_shape().ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {transforms}")
        flat: Any = reshape(transforms, constant([-1, 8]))
        count = shape(flat)[0]  # type: ignore[index]
        return reshape(concat([flat, ones([count, 1])], axis=1), constant([-1, 3, 3]))


def matrices_to_flat_transforms(transform_matrices: Any, name: str | None = None) -> Any:
    """The transforms [n, 8] of matrices [n, 3, 3] or [3, 3], divided by their last elements. ValueError for other ranks."""
    with name_scope(name, "matrices_to_flat_transforms", [transform_matrices]):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.get_shape().ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat: Any = reshape(matrices, constant([-1, 9]))
        flat = flat / flat[:, 8:9]
        return flat[:, :8]
