"""Projective transforms of images. Source: `tf.contrib.image`, TF 1.15."""

from __future__ import annotations

import functools
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones, zeros
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_trig import cos, sin
from tfexp.ops.image_transform import (
    flat_transforms_to_matrices,
    image_projective_transform_v2,
    matrices_to_flat_transforms,
)
from tfexp.ops.matmul import matmul

_DTYPES = (
    dtypes.uint8,
    dtypes.int32,
    dtypes.int64,
    dtypes.float16,
    dtypes.float32,
    dtypes.float64,
)


def _as_batch(image_or_images: Any) -> tuple[Any, Any]:
    """(images as [batch, rows, columns, channels], what makes them like those given). TypeError for what is no image."""
    if image_or_images.dtype.base_dtype not in _DTYPES:
        raise TypeError(f"Invalid dtype {image_or_images.dtype}.")
    rank = image_or_images.get_shape().ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank == 2:
        return image_or_images[None, :, :, None], lambda images: images[0, :, :, 0]
    if rank == 3:
        return image_or_images[None, :, :, :], lambda images: images[0, :, :, :]
    if rank == 4:
        return image_or_images, lambda images: images
    raise TypeError(f"Images should have rank between 2 and 4, but have {rank}.")


def _size(images: Any) -> tuple[Any, Any]:
    rows, columns = (cast(shape(images)[axis], dtypes.float32)[None] for axis in (1, 2))  # type: ignore[index]
    return rows, columns


def transform(
    images: Any, transforms: Any, interpolation: str = "NEAREST", output_shape: Any = None, name: str | None = None
) -> Tensor:
    """Images seen through projective transforms: output (x, y) shows the input at ((a0 x + a1 y + a2) / k, (b0 x + …) / k).

    images: [batch, rows, columns, channels], [rows, columns, channels] or [rows, columns], and so the result.
    transforms: [a0, a1, a2, b0, b1, b2, c0, c1], one for all images or [batch, 8], with k = c0 x + c1 y + 1.
    interpolation: NEAREST or BILINEAR; outside of the input is zero. output_shape: (rows, columns), those of the input if
    None. TypeError for other ranks and dtypes, ValueError for an `output_shape` of other than two numbers.
    """
    with name_scope(name, "transform", [images, transforms]):
        batch, restored = _as_batch(convert_to_tensor(images, name="images"))
        size = shape(batch)[1:3] if output_shape is None else output_shape  # type: ignore[index]
        size = convert_to_tensor(size, dtypes.int32, name="output_shape")
        if not size.get_shape().is_compatible_with([2]):
            raise ValueError(f"output_shape must be a 1-D Tensor of 2 elements: new_height, new_width; it is {size}")
        matrix = convert_to_tensor(transforms, dtypes.float32, name="transforms")
        if matrix.get_shape().ndims not in (1, 2):
            raise TypeError(f"Transforms should have rank 1 or 2, but got rank {matrix.get_shape().ndims}")
        rows = matrix[None] if matrix.get_shape().ndims == 1 else matrix  # type: ignore[index]
        transformed = image_projective_transform_v2(batch, rows, size, interpolation=interpolation.upper())
        return restored(transformed)  # type: ignore[no-any-return]


def angles_to_projective_transforms(angles: Any, image_height: Any, image_width: Any, name: str | None = None) -> Tensor:
    """The transforms [n, 8] that turn images of a size around their centres by angles in radians, counterclockwise.

    angles: [n] or a scalar. TypeError for other ranks.
    """
    with name_scope(name, "angles_to_projective_transforms", [angles, image_height, image_width]):
        given: Any = convert_to_tensor(angles, dtypes.float32, name="angles")
        if given.get_shape().ndims not in (0, 1):
            raise TypeError(f"Angles should have rank 0 or 1, but have {given.get_shape().ndims}.")
        flat = given[None] if given.get_shape().ndims == 0 else given
        c, s = cos(flat), sin(flat)
        right, down = image_width - 1, image_height - 1
        x_offset = (right - (c * right - s * down)) / 2.0
        y_offset = (down - (s * right + c * down)) / 2.0
        nothing = zeros([shape(flat)[0], 2])  # type: ignore[index]
        columns = [c[:, None], -s[:, None], x_offset[:, None], s[:, None], c[:, None], y_offset[:, None], nothing]  # type: ignore[index, operator]
        return concat(columns, axis=1)


def rotate(images: Any, angles: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Images turned counterclockwise around their centres by `angles` (radians): one for all, or one for each.

    For images, interpolation and errors see `transform`.
    """
    with name_scope(name, "rotate", [images, angles]):
        given = convert_to_tensor(images, name="images")
        rows, columns = _size(_as_batch(given)[0])
        return transform(given, angles_to_projective_transforms(angles, rows, columns), interpolation)


def translations_to_projective_transforms(translations: Any, name: str | None = None) -> Tensor:
    """The transforms [n, 8] that move images by [dx, dy] ([2] or [n, 2]). TypeError for other ranks."""
    with name_scope(name, "translations_to_projective_transforms", [translations]):
        given: Any = convert_to_tensor(translations, dtypes.float32, name="translations")
        rank = given.get_shape().ndims
        if rank is None:
            raise TypeError("translation_or_translations rank must be statically known")
        if rank not in (1, 2):
            raise TypeError(f"Translations should have rank 1 or 2, but have {rank}.")
        moves = given[None] if rank == 1 else given
        count = shape(moves)[0]  # type: ignore[index]
        one, nothing = ones([count, 1]), zeros([count, 1])
        columns = [one, nothing, -moves[:, 0, None], nothing, one, -moves[:, 1, None], zeros([count, 2])]
        return concat(columns, axis=1)


def translate(images: Any, translations: Any, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Images moved right and down by [dx, dy] pixels: one for all, or [batch, 2]. For the rest see `transform`."""
    with name_scope(name, "translate", [images, translations]):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def compose_transforms(*transforms: Any, **kwargs: Any) -> Any:
    """The transform that looks through the first of `transforms` ([8] or [n, 8] each), then through the next, and so on.

    ValueError without any; `name` by keyword.
    """
    if not transforms:
        raise ValueError("transforms cannot be empty")
    with name_scope(kwargs.get("name"), "compose_transforms", list(transforms)):
        matrices = [flat_transforms_to_matrices(one) for one in transforms]
        return matrices_to_flat_transforms(functools.reduce(matmul, matrices))
