"""Arithmetic on quantised numbers agrees with that on the floats they stand for; TensorFlow's integers are in
tests/golden/programs/quantized.py."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError

RANDOM = np.random.RandomState(5)


def quantised(values):
    """(integers, lower limit, upper limit) of floats."""
    return tf.quantize(values, float(values.min()), float(values.max()), tf.quint8, mode="MIN_FIRST")


def floats(numbers, low, high):
    """What a result of 32 bits stands for, by way of 8 bits."""
    used = tf.raw_ops.RequantizationRange(input=numbers, input_min=low, input_max=high)
    fewer = tf.raw_ops.Requantize(
        input=numbers,
        input_min=low,
        input_max=high,
        requested_output_min=used[0],
        requested_output_max=used[1],
        out_type=tf.quint8,
    )
    return tf.dequantize(*fewer, mode="MIN_FIRST")


def assert_near(actual, expected, steps=5):
    """Within a few of the steps that 8 bits can tell apart."""
    np.testing.assert_allclose(actual, expected, atol=steps / 255 * np.ptp(expected))


def test_a_layer_of_eight_bits():
    x, weights = RANDOM.normal(size=(7, 11)).astype(np.float32), RANDOM.normal(size=(11, 5)).astype(np.float32)
    bias = RANDOM.normal(size=5).astype(np.float32)
    with tf.Session() as session:
        (a, *limits_a), (b, *limits_b), (c, *limits_c) = map(quantised, (x, weights, bias))
        product = tf.raw_ops.QuantizedMatMul(
            a=a, b=b, min_a=limits_a[0], max_a=limits_a[1], min_b=limits_b[0], max_b=limits_b[1]
        )
        assert_near(session.run(floats(*product)), x @ weights)
        fewer = tf.raw_ops.QuantizeDownAndShrinkRange(
            input=product[0], input_min=product[1], input_max=product[2], out_type=tf.quint8
        )
        added = tf.raw_ops.QuantizedBiasAdd(
            input=fewer[0],
            bias=c,
            min_input=fewer[1],
            max_input=fewer[2],
            min_bias=limits_c[0],
            max_bias=limits_c[1],
            out_type=tf.qint32,
        )
        layer = x @ weights + bias
        assert_near(session.run(floats(*added)), layer)
        small = tf.raw_ops.QuantizeDownAndShrinkRange(
            input=added[0], input_min=added[1], input_max=added[2], out_type=tf.quint8
        )
        limited = tf.nn.quantized_relu_x(small[0], 2.5, small[1], small[2])
        assert_near(session.run(tf.dequantize(*limited, mode="MIN_FIRST")), np.clip(layer, 0, 2.5), steps=9)


def test_a_convolution_of_eight_bits():
    x, filters = RANDOM.normal(size=(2, 5, 7, 3)).astype(np.float32), RANDOM.normal(size=(2, 3, 3, 5)).astype(np.float32)
    with tf.Session() as session:
        (a, *limits_a), (b, *limits_b) = map(quantised, (x, filters))
        made = tf.nn.quantized_conv2d(a, b, *limits_a, *limits_b, strides=[1, 1, 1, 1], padding="SAME")
        expected = session.run(tf.nn.conv2d(x, filters, strides=1, padding="SAME"))
        assert made[0].shape == expected.shape
        assert_near(session.run(floats(*made)), expected)


def test_empty_numbers_have_a_range():
    numbers = tf.bitcast(tf.zeros([0], tf.int32), tf.qint32)
    with tf.Session() as session:
        used = tf.raw_ops.RequantizationRange(input=numbers, input_min=-1.0, input_max=1.0)
        assert session.run(list(used)) == [0, 0]


def bytes_of(*shape):
    return tf.bitcast(tf.zeros(shape, tf.uint8), tf.quint8)


def test_shapes_that_do_not_fit_are_refused_when_the_node_is_made():
    raw = tf.raw_ops
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        raw.QuantizedRelu(features=bytes_of(3), min_features=[0.0], max_features=1.0)
    with pytest.raises(ValueError, match="must be equal, but are 3 and 2"):
        raw.QuantizedBiasAdd(
            input=bytes_of(5, 3), bias=bytes_of(2), min_input=0, max_input=1, min_bias=0, max_bias=1, out_type=tf.qint32
        )
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 2"):
        raw.QuantizedMatMul(a=bytes_of(5, 3), b=bytes_of(2, 7), min_a=0, max_a=1, min_b=0, max_b=1)


def test_limits_out_of_order_are_refused():
    with tf.Session() as session:
        made = tf.raw_ops.QuantizedRelu(features=bytes_of(3), min_features=1.0, max_features=-1.0)
        with pytest.raises(InvalidArgumentError, match=r"min_features must not be above max_features, got 1.0 and -1.0"):
            session.run(made.activations)


def test_no_limit_on_a_scale_without_length() -> None:
    with tf.Session() as session:
        relu = tf.raw_ops.QuantizedRelu(features=tf.constant([0, 7], tf.quint8), min_features=0.0, max_features=0.0)
        assert [part.tolist() for part in session.run(relu)] == [[0, 7], 0.0, 0.0]


def test_limits_that_are_fed_are_handed_on() -> None:
    image = np.arange(16, dtype=np.uint8).reshape(1, 4, 4, 1)
    integers = tf.placeholder(tf.quint8)
    low, high = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    windows = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    results = [
        tf.raw_ops.QuantizedMaxPool(input=integers, min_input=low, max_input=high, **windows),
        tf.raw_ops.QuantizedAvgPool(input=integers, min_input=low, max_input=high, **windows),
        tf.raw_ops.QuantizedRelu(features=integers, min_features=low, max_features=high),
        tf.raw_ops.QuantizedResizeBilinear(images=integers, size=[4, 4], min=low, max=high),
    ]
    with tf.Session() as session:
        for _, its_low, its_high in session.run(results, {integers: image, low: 0.0, high: 6.0}):
            assert (its_low, its_high) == (0.0, 6.0)
