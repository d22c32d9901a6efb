"""Rows of fake quantisation; the figures are TensorFlow's."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

X = np.float32([-7.3, -6, -0.51, -0.01, 0, 0.013, 0.024, 0.3, 2.7, 5.99, 6.5])
BOTH = np.stack([X, X[::-1]], 1)
GRAD = np.arange(1, 12, dtype=np.float32)
GRADS = np.arange(1, 23, dtype=np.float32).reshape(11, 2)
ROUNDED = np.float32([-6.0235295, -5.9764705, -0.5176471, 0, 0, 0, 0.04705882, 0.28235295, 2.682353, 5.9764705, 5.9764705])
SHIFTED = np.float32(
    [
        -1.3011763,
        -1.3011763,
        -0.51058817,
        -0.01647059,
        0,
        0.01647059,
        0.01647059,
        0.29647055,
        2.7011762,
        2.8988233,
        2.8988233,
    ]
)
CHANNELS = np.float32(
    [
        [-1.4, -1.4, -0.56, 0, 0, 0, 0, 0.28, 2.8, 2.8, 2.8],
        [*[0.46666667] * 3, 0.23333333, 0, 0, 0, 0, -0.46666667, -3.0333333, -3.0333333],
    ]
).T
CHANNEL_GRADS = [
    np.float32([[0, 0, 5, 7, 9, 11, 13, 15, 17, 0, 0], [0, 0, 0, 8, 10, 12, 14, 16, 18, 0, 0]]).T,
    np.float32([4, 42]),
    np.float32([40, 12]),
]
ODD = {"min": 0.5, "max": 3.0, "num_bits": 4}
NARROW = {"min": -3.0, "max": -1.0, "num_bits": 3, "narrow_range": True}
ONE = np.float32(1)
BITS = [Error([X, np.float32(0), np.float32(1)], InvalidArgumentError, "num_bits must be between", {"num_bits": 17})]
LIMITS = [np.float32([-1.3, -3]), np.float32([2.9, 0.5])]
CASES = [
    OpCase(
        "FakeQuantWithMinMaxArgs",
        [X],
        ROUNDED,
        errors=[
            Error([X], InvalidArgumentError, "min has to be smaller than max, was: 3 >= 1", {"min": 3.0, "max": 1.0}),
            Error([X], InvalidArgumentError, "num_bits must be between 2 and 16, inclusive", {"num_bits": 1}),
        ],
    ),
    OpCase(
        "FakeQuantWithMinMaxArgs",
        [X],
        np.float32([0, 0, 0, 0, 0, 0, 0, 0.33333334, 2.5, 2.5, 2.5]),
        attrs=ODD,
        label="away from 0",
    ),
    OpCase(
        "FakeQuantWithMinMaxArgs",
        [X],
        np.float32([-2, -2, -0.6666667, *[0] * 8]),
        attrs=NARROW,
        label="narrow",
    ),
    OpCase(
        "FakeQuantWithMinMaxArgsGradient",
        [GRAD, X],
        np.float32([0, *range(2, 10), 0, 0]),
        errors=[Error([(2, 3), (2, 5)], ValueError, "Dimension 1 in both shapes must be equal, but are 3 and 5")],
    ),
    OpCase(
        "FakeQuantWithMinMaxArgsGradient",
        [np.float32([2, 3]), np.float32([np.nan, 1])],
        np.float32([0, 3]),
        label="NaN",
    ),
    OpCase("FakeQuantWithMinMaxVars", [X, np.float32(-1.3), np.float32(2.9)], SHIFTED, errors=BITS),
    OpCase("FakeQuantWithMinMaxVars", [X, np.float32(0), np.float32(0)], np.zeros_like(X), label="nothing"),
    OpCase(
        "FakeQuantWithMinMaxVarsGradient",
        [GRAD, X, np.float32(0), np.float32(0)],
        [GRAD, np.float32(0), np.float32(0)],
        label="nothing",
    ),
    OpCase("FakeQuantWithMinMaxVars", [X, ONE, ONE], np.full_like(X, np.nan), label="no step"),
    OpCase("FakeQuantWithMinMaxVars", [X, 3 * ONE, ONE], np.full_like(X, 2), label="the wrong way round"),
    OpCase(
        "FakeQuantWithMinMaxVarsGradient",
        [GRAD, X, ONE, ONE],
        [GRAD * (X == 0), np.float32(10), np.float32(51)],
        label="no step",
    ),
    OpCase(
        "FakeQuantWithMinMaxVarsPerChannel",
        [BOTH, *LIMITS],
        CHANNELS,
        attrs={"num_bits": 4},
        errors=[Error([(5, 2), (1,), (1,)], ValueError, "Dimensions must be equal, but are 2 and 1")],
    ),
    OpCase("FakeQuantWithMinMaxVarsPerChannelGradient", [GRADS, BOTH, *LIMITS], CHANNEL_GRADS, attrs={"num_bits": 4}),
]
test_rows = op_tests(CASES)


@pytest.mark.parametrize(
    ("sizes", "text"),
    [((1, 2, 11), "min has incorrect size"), ((2, 1, 11), "max has incorrect size"), ((2, 2, 5), "must be the same size")],
)
def test_sizes_that_only_the_run_knows(sizes: tuple[int, ...], text: str) -> None:
    channels, rows = sizes[:2], sizes[2]
    limits = [tf.placeholder_with_default(np.ones(size, np.float32), None) for size in channels]
    grads = tf.placeholder_with_default(GRADS[:rows], None)
    function = tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match=text):
        session.run(function(grads, BOTH, *limits))


def test_gradients_of_the_functions() -> None:
    x, limits = tf.constant(BOTH), [tf.constant(limit) for limit in LIMITS]
    y = tf.quantization.fake_quant_with_min_max_vars_per_channel(x, *limits, num_bits=4)
    single = tf.fake_quant_with_min_max_vars(X, -1.3, 2.9)
    plain = tf.quantization.fake_quant_with_min_max_args(X)
    with tf.Session() as session:
        for actual, wanted in zip(session.run(tf.gradients(y, [x, *limits], GRADS)), CHANNEL_GRADS, strict=True):
            np.testing.assert_array_equal(actual, wanted)
        np.testing.assert_allclose(session.run(single), SHIFTED, rtol=1e-5)
        np.testing.assert_allclose(session.run(plain), ROUNDED, rtol=1e-5)


def test_between_two_levels() -> None:
    halfway = np.float32([2])  # 170.5 steps above the lowest level, where limits are -6 and 6
    with tf.Session() as session:
        assert session.run(tf.quantization.fake_quant_with_min_max_args(halfway)) == pytest.approx(
            171 * 12 / 255 - 6.0235295
        )
        assert session.run(tf.fake_quant_with_min_max_vars(halfway, -6, 6)) == pytest.approx(170 * 12 / 255 - 6.0235295)
