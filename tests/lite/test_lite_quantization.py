"""Weights in int8 and float16, and whole models in int8."""

import numpy as np
import pytest

import tfexp as tf
from tests.lite.lite_models import converted, random_values, run_model
from tfexp.formats.lite_model import read_model
from tfexp.lite.converter import ConverterError

pytest.importorskip("flatbuffers", reason="models in TensorFlow Lite's files need the extra `lite`")

SHAPE = (1, 8, 8, 8)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def network():
    """An input and output, with products that have large and small weights, and ops that keep scales and set them."""
    arrays = iter(random_values((3, 3, 8, 16), (9, 9, 16, 1), (1, 1, 16, 16), (32, 64), (64, 10), seed=7))
    x = tf.placeholder(tf.float32, SHAPE, name="x")
    h = tf.nn.relu(tf.nn.conv2d(x, next(arrays) * 0.3, 1, "SAME") + 0.25)
    h = tf.nn.relu6(tf.nn.depthwise_conv2d(h, next(arrays) * 0.1, [1, 1, 1, 1], "SAME"))
    h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    h = h + tf.nn.conv2d(h, next(arrays) * 0.3, 1, "SAME")
    h = tf.reduce_mean(tf.concat([h, tf.nn.avg_pool(h, [1, 3, 3, 1], [1, 1, 1, 1], "SAME")], 3), [1, 2])
    h = tf.nn.sigmoid(tf.matmul(h, next(arrays) * 0.3) * 2.0)
    return x, tf.nn.softmax(tf.matmul(h, next(arrays) * 0.3), name="y")


def examples():
    for seed in range(10):
        yield random_values(SHAPE, seed=seed)


def expected(x, y, value):
    with tf.Session() as session:
        return session.run(y, {x: value})


def tensor(model, name):
    (found,) = [tensor for tensor in model.tensors if tensor.name == name]
    return found


def test_large_weights_are_rounded():
    x, y = network()
    file = converted([x], [y], optimizations=[tf.lite.Optimize.DEFAULT])
    model = read_model(file)
    kinds = [tensor.type for tensor in model.tensors if tensor.data is not None and tensor.data.ndim > 1]
    assert sorted(kinds) == ["FLOAT32"] * 2 + ["INT8"] * 3  # those of 1024 elements and more
    versions = {step.op: step.version for step in model.operators if step.op != "ADD"}
    assert (versions["DEQUANTIZE"], versions["DEPTHWISE_CONV_2D"]) == (2, 1)  # its kernels take no weights in int8
    assert [step.version for step in model.operators if step.op == "FULLY_CONNECTED"] == [3, 1]
    (value,) = random_values(SHAPE, seed=100)
    np.testing.assert_allclose(run_model(file, value)[0], expected(x, y, value), atol=0.01)


def test_products_of_rounded_weights_are_of_whole_numbers():
    x = tf.placeholder(tf.float32, [2, 32])
    (weights,) = random_values((32, 32), seed=1)
    file = converted([x], [tf.matmul(x, weights)], post_training_quantize=True)
    (value,) = random_values((2, 32), seed=2)
    value[1] = 0
    scale = np.abs(weights).max() / 127
    step = np.abs(value[:1]).max() / 127
    rounded = np.round(value[:1] / step) @ np.round(weights / scale) * step * scale
    got = run_model(file, value)[0]
    np.testing.assert_allclose(got[:1], rounded, rtol=1e-5)
    assert not got[1].any()


def test_halves():
    x, y = network()
    settings = {"optimizations": [tf.lite.Optimize.DEFAULT], "target_spec": tf.lite.TargetSpec(supported_types=[tf.float16])}
    file = converted([x], [y], **settings)
    assert {tensor.type for tensor in read_model(file).tensors if tensor.data is not None} == {"FLOAT16", "INT32"}
    (value,) = random_values(SHAPE, seed=100)
    np.testing.assert_allclose(run_model(file, value)[0], expected(x, y, value), atol=0.01)


