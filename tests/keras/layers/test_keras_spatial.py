"""Layers of images, volumes and sequences beside TensorFlow's (spatial.json), and what they share in any layout."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.layers.spatial_cases import BATCH, CASES, REFUSED, wave
from tfexp.keras import backend, layers
from tfexp.runtime.eager import eager_mode

RECORDED = json.loads((Path(__file__).parent / "spatial.json").read_text())


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        backend.set_session(session)
        yield session
        backend.set_session(None)


def made(name: str, **more: Any) -> tuple[Any, tuple[int, ...]]:
    layer_class, arguments, example = CASES[name]
    return getattr(layers, layer_class)(name="layer", **{**arguments, **more}), (BATCH, *example)


def give_weights(layer: Any) -> None:
    layer.set_weights([wave(tuple(w.shape.as_list()), 0.7 + i) / 2 for i, w in enumerate(layer.weights)])


@pytest.mark.parametrize("name", CASES)
def test_as_tensorflow(session, name):
    layer, dims = made(name)
    x = tf.placeholder(tf.float32, dims)
    y = layer(x)
    give_weights(layer)
    out = wave(tuple(y.shape.as_list()), 1.3)
    slopes = tf.gradients(tf.reduce_sum(y * out), [x, *layer.trainable_weights])
    value, slopes = session.run([y, slopes], {x: wave(dims, 0.9)})
    wanted = RECORDED["cases"][name]
    np.testing.assert_allclose(np.vdot(value, out), wanted["value"], rtol=1e-4, atol=1e-4)
    products = [np.vdot(slope, wave(slope.shape, 1.1)) for slope in slopes]
    np.testing.assert_allclose(products, wanted["slopes"], rtol=1e-4, atol=1e-4)
    assert [[w.name, w.shape.as_list()] for w in layer.weights] == wanted["weights"]
    assert y.shape.as_list() == layer.compute_output_shape(dims).as_list() == wanted["output_shape"]
    config = json.loads(json.dumps(layer.get_config()))
    assert {key: value["class_name"] if isinstance(value, dict) else value for key, value in config.items()} == wanted[
        "config"
    ]
    assert json.loads(json.dumps(type(layer).from_config(config).get_config())) == config


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    layer_class, arguments, example = REFUSED[name]
    wanted, text = RECORDED["refused"][name]
    with pytest.raises({"ValueError": ValueError}[wanted], match=f"^{re.escape(text)}$"):
        getattr(layers, layer_class)(name="layer", **arguments)(tf.placeholder(tf.float32, [BATCH, *(example or ())]))


def channels_first(x: Any) -> Any:
    return np.moveaxis(x, -1, 1)


# Those without a layout, and those whose variables lie in it, too.
NOT_TURNED = ("UpSampling1D", "ZeroPadding1D", "Cropping1D", "LocallyConnected1D", "LocallyConnected2D")


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][0] not in NOT_TURNED])
def test_channels_first(session, name):
    x = wave((BATCH, *CASES[name][2]), 0.9)
    last, first = made(name)[0], made(name, data_format="channels_first")[0]
    y, z = last(tf.constant(x)), first(tf.constant(channels_first(x)))
    give_weights(last)
    give_weights(first)
    y, z = session.run([y, z])
    np.testing.assert_allclose(z, channels_first(y) if y.ndim > 2 else y, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["conv1d_causal", "conv2d_transpose_padded", "separable_conv2d", "max_pooling2d"])
def test_lengths_not_known(session, name):
    layer, dims = made(name)
    x = tf.placeholder(tf.float32, [None] * (len(dims) - 1) + [dims[-1]])
    y = layer(x)
    assert y.shape.as_list()[:-1] == [None] * (len(dims) - 1) == layer.compute_output_shape(x.shape).as_list()[:-1]
    give_weights(layer)
    value = session.run(y, {x: wave(dims, 0.9)})
    assert list(value.shape) == RECORDED["cases"][name]["output_shape"]


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("length", [3, None])
def test_a_mean_of_what_is_not_masked(session, data_format, length):
    x, mask = wave((2, 3, 5), 0.9), np.array([[True, True, False], [False, True, False]])
    fed = x if data_format == "channels_last" else channels_first(x)
    inputs = tf.placeholder(tf.float32, [None, length, 5] if data_format == "channels_last" else [None, 5, length])
    layer = layers.GlobalAveragePooling1D(data_format=data_format)
    y = session.run(layer(inputs, mask=tf.constant(mask)), {inputs: fed})
    np.testing.assert_allclose(y, [x[0, :2].mean(axis=0), x[1, 1]], rtol=1e-6)
    assert layer.compute_mask(inputs, tf.constant(mask)) is None


@pytest.mark.parametrize("implementation", [1, 2])
def test_local_filters_with_channels_first(session, implementation):
    x = wave((2, 7, 5, 3), 0.9)
    how = {"filters": 2, "kernel_size": (3, 2), "implementation": implementation}
    last, first = layers.LocallyConnected2D(**how), layers.LocallyConnected2D(**how, data_format="channels_first")
    y, z = last(tf.constant(x)), first(tf.constant(channels_first(x)))
    give_weights(last)
    kernel, bias = last.get_weights()
    if implementation == 1:  # a window's elements lie channel by channel
        kernel = kernel.reshape(20, 6, 3, 2).swapaxes(1, 2).reshape(20, 18, 2)
    else:
        kernel = np.moveaxis(kernel, (2, 5), (0, 3))
    # Of the bias the elements stay in the order in which they stand, whatever the layout.
    first.set_weights([kernel, np.moveaxis(bias, -1, 0).reshape(bias.shape)])
    y, z = session.run([y, z])
    np.testing.assert_allclose(z, channels_first(y), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["locally_connected1d_whole", "locally_connected2d_whole"])
def test_local_filters_of_any_implementation(session, name):
    """Where the whole map is cut to the windows' own filters, both ways of keeping them compute the same."""
    whole, dims = made(name, padding="valid", use_bias=False)
    by_window, _ = made(name, padding="valid", use_bias=False, implementation=1)
    x = tf.constant(wave(dims, 0.9))
    y, z = whole(x), by_window(x)
    give_weights(by_window)
    (windows,) = by_window.get_weights()
    kernel = np.zeros(whole.kernel.shape.as_list(), np.float32)
    lengths, size = y.shape.as_list()[1:-1], by_window.kernel_size
    filters = windows.reshape(*lengths, *size, dims[-1], -1)
    for at in np.ndindex(*lengths):
        into = tuple(slice(i, i + n) for i, n in zip(at, size, strict=True))
        kernel[(*into, slice(None), *at)] = filters[at]
    whole.set_weights([kernel])
    y, z = session.run([y, z])
    np.testing.assert_allclose(y, z, rtol=1e-5, atol=1e-6)


