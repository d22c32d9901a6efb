"""Images cut, padded and resized: central_crop, boxes, resize_images, resize_image_with_crop_or_pad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.constant_value import constant_value
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape, squeeze
from tfexp.ops.array_join import stack
from tfexp.ops.array_pad import pad
from tfexp.ops.array_slice import slice as slice_op
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.elementwise_rounding import round as round_op
from tfexp.ops.image_checks import batched, checks_of_rank, image_dimensions, required, unless_known
from tfexp.ops.image_resize_ops import resize_area_op, resize_bicubic_op, resize_bilinear_op, resize_nearest_neighbor_op


class ResizeMethod:
    """How `tf.image.resize_images` makes pixels. Source: `tf.image.ResizeMethod`."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# --- cutting and padding ----------------------------------------------------------------------------------------------


def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """The middle of an image or a batch, `central_fraction` (0 < f <= 1) of each side. Source: `tf.image.central_crop`."""
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        known = constant_value(central_fraction) if isinstance(central_fraction, Tensor) else central_fraction
        checks: list[Any] = []
        if known is not None:
            if not 0 < known <= 1:
                raise ValueError("central_fraction must be within (0, 1]")
            if known == 1:
                return image
            central_fraction = float(known)
        else:
            inside = get_op("LogicalAnd")(central_fraction > 0, central_fraction <= 1)
            checks = required(inside, ValueError, "central_fraction must be within (0, 1]")
        with_dependencies([*checks, *checks_of_rank(image, require_static=False)], image)
        ndims = image.shape.ndims
        if ndims not in (3, 4):
            raise ValueError(f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {ndims}.")
        first = ndims - 3
        dims = image.shape.as_list()
        sizes = [dims[axis] if dims[axis] is not None else shape(image)[axis] for axis in (first, first + 1)]
        starts = [_margin(size, central_fraction) for size in sizes]
        kept = [size - start * 2 for size, start in zip(sizes, starts, strict=True)]
        batch = [0] * first
        begin = stack([*batch, *starts, 0])
        image = slice_op(image, begin, stack([*([-1] * first), *kept, -1]))
        fixed = [unless_known(k) for k in kept]
        image.set_shape([*dims[:first], *fixed, dims[-1]])
        return image


def _margin(size: Any, fraction: Any) -> Any:
    """How much to cut off before the middle part."""
    if not isinstance(size, Tensor) and not isinstance(fraction, Tensor):
        return int((size - size * fraction) / 2)
    whole = cast(size, dtypes.float64)
    return cast((whole - whole * cast(fraction, dtypes.float64)) / 2, dtypes.int32)


def pad_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Tensor:
    """The image in a larger one of zeros, at an offset. Source: `tf.image.pad_to_bounding_box`."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        image, is_batch = batched(convert_to_tensor(image, name="image"))
        batch, height, width, depth = image_dimensions(image, 4)
        after_width = target_width - offset_width - width
        after_height = target_height - offset_height - height
        checks = [
            *checks_of_rank(image, require_static=False),
            *required(offset_height >= 0, ValueError, "offset_height must be >= 0"),
            *required(offset_width >= 0, ValueError, "offset_width must be >= 0"),
            *required(after_width >= 0, ValueError, "width must be <= target - offset"),
            *required(after_height >= 0, ValueError, "height must be <= target - offset"),
        ]
        image = with_dependencies(checks, image)
        paddings = reshape(stack([0, 0, offset_height, after_height, offset_width, after_width, 0, 0]), [4, 2])
        padded = pad(image, paddings)
        padded.set_shape([unless_known(d) for d in (batch, target_height, target_width, depth)])
        return padded if is_batch else squeeze(padded, axis=[0])


def crop_to_bounding_box(image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any) -> Tensor:
    """The part of the image at an offset. Source: `tf.image.crop_to_bounding_box`."""
    with name_scope(None, "crop_to_bounding_box", [image]):
        image, is_batch = batched(convert_to_tensor(image, name="image"))
        checks = checks_of_rank(image, require_static=False)
        batch, height, width, depth = image_dimensions(image, 4)
        checks += [
            *required(offset_width >= 0, ValueError, "offset_width must be >= 0."),
            *required(offset_height >= 0, ValueError, "offset_height must be >= 0."),
            *required(target_width > 0, ValueError, "target_width must be > 0."),
            *required(target_height > 0, ValueError, "target_height must be > 0."),
            *required(width >= target_width + offset_width, ValueError, "width must be >= target + offset."),
            *required(height >= target_height + offset_height, ValueError, "height must be >= target + offset."),
        ]
        image = with_dependencies(checks, image)
        begin = stack([0, offset_height, offset_width, 0])
        size = stack([shape(image)[0], target_height, target_width, shape(image)[3]])
        cropped = slice_op(image, begin, size)
        cropped.set_shape([unless_known(d) for d in (batch, target_height, target_width, depth)])
        return cropped if is_batch else squeeze(cropped, axis=[0])


def _larger(x: Any, y: Any) -> Any:
    return maximum(x, y) if isinstance(x, Tensor) or isinstance(y, Tensor) else max(x, y)


def _smaller(x: Any, y: Any) -> Any:
    return minimum(x, y) if isinstance(x, Tensor) or isinstance(y, Tensor) else min(x, y)


def _same(x: Any, y: Any) -> Any:
    return get_op("Equal")(x, y) if isinstance(x, Tensor) or isinstance(y, Tensor) else x == y


def resize_image_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """The image of the size asked for: its middle, or itself in the middle of zeros.

    Source: `tf.image.resize_image_with_crop_or_pad`.
    """
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image, is_batch = batched(convert_to_tensor(image, name="image"))
        checks = [
            *checks_of_rank(image, require_static=False),
            *required(target_width > 0, ValueError, "target_width must be > 0."),
            *required(target_height > 0, ValueError, "target_height must be > 0."),
        ]
        image = with_dependencies(checks, image)
        if isinstance(target_height, Tensor):
            target_height = with_dependencies(checks, target_height)
        if isinstance(target_width, Tensor):
            target_width = with_dependencies(checks, target_width)
        _, height, width, _ = image_dimensions(image, 4)
        wider = target_width - width
        cut_left, pad_left = _larger(-wider // 2, 0), _larger(wider // 2, 0)
        higher = target_height - height
        cut_top, pad_top = _larger(-higher // 2, 0), _larger(higher // 2, 0)
        cropped = crop_to_bounding_box(
            image, cut_top, cut_left, _smaller(target_height, height), _smaller(target_width, width)
        )
        resized = pad_to_bounding_box(cropped, pad_top, pad_left, target_height, target_width)
        _, new_height, new_width, _ = image_dimensions(resized, 4)
        checks = [
            *required(_same(new_height, target_height), ValueError, "resized height is not correct."),
            *required(_same(new_width, target_width), ValueError, "resized width is not correct."),
        ]
        resized = with_dependencies(checks, resized)
        return resized if is_batch else squeeze(resized, axis=[0])


# --- resizing ---------------------------------------------------------------------------------------------------------


def resize_bilinear(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
) -> Tensor:
    """float32 images, each pixel between its four nearest ones. Source: `tf.image.resize_bilinear`."""
    return _resized(resize_bilinear_op, images, size, align_corners, name, half_pixel_centers)


def resize_nearest_neighbor(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
) -> Tensor:
    """Images of the same type, each pixel its nearest one. Source: `tf.image.resize_nearest_neighbor`."""
    return _resized(resize_nearest_neighbor_op, images, size, align_corners, name, half_pixel_centers)


def resize_bicubic(
    images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
) -> Tensor:
    """float32 images, each pixel a cubic curve through sixteen. Source: `tf.image.resize_bicubic`."""
    return _resized(resize_bicubic_op, images, size, align_corners, name, half_pixel_centers)


def resize_area(images: Any, size: Any, align_corners: bool = False, name: str | None = None) -> Tensor:
    """float32 images, each pixel the mean of what it covers. Source: `tf.image.resize_area`."""
    result: Tensor = resize_area_op(images, size, align_corners=align_corners, name=name)
    return result


def _resized(op: Any, images: Any, size: Any, align: bool, name: str | None, half: bool) -> Tensor:
    result: Tensor = op(images, size, align_corners=align, half_pixel_centers=half, name=name)
    return result


_METHODS: dict[int | str, Callable[..., Tensor]] = {
    ResizeMethod.BILINEAR: resize_bilinear,
    ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
    ResizeMethod.BICUBIC: resize_bicubic,
    ResizeMethod.AREA: resize_area,
    # TensorFlow 2's names for them.
    "bilinear": resize_bilinear,
    "nearest": resize_nearest_neighbor,
    "bicubic": resize_bicubic,
    "area": resize_area,
}


def resize_images(
    images: Any,
    size: Any,
    method: int | str = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """An image or a batch resized to `size` (height, width); unchanged where it has that size.

    `method`: of `tf.image.ResizeMethod`, or the name of one in `tf.compat.v2`. preserve_aspect_ratio: as large as fits
    into `size`. ValueError for another method. Source: `tf.image.resize_images`.
    """

    def resize(images: Tensor, size: Tensor) -> Tensor:
        if method not in _METHODS:
            raise ValueError(f"Resize method is not implemented: {method}")
        return _METHODS[method](images, size, align_corners=align_corners)

    return resized(images, size, resize, preserve_aspect_ratio, name)


def resized(
    images: Any,
    size: Any,
    resize: Callable[[Tensor, Tensor], Tensor],
    preserve_aspect_ratio: bool,
    name: str | None,
    skip_if_same: bool = True,
) -> Tensor:
    """As `resize_images`, by `resize(batch of images, size)`; skip_if_same: images that have the size stay as they are."""
    with name_scope(name, "resize", [images, size]):
        images = convert_to_tensor(images, name="images")
        ndims = images.shape.ndims
        if ndims is None:
            raise ValueError("'images' contains no shape.")
        if ndims not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        if ndims == 3:
            images = expand_dims(images, 0)
        try:
            size = convert_to_tensor(size, dtypes.int32, name="size")
        except (TypeError, ValueError):
            raise ValueError("'size' must be a 1-D int32 Tensor") from None
        if not size.shape.is_compatible_with([2]):
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        if preserve_aspect_ratio:
            size = _fitting(images, size)
        known = constant_value(size)
        new = [None, None] if known is None else [int(n) for n in known]
        if skip_if_same and None not in new and images.shape.as_list()[1:3] == new:
            return images if ndims == 4 else squeeze(images, axis=[0])
        images = resize(images, size)
        images.set_shape([None, *new, None])
        return images if ndims == 4 else squeeze(images, axis=[0])


def _fitting(images: Tensor, size: Tensor) -> Tensor:
    """The largest size within `size` of the images' proportions."""
    _, height, width, _ = image_dimensions(images, 4)
    by_height = cast(size[0], dtypes.float32) / cast(height, dtypes.float32)
    by_width = cast(size[1], dtypes.float32) / cast(width, dtypes.float32)
    factor = minimum(by_height, by_width)
    new_height = cast(round_op(factor * cast(height, dtypes.float32)), dtypes.int32)
    new_width = cast(round_op(factor * cast(width, dtypes.float32)), dtypes.int32)
    return convert_to_tensor([new_height, new_width], dtypes.int32, name="size")


def padded(image: Any, target_height: Any, target_width: Any, resize: Callable[[Tensor, Any], Tensor]) -> Tensor:
    """As `resize_image_with_pad`, by `resize(image, size)`."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image, is_batch = batched(convert_to_tensor(image, name="image"))
        checks = [
            *checks_of_rank(image, require_static=False),
            *required(target_width > 0, ValueError, "target_width must be > 0."),
            *required(target_height > 0, ValueError, "target_height must be > 0."),
        ]
        image = with_dependencies(checks, image)
        _, height, width, _ = image_dimensions(image, 4)
        old_height, old_width = cast(height, dtypes.float32), cast(width, dtypes.float32)
        full_height, full_width = cast(target_height, dtypes.float32), cast(target_width, dtypes.float32)
        ratio = maximum(old_width / full_width, old_height / full_height)
        new_height, new_width = old_height / ratio, old_width / ratio
        size_height, size_width = cast(floor(new_height), dtypes.int32), cast(floor(new_width), dtypes.int32)
        above, beside = (full_height - new_height) / 2, (full_width - new_width) / 2
        above, beside = floor(above), floor(beside)
        top = maximum(0, cast(above, dtypes.int32))
        left = maximum(0, cast(beside, dtypes.int32))
        smaller = resize(image, [size_height, size_width])
        whole = pad_to_bounding_box(smaller, top, left, target_height, target_width)
        if whole.shape.ndims is None:
            raise ValueError("padded contains no shape.")
        image_dimensions(whole, 4)
        return whole if is_batch else squeeze(whole, axis=[0])
