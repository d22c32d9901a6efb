"""Rows of quantisation; the figures are TensorFlow's. tests/golden/programs/quantization.py has more of them."""

from __future__ import annotations

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

X = np.float32([-1.3, -0.5, 0, 0.3, 0.77, 2.5, 4])
LOW, HIGH = np.float32(-1), np.float32(3)
BYTES = np.uint8([0, 32, 64, 83, 113, 223, 255])
BACK = np.float32([-1, -0.49803919, 0.00392163, 0.30196083, 0.77254915, 2.49803948, 3])
ROWS = np.float32([[-1.3, -0.5, 0], [0.3, 0.77, 2.5]])
EVEN = {"T": tf.quint8, "round_mode": "HALF_TO_EVEN"}
CASES = [
    OpCase(
        "QuantizeV2",
        [X, LOW, HIGH],
        [BYTES, LOW, HIGH],
        attrs={"T": tf.quint8},
        errors=[
            Error([X, LOW, HIGH], InvalidArgumentError, "only supported for mode 'SCALED'", EVEN),
            Error([X, HIGH, LOW], InvalidArgumentError, "must not be above", {"T": tf.quint8}),
            Error([X, np.float32([-1, -1]), HIGH], InvalidArgumentError, "must be scalars, got", {"T": tf.quint8}),
            Error([(7,), (2,), ()], ValueError, "Shape must be rank 0 but is rank 1", {"T": tf.quint8}),
        ],
    ),
    OpCase(
        "QuantizeV2",
        [X, LOW, HIGH],
        [np.int32([-930576256, -357913952, 0, 214748384, 551187456, 1789569792, -(2**31)]), -HIGH, HIGH],
        attrs={"T": tf.qint32, "mode": "SCALED"},
        label="too large for its integers",
    ),
    OpCase(
        "QuantizeV2",
        [ROWS, np.float32([-1, 0]), np.float32([3, 1])],
        [np.uint8([[0, 32, 64], [77, 196, 255]]), np.float32([-1, 0]), np.float32([3, 1])],
        attrs={"T": tf.quint8, "axis": 0},
        label="by rows",
        errors=[Error([ROWS, X, X + 1], InvalidArgumentError, "must be vectors of 2 elements", {"T": tf.quint8, "axis": 0})],
    ),
    OpCase("QuantizeAndDequantizeV2", [X[:0], LOW, LOW], X[:0], label="empty"),
    OpCase("QuantizeAndDequantizeV2", [X, LOW, LOW], np.round(X * 31.75) / np.float32(31.75)),
    OpCase(
        "QuantizeAndDequantizeV2",
        [X, LOW, HIGH],
        np.float32([-1.2992126, -0.496063, 0, 0.30708662, 0.77952754, 2.503937, 3]),
        attrs={"range_given": True},
        label="between limits",
        errors=[
            Error([X, HIGH, LOW], InvalidArgumentError, "Invalid range", {"range_given": True}),
            Error([X, LOW, HIGH], InvalidArgumentError, "num_bits is out of range: 0", {"num_bits": 0}),
        ],
    ),
    OpCase(
        "QuantizeAndDequantizeV3",
        [np.float32([-1.3, 0.3, 2, 5]), LOW, HIGH, np.int32(5)],
        np.float32([-1.2, 0.4, 2, 3]),
        errors=[
            Error([X, LOW, HIGH, np.int32(0)], InvalidArgumentError, "num_bits is out of range: 0"),
            Error([X, LOW, HIGH, np.int32([1, 2])], ValueError, "Shape must be rank 0 but is rank 1"),
        ],
    ),
    OpCase(
        "QuantizeAndDequantizeV3",
        [np.float32([-1.3, 0.3, 2, 5]), LOW, HIGH, np.int32(8)],
        np.float32([-1.2941177, 0.29411766, 2, 5]),
        {"range_given": False, "signed_input": False},
        label="its own range",
    ),
]
test_rows = op_tests(CASES)


def test_quantised_numbers_come_back() -> None:
    with tf.Session() as session:
        numbers, low, high = tf.quantize(X, -1.0, 3.0, tf.quint8)
        np.testing.assert_allclose(session.run(tf.dequantize(numbers, low, high)), BACK, rtol=1e-6)