def test_dilated_transposition(session):
    """The transpose is the gradient of the convolution with the same windows."""
    x = tf.constant(wave((2, 5, 4, 3), 0.9))
    layer = layers.Conv2DTranspose(2, 3, dilation_rate=2, use_bias=False)
    y = layer(x)
    give_weights(layer)
    assert y.shape.as_list() == [2, 9, 8, 2]
    image = tf.constant(wave((2, 9, 8, 2), 1.3))
    forward = tf.nn.conv2d(image, layer.kernel, strides=1, padding="VALID", dilations=2)
    (wanted,) = tf.gradients(forward, image, x)
    np.testing.assert_allclose(*session.run([y, wanted]), rtol=1e-5, atol=1e-5)


def test_what_inputs_must_have():
    with pytest.raises(ValueError, match="expected ndim=4, found ndim=2"):
        layers.Conv2D(3, 3)(tf.placeholder(tf.float32, [2, 5]))
    with pytest.raises(ValueError, match="channel dimension of the inputs should be defined"):
        layers.Conv2D(3, 3)(tf.placeholder(tf.float32, [2, 5, 5, None]))
    with pytest.raises(ValueError, match="fully-defined"):
        layers.LocallyConnected1D(3, 3)(tf.placeholder(tf.float32, [2, None, 5]))
    with pytest.raises(ValueError, match='one of `"nearest"` or `"bilinear"`'):
        layers.UpSampling2D(interpolation="cubic")
    layer = layers.Conv2D(3, 3)
    layer(tf.placeholder(tf.float32, [2, 5, 5, 3]))
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 3"):
        layer(tf.placeholder(tf.float32, [2, 5, 5, 2]))


def test_names_and_regularizers():
    x = tf.placeholder(tf.float32, [2, 5, 5, 3])
    hidden = layers.Conv2D(3, 1)(x)
    layer = layers.Convolution2D(2, 3, activation="relu", kernel_regularizer="l2", bias_constraint="non_neg")
    y = layer(hidden)
    assert y.name == "conv2d_1/Relu:0" and y.op.inputs[0].name == "conv2d_1/BiasAdd:0"
    assert [w.name for w in layer.weights] == ["conv2d_1/kernel:0", "conv2d_1/bias:0"]
    assert len(layer.losses) == 1 and layer.bias.constraint is layer.bias_constraint


