"""How images change and differ: total variation, gradients, Sobel edges, PSNR, SSIM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape, shape_n, size
from tfexp.ops.array_fill import range as range_op
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack, unstack
from tfexp.ops.array_pad import pad
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.elementwise_binary import squared_difference
from tfexp.ops.elementwise_unary import abs as abs_op
from tfexp.ops.elementwise_unary import log, square
from tfexp.ops.image_dtype import convert_image_dtype
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_conv import depthwise_conv2d
from tfexp.ops.nn_pool import avg_pool
from tfexp.ops.nn_softmax import softmax
from tfexp.ops.reduce import reduce_all, reduce_mean, reduce_prod, reduce_sum


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the differences of neighbours, for each image of a batch. Source: `tf.image.total_variation`."""
    with name_scope(name, "total_variation"):
        images = convert_to_tensor(images)
        ndims = images.shape.ndims
        if ndims == 3:
            down = images[1:, :, :] - images[:-1, :, :]
            right = images[:, 1:, :] - images[:, :-1, :]
            axes = None
        elif ndims == 4:
            down = images[:, 1:, :, :] - images[:, :-1, :, :]
            right = images[:, :, 1:, :] - images[:, :, :-1, :]
            axes = [1, 2, 3]
        else:
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        return reduce_sum(abs_op(down), axis=axes) + reduce_sum(abs_op(right), axis=axes)


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """(dy, dx) of a batch: each pixel's lower and right neighbour minus itself, 0 at the edge.

    Source: `tf.image.image_gradients`.
    """
    if image.shape.ndims != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {image.shape}.")
    dims = shape(image)
    batch, height, width, depth = unstack(dims)
    dy = image[:, 1:, :, :] - image[:, :-1, :, :]
    dx = image[:, :, 1:, :] - image[:, :, :-1, :]
    dy = reshape(concat([dy, zeros(stack([batch, 1, width, depth]), image.dtype)], 1), dims)
    dx = reshape(concat([dx, zeros(stack([batch, height, 1, depth]), image.dtype)], 2), dims)
    return dy, dx


_SOBEL = np.array([[[-1, -2, -1], [0, 0, 0], [1, 2, 1]], [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]], np.float32)


def sobel_edges(image: Any) -> Tensor:
    """[batch, height, width, channels, 2]: the Sobel filters for y and x. Source: `tf.image.sobel_edges`."""
    static = image.shape
    dims = shape(image)
    kernels = convert_to_tensor(np.expand_dims(np.transpose(_SOBEL, (1, 2, 0)), -2), dtypes.float32)
    kernels = tile(kernels, [1, 1, dims[-1], 1], name="sobel_filters")
    padded = pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = depthwise_conv2d(padded, kernels, [1, 1, 1, 1], "VALID")
    result = reshape(edges, concat([dims, [len(_SOBEL)]], 0))
    result.set_shape([*static.as_list(), len(_SOBEL)] if static.ndims is not None else None)
    return result


# --- PSNR and SSIM ----------------------------------------------------------------------------------------------------


