"""Projective transforms of images, pixel by pixel. TensorFlow's pixels: golden/programs/image_transforms.py."""

import math

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.image_transform import flat_transforms_to_matrices, matrices_to_flat_transforms

TRANSFORMS = np.float32(
    [[0.81, -0.53, 1.27, 0.46, 0.93, -2.07, 0.011, -0.023], [-1.13, 0.37, 5.03, 0.21, 1.57, -3.49, 0.0, 0.031]]
)


def seen(size, bilinear, fill=0.0, mode="CONSTANT"):
    """Each pixel of the output, read by the definition."""

    def inside(place, length):
        if mode == "NEAREST":
            return min(max(place, 0), length - 1)
        if mode == "REFLECT":
            place = math.fmod(math.fmod(place, 2 * length) + 2 * length, 2 * length)
            return min(max(2 * length - place - 1 if place >= length else place, 0), length - 1)
        return place

    def pixel(image, x, y):
        height, width, channels = image.shape
        x, y = inside(x, width), inside(y, height)

        def read(row, column):
            if 0 <= row < height and 0 <= column < width:
                return image[int(row), int(column)].astype(np.float64)
            return np.full(channels, fill)

        if not bilinear:
            return read(math.floor(y + 0.5), math.floor(x + 0.5))
        top, left = math.floor(y), math.floor(x)
        return sum(
            (1 - abs(y - row)) * (1 - abs(x - column)) * read(row, column)
            for row in (top, top + 1)
            for column in (left, left + 1)
        )

    def reference(images, transforms, output_shape, *_):
        result = np.zeros((len(images), *size, images.shape[-1]))
        for place in np.ndindex(*result.shape[:3]):
            number, row, column = place
            a0, a1, a2, b0, b1, b2, c0, c1 = transforms[number % len(transforms)].astype(float)
            k = c0 * column + c1 * row + 1
            result[place] = pixel(images[number], (a0 * column + a1 * row + a2) / k, (b0 * column + b1 * row + b2) / k)
        return result.astype(images.dtype)

    return reference


def options(bilinear, mode="CONSTANT"):
    return {"interpolation": "BILINEAR" if bilinear else "NEAREST", "fill_mode": mode}


SIZE = np.int32([3, 7])
X = (2, 5, 7, 3)
CASES = [
    OpCase(
        "ImageProjectiveTransformV2",
        [X, TRANSFORMS, SIZE],
        seen((3, 7), True),
        attrs=options(True),
        dtypes=["float32", "float16", "float64"],
        tolerance=1e-2,
        numeric=False,
        errors=[
            Error([X[:3], TRANSFORMS, SIZE], ValueError, "Shape must be rank 4 but is rank 3", options(True)),
            Error([X, TRANSFORMS, np.int32([3, 4, 5])], ValueError, "Dimension must be 2 but is 3", options(True)),
            Error([X, TRANSFORMS[:, :7], SIZE], InvalidArgumentError, "should be num_images x 8 or 1 x 8", options(True)),
            Error([X, TRANSFORMS, np.int32([0, 4])], InvalidArgumentError, "must be positive", options(True)),
        ],
    ),
    OpCase(
        "ImageProjectiveTransformV2",
        [X, TRANSFORMS[:1], SIZE],
        seen((3, 7), False),
        attrs=options(False),
        dtypes=["float32", "uint8", "int64", "bfloat16"],
        low=0,
        high=9,
        numeric=False,
        label="nearest",
    ),
    *(
        OpCase(
            "ImageProjectiveTransformV3",
            [X, TRANSFORMS, SIZE, np.float32(0.5)],
            seen((3, 7), bilinear, 0.5, mode),
            attrs=options(bilinear, mode),
            tolerance=1e-4,
            numeric=False,
            label=f"{mode}-{bilinear}",
        )
        for mode in ("CONSTANT", "NEAREST", "REFLECT")
        for bilinear in (True, False)
    ),
]
test_rows = op_tests(CASES)


def test_gradients_come_back_through_the_inverse():
    """A shift by whole pixels takes each gradient to the pixel that was shown."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(np.arange(24, dtype=np.float32).reshape(1, 4, 6, 1))
        shown = tf.contrib.image.translate(x, [2.0, -1.0])
        (found,) = tf.gradients(shown * shown, x)
        values, found = session.run([x, found])
    wanted = np.zeros_like(values)
    wanted[:, 1:, :4] = 2 * values[:, 1:, :4]
    np.testing.assert_array_equal(found, wanted)


def test_transforms_as_matrices():
    with tf.Graph().as_default(), tf.Session() as session:
        matrices = flat_transforms_to_matrices(TRANSFORMS)
        again = matrices_to_flat_transforms(2.0 * matrices)
        found, again = session.run([matrices, again])
        np.testing.assert_array_equal(found, np.append(TRANSFORMS, np.ones((2, 1)), 1).reshape(2, 3, 3))
        np.testing.assert_array_equal(again, TRANSFORMS)
        with pytest.raises(ValueError, match="Transforms should be 1D or 2D"):
            flat_transforms_to_matrices(tf.zeros([1, 1, 8]))
        with pytest.raises(ValueError, match="Matrices should be 2D or 3D"):
            matrices_to_flat_transforms(tf.zeros([9]))
