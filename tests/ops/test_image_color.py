"""Rows of the color ops (reference: `colorsys`, pixel by pixel), of boxes, patches and sounds."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError, OutOfRangeError
from tfexp.ops import audio_ops, image_boxes_ops, image_color_ops, image_patches  # noqa: F401  # registers the ops


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
        "RGBToHSV",
        [(5, 7, 3)],
        each_pixel(colorsys.rgb_to_hsv),
        dtypes=["float32", "float64"],
        errors=FEW,
        **{**COLORS, "gradient": None},
    ),
    OpCase("HSVToRGB", [(5, 7, 3)], each_pixel(colorsys.hsv_to_rgb), dtypes=["float32", "float64"], errors=FEW, **COLORS),
    OpCase(
        "AdjustHue", [(5, 7, 3), np.float32(0.3)], each_pixel(turned), dtypes=["float32", "float16"], errors=TWO, **COLORS
    ),
    OpCase(
        "AdjustSaturation",
        [(5, 7, 3), np.float32(1.4)],
        each_pixel(saturated),
        dtypes=["float32", "float16"],
        errors=TWO,
        **COLORS,
    ),
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
CASES += [
    OpCase("NonMaxSuppression", [BOXES, SCORES, LIMIT], suppressed, gradient=(), static_shape=[(None,)]),
    OpCase("NonMaxSuppressionV2", [BOXES, SCORES, LIMIT, IOU], suppressed, gradient=(), static_shape=[(None,)]),
    OpCase(
        "NonMaxSuppressionV3",
        [BOXES, SCORES, LIMIT, IOU, LOWEST],
        suppressed,
        gradient=(),
        static_shape=[(None,)],
        errors=[
            Error([BOXES[:, :3], SCORES, LIMIT, IOU, LOWEST], ValueError, "Dimension must be 4 but is 3"),
            Error([BOXES, SCORES[1:], LIMIT, IOU, LOWEST], ValueError, "Dimensions must be equal, but are 17 and 16"),
            Error([BOXES, SCORES, LIMIT, IOU + 1, LOWEST], InvalidArgumentError, "iou_threshold must be in [0, 1]"),
        ],
    ),
    OpCase(
        "NonMaxSuppressionV4",
        [BOXES, SCORES, np.int32(13), IOU, LOWEST],
        lambda *a: with_scores(*a, 0)[::2],
        attrs={"pad_to_max_output_size": True},
        gradient=(),
        static_shape=[(None,), ()],
    ),
    OpCase(
        "NonMaxSuppressionV5",
        [BOXES, SCORES, np.int32(13), IOU, LOWEST, np.float32(0)],
        with_scores,
        attrs={"pad_to_max_output_size": True},
        gradient=(),
        static_shape=[(None,), (None,), ()],
    ),
    OpCase(
        "NonMaxSuppressionWithOverlaps",
        [OVERLAPS, SCORES, LIMIT, np.float32(0.8), LOWEST],
        lambda *a: suppressed(*a, given=True),
        gradient=(),
        static_shape=[(None,)],
    ),
    OpCase(
        "DrawBoundingBoxes",
        [(2, 7, 11, 3), INSIDE],
        lambda x, b: drawn(x, b, np.array([[1, 1, 0], [0, 0, 1]])),
        dtypes=["float32", "float16"],
        gradient=(),
        errors=[Error([(2, 7, 11, 3), INSIDE[..., :3]], ValueError, "Dimension must be 4 but is 3")],
    ),
    OpCase("DrawBoundingBoxesV2", [(2, 7, 11, 3), INSIDE, PAINT], drawn, gradient=()),
    OpCase("DrawBoundingBoxesV2", [(2, 7, 11, 1), INSIDE, PAINT[:, :1]], drawn, gradient=(), label="gray"),
    OpCase(
        "DrawBoundingBoxes", [(2, 7, 11, 1), INSIDE], lambda x, b: drawn(x, b, np.ones((2, 1))), gradient=(), label="gray"
    ),
]


def test_soft_suppression_lowers_the_scores_of_what_overlaps():
    boxes = np.array([[0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, 4, 1, 5]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        chosen = tf.image.non_max_suppression_with_scores(boxes, [0.9, 0.8, 0.5], 3, 0.5, 0.0, 0.5)
        numbers, scores = session.run(chosen)
    iou = 0.9 / 1.1
    np.testing.assert_array_equal(numbers, [0, 2, 1])
    np.testing.assert_allclose(scores, [0.9, 0.5, 0.8 * np.exp(-iou * iou / (2 * 0.5))], rtol=1e-5)


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


CASES += [
    OpCase(
        "ExtractImagePatches",
        [(2, 5, 7, 3)],
        lambda x: patches(x, (3, 2), (1, 2), (2, 1)),
        attrs={"ksizes": [1, 3, 2, 1], "strides": [1, 1, 2, 1], "rates": [1, 2, 1, 1], "padding": "SAME"},
        dtypes=["float32", "float64", "int32", "uint8", "bool", "complex64"],
        errors=[
            Error([(5, 7, 3)], ValueError, "Shape must be rank 4 but is rank 3"),
            Error([(2, 5, 7, 3)], OutOfRangeError, "ksizes is out of range.", {"ksizes": [1, 3, 0, 1]}),
        ],
    ),
    OpCase(
        "ExtractVolumePatches",
        [(2, 3, 5, 2, 3)],
        lambda x: patches(x, (2, 3, 2), (1, 2, 1)),
        attrs={"ksizes": [1, 2, 3, 2, 1], "strides": [1, 1, 2, 1, 1], "padding": "SAME"},
        dtypes=["float32", "float64", "int32"],
    ),
]


# --- sounds -----------------------------------------------------------------------------------------------------------

HEADER = b"RIFF\x30\0\0\0WAVEfmt \x10\0\0\0\1\0\2\0\x40\x1f\0\0\0\x7d\0\0\4\0\x10\0data\x0c\0\0\0"
SOUND = np.array([[0, 0.5], [-1, 0.25], [2, -0.125]], np.float32)
SAMPLES = np.array([[0, 16384], [-32768, 8192], [32767, -4096]], "<i2")
FILE = np.array(HEADER + SAMPLES.tobytes(), object)
CASES += [
    OpCase(
        "DecodeWav",
        [FILE],
        lambda _: [(SAMPLES / 32768).astype(np.float32), np.int32(8000)],
        dtypes=["int32"],
        static_shape=[(None, None), ()],
        errors=[
            Error([np.array(b"no sound", object)], InvalidArgumentError, "Header mismatch: Expected RIFF"),
            Error([np.array(HEADER, object)], InvalidArgumentError, "Data too short"),
        ],
    ),
    OpCase(
        "DecodeWav",
        [FILE],
        lambda _: [
            np.float32([[0, 0.5, 0.5], [-1, 0.25, 0.25], [32767 / 32768, -0.125, -0.125], [0, 0, 0]]),
            np.int32(8000),
        ],
        attrs={"desired_channels": 3, "desired_samples": 4},
        dtypes=["int32"],
        static_shape=[(4, 3), ()],
        label="longer",
    ),
]
test_rows = op_tests(CASES)


def test_a_sound_is_written_as_whole_numbers():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.audio.encode_wav(SOUND, 8000)) == FILE.item()
        with pytest.raises(InvalidArgumentError, match="must be > 0"):
            session.run(tf.audio.encode_wav(SOUND, 0))


@pytest.mark.parametrize(("seed", "covered"), [(1, 0.1), (2, 0.9)])
def test_a_random_part_shows_enough_of_a_box(seed, covered):
    boxes = np.array([[[0.1, 0.2, 0.7, 0.8], [0.3, 0.3, 0.5, 0.9]]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        made = tf.image.sample_distorted_bounding_box([97, 53, 3], boxes, seed, None, covered, area_range=[0.1, 1.0])
        for _ in range(20):
            (y, x, _), (height, width, rest), ((edges,),) = session.run(made)
            assert rest == -1 and 0 < height <= 97 - y and 0 < width <= 53 - x
            assert 0.74 < width / height < 1.34 or (height, width) == (97, 53)
            np.testing.assert_allclose(edges, [y / 97, x / 53, (y + height) / 97, (x + width) / 53], rtol=1e-6)
            pixels = [[int(b * n) for b, n in zip(box, (97, 53, 97, 53), strict=True)] for box in boxes[0]]
            shown = [
                max(min(b, y + height) - max(t, y), 0) * max(min(r, x + width) - max(le, x), 0) / ((b - t) * (r - le))
                for t, le, b, r in pixels
            ]
            assert max(shown) >= covered


def test_boxes_that_overlap_as_much_as_the_threshold_says_are_dropped():
    boxes, scores = [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.5], [2.0, 0.0, 3.0, 1.0]], [0.7, 0.9, 0.8]
    with tf.Graph().as_default(), tf.Session() as session:
        chosen = [tf.image.non_max_suppression(boxes, scores, 3, iou_threshold=iou) for iou in (0.0, 0.5, 0.51)]
        assert [one.tolist() for one in session.run(chosen)] == [[1], [1, 2], [1, 2, 0]]


def test_gray_images_of_unknown_sizes_are_checked_when_they_run():
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 1])
        with pytest.raises(InvalidArgumentError, match="A grayscale image must be at least two-dimensional"):
            session.run(tf.image.grayscale_to_rgb(rows), {rows: [[1.0]]})
        with pytest.raises(ValueError, match="at least two-dimensional"):
            tf.image.grayscale_to_rgb(tf.placeholder(tf.float32, [None]))
        gray = tf.placeholder(tf.float32, [None, None, 1])
        assert session.run(tf.image.grayscale_to_rgb(gray), {gray: [[[3.0]]]}).tolist() == [[[3.0, 3.0, 3.0]]]