def checks_of_pair(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, list[Any]]:
    """(both shapes, the nodes that check that the images can be compared); ValueError where it is known that not."""
    first, second = a.shape.with_rank_at_least(3), b.shape.with_rank_at_least(3)
    first[-3:].assert_is_compatible_with(second[-3:])
    if first.ndims is not None and second.ndims is not None:
        for d, e in zip(reversed(first.as_list()[:-3]), reversed(second.as_list()[:-3]), strict=False):
            if not (d == 1 or e == 1 or d is None or e is None or d == e):
                raise ValueError(f"Two images are not compatible: {first} and {second}")
    dims_a, dims_b = shape_n([a, b])
    enough = get_op("GreaterEqual")(size(dims_a), 3)
    checks = [Assert(enough, [dims_a, dims_b], summarize=10)]
    alike = reduce_all(get_op("Equal")(dims_a[-3:], dims_b[-3:]))
    checks.append(Assert(alike, [dims_a, dims_b], summarize=10))
    return dims_a, dims_b, checks


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """Peak signal to noise ratio in decibels, float32, over the last three dimensions. Source: `tf.image.psnr`."""
    with name_scope(name, "PSNR", [a, b]):
        largest = convert_image_dtype(cast(max_val, a.dtype), dtypes.float32)
        a = convert_image_dtype(a, dtypes.float32)
        b = convert_image_dtype(b, dtypes.float32)
        error = reduce_mean(squared_difference(a, b), [-3, -2, -1])
        ratio = get_op("Sub")(
            20 * log(largest) / log(convert_to_tensor(10.0, name="Log_1/x")),
            np.float32(10 / np.log(10)) * log(error),
            name="psnr",
        )
        _, _, checks = checks_of_pair(a, b)
        with control_dependencies(checks):
            return identity(ratio)


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Structural similarity of two batches of images, a number for each. Wang et al., 2004. Source: `tf.image.ssim`."""
    with name_scope(None, "SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        _, _, checks = checks_of_pair(img1, img2)
        with control_dependencies(checks):
            img1 = identity(img1)
        largest = convert_image_dtype(cast(max_val, img1.dtype), dtypes.float32)
        img1 = convert_image_dtype(img1, dtypes.float32)
        img2 = convert_image_dtype(img2, dtypes.float32)
        per_channel, _ = _ssim_per_channel(img1, img2, largest, filter_size, filter_sigma, k1, k2)
        return reduce_mean(per_channel, [-1])


_POWERS = 0.0448, 0.2856, 0.3001, 0.2363, 0.1333


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Sequence[float] = _POWERS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """Similarity of structure at several scales, each half as large as the one before, weighed by `power_factors`.

    A number for each image. Wang et al., "Multiscale structural similarity" (2003). Source: `tf.image.ssim_multiscale`.
    """
    with name_scope(None, "MS-SSIM", [img1, img2]):
        img1, img2 = convert_to_tensor(img1, name="img1"), convert_to_tensor(img2, name="img2")
        _, _, checks = checks_of_pair(img1, img2)
        with control_dependencies(checks):
            img1 = identity(img1)
        largest = convert_image_dtype(cast(max_val, img1.dtype), dtypes.float32)
        pair = [convert_image_dtype(image, dtypes.float32) for image in (img1, img2)]
        parts = []
        for scale in range(len(power_factors)):
            if scale:
                pair = [_halved(image) for image in pair]
            similar, structure = _ssim_per_channel(pair[0], pair[1], largest, filter_size, filter_sigma, k1, k2)
            parts.append(relu(structure))
        # Luminance counts at the last scale alone.
        parts[-1] = relu(similar)
        weighted = get_op("Pow")(stack(parts, axis=-1), convert_to_tensor(list(power_factors), dtypes.float32))
        return reduce_mean(reduce_prod(weighted, [-1]), [-1])


def _halved(image: Tensor) -> Tensor:
    """The means of squares of 2 by 2 pixels, a last odd row or column counting twice."""
    dims = shape(image)
    flat = reshape(image, concat([[-1], dims[-3:]], 0))
    sides: Any = shape(flat)
    odd = sides[1:3] % 2
    more = stack([[0, 0], stack([0, odd[0]]), stack([0, odd[1]]), [0, 0]])
    smaller = avg_pool(pad(flat, more, mode="SYMMETRIC"), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    return reshape(smaller, concat([dims[:-3], shape(smaller)[1:]], 0))


def gaussian_kernel(filter_size: Tensor, sigma: Tensor) -> Tensor:
    """[size, size, 1, 1], of sum 1."""
    places = cast(range_op(filter_size), sigma.dtype)
    places = places - cast(filter_size - 1, sigma.dtype) / 2.0
    bell = square(places) * (-0.5 / square(sigma))
    flat = reshape(reshape(bell, [1, -1]) + reshape(bell, [-1, 1]), [1, -1])
    return reshape(softmax(flat), [filter_size, filter_size, 1, 1])


def _ssim_per_channel(
    img1: Tensor, img2: Tensor, largest: Tensor, filter_size: Any, filter_sigma: Any, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """(SSIM, its contrast and structure part), [..., channels]."""
    filter_size = convert_to_tensor(filter_size, dtype=dtypes.int32)
    filter_sigma = convert_to_tensor(filter_sigma, dtype=img1.dtype)
    dims1, dims2 = shape_n([img1, img2])
    checks = [
        Assert(reduce_all(get_op("GreaterEqual")(dims[-3:-1], filter_size)), [dims, filter_size], summarize=8)
        for dims in (dims1, dims2)
    ]
    with control_dependencies(checks):
        img1 = identity(img1)
    kernel = gaussian_kernel(filter_size, filter_sigma)
    kernel = tile(kernel, [1, 1, dims1[-1], 1])

    def blurred(x: Tensor) -> Tensor:
        dims = shape(x)
        smooth = depthwise_conv2d(reshape(x, concat([[-1], dims[-3:]], 0)), kernel, [1, 1, 1, 1], "VALID")
        return reshape(smooth, concat([dims[:-3], shape(smooth)[1:]], 0))

    c1, c2 = (k1 * largest) ** 2, (k2 * largest) ** 2
    mean1, mean2 = blurred(img1), blurred(img2)
    product = mean1 * mean2 * 2.0
    squares = square(mean1) + square(mean2)
    luminance = (product + c1) / (squares + c1)
    cross = blurred(img1 * img2) * 2.0
    power = blurred(square(img1) + square(img2))
    c2 = c2 * 1.0
    structure = (cross - product + c2) / (power - squares + c2)
    axes = convert_to_tensor([-3, -2], dtype=dtypes.int32)
    return reduce_mean(luminance * structure, axes), reduce_mean(structure, axes)
