"""Rows of ScaleAndTranslate and its gradient, and its kernels against TensorFlow's numbers."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError, ResourceExhaustedError
from tfexp.core.op import get_op

SIZE, SCALE, NOWHERE = np.int32([2, 3]), np.float32([0.4, 0.6]), np.float32([0, 0])
TRIANGLE = {"kernel_type": "triangle", "antialias": False}


def moved(images, size, scale, translation):
    """Bilinear, pixel by pixel."""
    batch, height, width, channels = images.shape
    result = np.zeros((batch, *size, channels))
    for y, x in np.ndindex(*size):
        row, column = ((at + 0.5 - by) / s for at, by, s in zip((y, x), translation, scale, strict=True))
        if not (0 <= row <= height and 0 <= column <= width):
            continue
        rows = np.maximum(1 - np.abs(np.arange(height) + 0.5 - row), 0)
        columns = np.maximum(1 - np.abs(np.arange(width) + 0.5 - column), 0)
        weights = np.outer(rows / rows.sum(), columns / columns.sum())
        result[:, y, x] = np.einsum("hw,bhwc->bc", weights, images.astype(np.float64))
    return result.astype(np.float32)


CASES = [
    OpCase(
        "ScaleAndTranslate",
        [(2, 5, 7, 3), SIZE, SCALE, np.float32([0.25, -1])],
        moved,
        attrs=TRIANGLE,
        dtypes=["float32", "uint8", "float16"],
        numeric=False,
        second=False,
        errors=[
            Error([(5, 7, 3), SIZE, SCALE, NOWHERE], ValueError, "Shape must be rank 4 but is rank 3"),
            Error([(1, 5, 7, 3), SIZE, -SCALE, NOWHERE], InvalidArgumentError, "scale must be greater than zero"),
            Error([(1, 5, 7, 3), SIZE, SCALE[:1], NOWHERE], InvalidArgumentError, "scale must have two elements"),
            Error([(1, 5, 7, 3), SIZE, SCALE, NOWHERE], InvalidArgumentError, "kernel type: x", attrs={"kernel_type": "x"}),
            Error([(1, 5, 7, 3), np.int32([0, 3]), SCALE, NOWHERE], InvalidArgumentError, "dimensions must be positive"),
            # More weights than there are addresses, for images of which there are none.
            Error(
                [(0, 1 << 15, 1, 1), np.int32([2**31 - 1, 1]), SCALE, NOWHERE], ResourceExhaustedError, "OOM when allocating"
            ),
        ],
    ),
    OpCase(
        "ScaleAndTranslateGrad",
        [np.ones((1, 1, 1, 1), np.float32), (1, 2, 3, 1), np.float32([0.5, 1 / 3]), NOWHERE],
        lambda grads, images, scale, translation: np.float32([[0, 0.5, 0], [0, 0.5, 0]]).reshape(1, 2, 3, 1),
        attrs=TRIANGLE,
        gradient=(),
        errors=[
            Error(
                [(1, 4, 4, 4), (1, 2, 3, 0), SCALE, NOWHERE],
                InvalidArgumentError,
                "is none of an image of shape [1, 2, 3, 0]",
            ),
            Error([(3, 4, 4, 1), (1, 2, 3, 1), SCALE, NOWHERE], InvalidArgumentError, "A gradient of shape [3, 4, 4, 1]"),
        ],
    ),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize(
    ("kernel", "antialias", "expected"),  # recorded from TensorFlow
    [
        ("lanczos3", True, [2.3119, 3.6525, 4.9931]),
        ("gaussian", False, [2.2086, 3.5, 4.7914]),
        ("mitchellcubic", True, [2.9891, 4.2246, 5.4601]),
        ("triangle", True, [3.1571, 4.3571, 5.5571]),
    ],
)
def test_kernels(kernel, antialias, expected):
    images = tf.constant(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    scaled = get_op("ScaleAndTranslate")(images, [2, 3], [0.5, 0.75], [0.0, 0.0], kernel_type=kernel, antialias=antialias)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(scaled)[0, 0, :, 0], expected, atol=1e-4)


def test_pixels_on_the_rim_of_a_kernel():
    """1.5 / (4 / 6) is a little less than 2.25 in float32: by that, pixels at this distance count."""
    images = np.random.RandomState(15).rand(1, 6, 5, 2).astype(np.float32)
    with tf.Session() as session:
        scaled = session.run(tf.compat.v2.image.resize(images, [4, 7], "gaussian", antialias=True))
    np.testing.assert_allclose(scaled[0, 2, 0, 0], 0.35389557, rtol=1e-5)  # TensorFlow's


def test_gradient():
    images = tf.constant(np.random.default_rng(0).normal(size=(1, 5, 3, 2)).astype(np.float32))
    scaled = get_op("ScaleAndTranslate")(images, [3, 4], [0.7, 1.3], [0.2, -0.1], kernel_type="keyscubic")
    with tf.Session():
        assert tf.test.compute_gradient_error(images, [1, 5, 3, 2], scaled, [1, 3, 4, 2]) < 1e-3
