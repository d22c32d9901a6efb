"""Colors of images: brightness and contrast, by chance too; gray; standardized."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, rank, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_join import concat
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal, assert_greater_equal
from tfexp.ops.elementwise_binary import add_v2, maximum, sub
from tfexp.ops.image_checks import checked
from tfexp.ops.image_color_ops import adjust_contrast_op
from tfexp.ops.image_dtype import convert_image_dtype
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_mean, reduce_prod
from tfexp.ops.reduce_composite import reduce_std
from tfexp.ops.tensor_products import tensordot

# How red, green and blue (rows) make up the channels (columns) of other color systems, and back.
_GRAY = [0.2989, 0.587, 0.114]


def _as_floats(image: Tensor) -> Tensor:
    """The image as the floats that the adjusting ops take."""
    return image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)


# --- adjustments ------------------------------------------------------------------------------------------------------


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """`delta` added to every channel, in the scale 0 to 1. Source: `tf.image.adjust_brightness`."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        floats = _as_floats(image)
        adjusted = add_v2(floats, cast(delta, floats.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Each channel's distance to its mean in the image times `contrast_factor`. Source: `tf.image.adjust_contrast`."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]) as scope:
        images = convert_to_tensor(images, name="images")
        adjusted = adjust_contrast_op(_as_floats(images), contrast_factor=contrast_factor, name=scope)
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


# --- by chance --------------------------------------------------------------------------------------------------------


def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """`adjust_brightness` by a delta in [-max_delta, max_delta). Source: `tf.image.random_brightness`."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """`adjust_contrast` by a factor in [lower, upper). Source: `tf.image.random_contrast`."""
    _check_factors(lower, upper)
    return adjust_contrast(image, random_uniform([], lower, upper, seed=seed))


def _check_factors(lower: float, upper: float) -> None:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")


# --- other color systems ----------------------------------------------------------------------------------------------


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """[..., 3] as [..., 1], of the same type. Source: `tf.image.rgb_to_grayscale`."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        floats = convert_image_dtype(images, dtypes.float32)
        gray = expand_dims(tensordot(floats, _GRAY, [-1, -1]), -1)
        return convert_image_dtype(gray, images.dtype, name=scope)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """[..., 1] as [..., 3], the channel three times. Source: `tf.image.grayscale_to_rgb`."""
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = _checked_gray(convert_to_tensor(images, name="images"))
        leading = expand_dims(rank(images) - 1, 0)
        multiples = concat([ones(leading, dtype=dtypes.int32), expand_dims(3, 0)], 0)
        rgb = tile(images, multiples, name=scope)
        if images.shape.ndims is not None:
            rgb.set_shape([*images.shape.as_list()[:-1], 3])
        return rgb


def _checked_gray(images: Tensor) -> Tensor:
    known = images.shape
    checks: list[Any] = []
    if known.ndims is not None and known.ndims < 2:
        raise ValueError("A grayscale image must be at least two-dimensional.")
    if not known.is_fully_defined():
        checks = [
            assert_equal(shape(images)[-1], 1, message="Last dimension of a grayscale image should be size 1."),
            assert_greater_equal(rank(images), 3, message="A grayscale image must be at least two-dimensional."),
        ]
    elif known.as_list()[-1] != 1:
        raise ValueError("Last dimension of a grayscale image should be size 1.")
    result: Tensor = with_dependencies(checks, images)
    return result


def per_image_standardization(image: Any) -> Tensor:
    """float32 of mean 0 and deviation 1 over each image; an even one becomes 0.

    The deviation counts at least 1/sqrt(number of values). Source: `tf.image.per_image_standardization`.
    """
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = checked(convert_to_tensor(image, name="image"))
        image = cast(image, dtypes.float32)
        count = reduce_prod(shape(image)[-3:])
        mean = reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        smallest = get_op("Rsqrt")(cast(count, dtypes.float32))
        divisor = maximum(deviation, smallest)
        result: Tensor = get_op("RealDiv")(sub(image, mean, name="sub"), divisor, name=scope)
        return result
