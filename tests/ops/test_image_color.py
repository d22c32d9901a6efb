"""Rows of the color ops (reference: `colorsys`, pixel by pixel), of boxes, patches and sounds."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError


def each_pixel(function):
    def reference(x, *amount):
        flat = [function(*pixel, *map(float, amount)) for pixel in x.astype(np.float64).reshape(-1, 3)]
        return np.array(flat).reshape(x.shape).astype(x.dtype)

    return reference


def turned(r, g, b, delta):
    h, s, v = colorsys.rgb_to_hsv(r, g, b)
    return colorsys.hsv_to_rgb((h + delta) % 1.0, s, v)


def saturated(r, g, b, factor):
    h, s, v = colorsys.rgb_to_hsv(r, g, b)
    return colorsys.hsv_to_rgb(h, min(s * factor, 1.0), v)


def contrasted(x, factor):
    wide = x.astype(np.float64)
    mean = wide.mean((-3, -2), keepdims=True)
    return ((wide - mean) * factor + mean).astype(x.dtype)


TWO = [Error([(5, 7, 2), np.float32(1)], InvalidArgumentError, "input must have 3 channels but instead has 2 channels")]
COLORS = {"low": 0.05, "high": 0.95, "gradient": (), "tolerance": 4e-3}
FEW = [Error([(5, 7)], ValueError, "Dimension must be 3 but is 7")]
CASES = [
    OpCase(
        "AdjustContrastv2",
        [(2, 5, 7, 3), np.float32(1.7)],
        contrasted,
        dtypes=["float32", "float16"],
        errors=[
            Error([(5, 7), np.float32(1)], ValueError, "Shape must be at least rank 3 but is rank 2"),
            Error([(5, 7, 3), np.float32([1, 2])], ValueError, "Shape must be rank 0 but is rank 1"),
        ],
        **COLORS,
    ),
]


# --- boxes ------------------------------------------------------------------------------------------------------------


def overlap(a, b):
    height = min(a[2], b[2]) - max(a[0], b[0])
    width = min(a[3], b[3]) - max(a[1], b[1])
    shared = max(height, 0) * max(width, 0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - shared
    return shared / union


def suppressed(boxes, scores, limit, threshold=0.5, lowest=-np.inf, given=False):
    chosen = []
    for i in sorted(range(len(scores)), key=lambda i: -scores[i]):
        alike = any((boxes[i, j] if given else overlap(boxes[i], boxes[j])) > threshold for j in chosen)
        if len(chosen) < limit and scores[i] > lowest and not alike:
            chosen.append(i)
    return np.array(chosen, np.int32)


_RANDOM = np.random.default_rng(11)
BOXES = np.sort(_RANDOM.random((17, 2, 2), np.float32), 1).reshape(17, 4)
SCORES = _RANDOM.random(17, np.float32)
OVERLAPS = _RANDOM.random((17, 17), np.float32)
LIMIT, IOU, LOWEST = np.int32(7), np.float32(0.3), np.float32(0.2)


def padded(chosen, length):
    return np.concatenate([chosen, np.zeros(length - len(chosen), chosen.dtype)])


def with_scores(boxes, scores, limit, iou, lowest, sigma):
    chosen = suppressed(boxes, scores, limit, iou, lowest)
    return padded(chosen, limit), padded(scores[chosen], limit), np.int32(len(chosen))


def drawn(images, boxes, colors):
    result = images.copy()
    for n, one in enumerate(boxes):
        for number, box in enumerate(one):
            y1, x1, y2, x2 = (int(v * (d - 1)) for v, d in zip(box, images.shape[1:3] * 2, strict=True))
            color = colors[number % len(colors)][: images.shape[3]]
            for y in range(y1, y2 + 1):
                for x in range(x1, x2 + 1):
                    if y in (y1, y2) or x in (x1, x2):
                        result[n, y, x] = color
    return result


INSIDE = np.array([[[0.1, 0.2, 0.7, 0.9], [0, 0, 0.4, 0.3]], [[0.3, 0.3, 1, 1], [0, 0.5, 0.5, 0.6]]], np.float32)
PAINT = np.array([[0.25, 0.5, 0.75], [1, 0, 1]], np.float32)
CASES += []


# --- patches ----------------------------------------------------------------------------------------------------------


def patches(x, sizes, strides, rates=None):
    """SAME windows, element by element."""
    rates = rates or [1] * len(sizes)
    outs = [-(-n // s) for n, s in zip(x.shape[1:-1], strides, strict=True)]
    reach = [(k - 1) * r + 1 for k, r in zip(sizes, rates, strict=True)]
    before = [max((o - 1) * s + k - n, 0) // 2 for o, s, k, n in zip(outs, strides, reach, x.shape[1:-1], strict=True)]
    result = np.zeros((len(x), *outs, int(np.prod(sizes)), x.shape[-1]), x.dtype)
    for out in np.ndindex(*outs):
        for number, offset in enumerate(np.ndindex(*sizes)):
            at = [o * s - b + i * r for o, s, b, i, r in zip(out, strides, before, offset, rates, strict=True)]
            if all(0 <= a < n for a, n in zip(at, x.shape[1:-1], strict=True)):
                result[(slice(None), *out, number)] = x[(slice(None), *at)]
    return result.reshape(*result.shape[:-2], -1)


CASES += []


# --- sounds -----------------------------------------------------------------------------------------------------------

HEADER = b"RIFF\x30\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0\x40\x1f\0\0\0\x7d\0\0\4\0\x10\0data\x0c\0\0\0"
SOUND = np.array([[0, 0.5], [-1, 0.25], [2, -0.125]], np.float32)
SAMPLES = np.array([[0, 16384], [-32768, 8192], [32767, -4096]], "<i2")
FILE = np.array(HEADER + SAMPLES.tobytes(), object)
CASES += []
test_rows = op_tests(CASES)


def test_gray_images_of_unknown_sizes_are_checked_when_they_run():
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 1])
        with pytest.raises(InvalidArgumentError, match="A grayscale image must be at least two-dimensional"):
            session.run(tf.image.grayscale_to_rgb(rows), {rows: [[1.0]]})
        with pytest.raises(ValueError, match="at least two-dimensional"):
            tf.image.grayscale_to_rgb(tf.placeholder(tf.float32, [None]))
        gray = tf.placeholder(tf.float32, [None, None, 1])
        assert session.run(tf.image.grayscale_to_rgb(gray), {gray: [[[3.0]]]}).tolist() == [[[3.0, 3.0, 3.0]]]