@pytest.mark.parametrize("outer", [tf.float32, tf.int8, tf.uint8])
def test_whole_models(outer):
    x, y = network()
    file = converted(
        [x],
        [y],
        optimizations=[tf.lite.Optimize.DEFAULT],
        representative_dataset=examples,
        target_ops={tf.lite.OpsSet.TFLITE_BUILTINS_INT8},
        inference_input_type=outer,
        inference_output_type=outer,
    )
    model = read_model(file)
    ends = [step.op for step in model.operators if step.op in ("QUANTIZE", "DEQUANTIZE")]
    assert ends == {tf.float32: ["QUANTIZE", "DEQUANTIZE"], tf.int8: [], tf.uint8: ["QUANTIZE"] * 2}[outer]
    (given,), (made,) = ([model.tensors[number] for number in numbers] for numbers in (model.inputs, model.outputs))
    assert given.dtype == made.dtype == outer.as_numpy_dtype
    (value,) = random_values(SHAPE, seed=100)
    stored, scale, zero_point = value, 1, 0
    if outer != tf.float32:
        assert made.quantization.scale == np.float32(1 / 256)
        limits = np.iinfo(given.dtype)
        places = np.round(value / given.quantization.scale + given.quantization.zero_point)
        stored = np.clip(places, limits.min, limits.max).astype(given.dtype)
        scale, zero_point = made.quantization.scale, made.quantization.zero_point
    got = scale * (run_model(file, stored)[0].astype(np.float32) - zero_point)
    np.testing.assert_allclose(got, expected(x, y, value), atol=0.03)


def test_scales():
    x = tf.placeholder(tf.float32, [1, 2], name="x")
    file = converted(
        [x],
        [tf.matmul(x, [[1.0, 2.0], [0.5, -4.0]], name="y") + tf.constant([0.5, -2.0])],
        optimizations=[tf.lite.Optimize.DEFAULT],
        representative_dataset=tf.lite.RepresentativeDataset(lambda: [[np.array([[-1, 4.1]], np.float32)]]),
    )
    model = read_model(file)
    given = tensor(model, "x_int8").quantization
    np.testing.assert_allclose(given.scale, [0.02])
    assert given.zero_point.tolist() == [-78]
    bias = tensor(model, "y_bias")
    np.testing.assert_allclose(bias.quantization.scale, [0.02 * 4 / 127], rtol=1e-6)
    assert bias.data.tolist() == [794, -3175] and bias.type == "INT32"


def test_ops_that_stay_real():
    x = tf.placeholder(tf.float32, [1, 2], name="x")
    y = tf.nn.relu(tf.exp(x * 2.0) - 1.0, name="y")
    settings = {"optimizations": [tf.lite.Optimize.DEFAULT], "representative_dataset": lambda: [random_values((1, 2))]}
    file = converted([x], [y], **settings)
    steps = [step.op for step in read_model(file).operators]
    assert steps == ["QUANTIZE", "MUL", "DEQUANTIZE", "EXP", "QUANTIZE", "SUB", "DEQUANTIZE"]
    (value,) = random_values((1, 2))
    np.testing.assert_allclose(run_model(file, value)[0], expected(x, y, value), atol=0.05)
    with pytest.raises(ConverterError, match="Quantization not yet supported for op: EXP"):
        converted([x], [y], **settings, target_ops={tf.lite.OpsSet.TFLITE_BUILTINS_INT8})


def test_the_largest_of_rounded_numbers():
    x = tf.placeholder(tf.float32, [2, 7], name="x")
    settings = {"representative_dataset": lambda: [random_values((2, 7), seed=3)]}
    file = converted([x], [tf.argmax(x, 1)], **settings, target_ops={tf.lite.OpsSet.TFLITE_BUILTINS_INT8})
    assert [step.op for step in read_model(file).operators] == ["QUANTIZE", "ARG_MAX"]
    (value,) = random_values((2, 7), seed=3)
    assert run_model(file, value)[0].tolist() == np.argmax(value, 1).tolist()


def test_without_examples():
    x = tf.placeholder(tf.float32, [1, 2])
    with pytest.raises(ValueError, match="it has no examples"):
        converted([x], [x * 2.0], optimizations=[tf.lite.Optimize.DEFAULT], representative_dataset=lambda: [])