@pytest.mark.parametrize(
    "name", ["conv1d_causal", "conv2d_transpose_padded", "locally_connected2d", "up_sampling2d_bilinear"]
)
def test_eagerly(name):
    with eager_mode():
        layer, dims = made(name)
        y = layer(tf.constant(wave(dims, 0.9)))
        give_weights(layer)
        y = layer(tf.constant(wave(dims, 0.9))).numpy()
    np.testing.assert_allclose(np.vdot(y, wave(y.shape, 1.3)), RECORDED["cases"][name]["value"], rtol=1e-4)


@pytest.mark.parametrize("name", ["Conv2D", "Convolution2D", "MaxPool2D", "GlobalAvgPool3D"])
def test_found_by_name(name):
    config = {"filters": 2, "kernel_size": 3} if name.startswith("Conv") else {}
    assert type(layers.deserialize({"class_name": name, "config": config})) is getattr(layers, name)


def test_in_a_function():
    with eager_mode():
        convolve, pool, repeat = layers.Conv2D(2, 3), layers.MaxPool2D(), layers.UpSampling2D()
        local = layers.LocallyConnected2D(2, 2)

        def compute(x):
            return local(repeat(pool(convolve(x))))

        x = tf.constant(wave((2, 6, 6, 1), 0.9))
        in_function = tf.function(compute)
        np.testing.assert_allclose(in_function(x).numpy(), compute(x).numpy(), rtol=1e-5)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(in_function(x) ** 2)
        slopes = tape.gradient(loss, [*convolve.trainable_variables, *local.trainable_variables])
        assert [slope.shape.as_list() for slope in slopes] == [[3, 3, 1, 2], [2], [9, 8, 2], [3, 3, 2]]


def test_tf_layers_are_keras_layers(session):
    """One computation: with the same weights, and in a model like any other layer."""
    x = tf.keras.Input((7, 5, 3))
    for name in ("Conv2D", "Conv2DTranspose", "SeparableConv2D"):
        of_keras = getattr(layers, name)(2, 3, strides=2)
        of_tf = getattr(tf.layers, name)(2, 3, strides=2, name=f"tf_{name}")
        assert isinstance(of_tf, type(of_keras)) and isinstance(of_tf, tf.layers.Layer)
        model = tf.keras.Model(x, [of_keras(x), of_tf(x)])
        assert model.layers[-1] is of_tf
        give_weights(of_keras)
        give_weights(of_tf)
        y, z = session.run(model.outputs, {x: wave((2, 7, 5, 3), 0.9)})
        np.testing.assert_array_equal(y, z)
    assert isinstance(tf.layers.MaxPooling1D(2, 2), layers.MaxPooling1D)


@pytest.mark.parametrize(
    ("layer", "defaults"),
    [
        (tf.keras.layers.Conv1D, {"strides": 1, "data_format": "channels_last"}),
        (tf.keras.layers.Conv2D, {"strides": (1, 1), "dilation_rate": (1, 1), "data_format": None}),
        (tf.keras.layers.Conv3DTranspose, {"strides": (1, 1, 1)}),
        (tf.keras.layers.LocallyConnected2D, {"strides": (1, 1)}),
        (tf.keras.layers.AveragePooling3D, {"pool_size": (2, 2, 2), "strides": None}),
        (tf.keras.layers.Cropping2D, {"cropping": ((0, 0), (0, 0))}),
        (tf.layers.SeparableConv2D, {"strides": (1, 1), "data_format": "channels_last"}),
        (tf.layers.conv2d, {"strides": (1, 1), "dilation_rate": (1, 1), "use_bias": True}),
    ],
)
def test_defaults_are_one_for_each_dimension(layer, defaults):
    found = inspect.signature(layer).parameters
    assert {name: found[name].default for name in defaults} == defaults


def test_a_subclass_keeps_its_own_defaults():
    class Wide(tf.keras.layers.Conv2D):
        def __init__(self, filters, strides=3):
            super().__init__(filters, 2, strides)

    assert Wide(5).strides == (3, 3)
    assert tf.keras.layers.Conv2D(5, 2).dilation_rate == (1, 1)


def test_a_depthwise_convolution_is_called_depthwise():
    tf.keras.layers.DepthwiseConv2D(2, name="layer")(tf.zeros([1, 3, 3, 2]))
    assert tf.get_default_graph().get_operation_by_name("layer/depthwise").type == "DepthwiseConv2dNative"
