"""Networks for images beside TensorFlow's (applications.json): layers, variables, what they compute, what they refuse."""

from __future__ import annotations

import json
import types
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tests.keras.applications.application_cases import NETWORKS, SMALL, digest, features_of, layers_of, variables_of
from tfexp.keras import backend
from tfexp.keras.applications import building, imagenet_utils

RECORDED = json.loads((Path(__file__).parent / "applications.json").read_text())
# Building all of them takes half a minute: `python -m tests.keras.applications.test_keras_applications` compares the others.
BUILT = ("VGG19", "ResNet50V2", "MobileNetV2", "Xception")
RUN = ("MobileNetV2",)


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        backend.set_session(session)
        yield session
        backend.set_session(None)


@pytest.mark.parametrize("name", BUILT)
def test_layers_and_variables_as_tensorflow(name):
    compare_structure(name)


def compare_structure(name):
    model, wanted = getattr(tf.keras.applications, name)(weights=None), RECORDED["networks"][name]
    assert model.name == wanted["name"]
    assert digest(layers_of(model)) == wanted["layer_digest"]
    assert digest(variables_of(model)) == wanted["variable_digest"]
    assert model.count_params() == wanted["parameters"]


@pytest.mark.parametrize("name", RUN)
def test_features_as_tensorflow(name):
    compare_features(name)


def compare_features(name):
    value = features_of(tf, getattr(tf.keras.applications, name), SMALL[name])
    np.testing.assert_allclose(value, RECORDED["features"][name], rtol=1e-3)


def test_every_network_is_recorded():
    assert set(RECORDED["networks"]) == set(NETWORKS) and set(RECORDED["features"]) == set(SMALL)
    for name in NETWORKS:
        assert callable(getattr(tf.keras.applications, name))


def test_channels_first():
    images = np.random.RandomState(0).rand(2, 32, 32, 3)
    last = tf.keras.applications.MobileNet((32, 32, 3), alpha=0.25, weights=None, classes=7)
    backend.set_image_data_format("channels_first")
    try:
        first = tf.keras.applications.MobileNet((3, 32, 32), alpha=0.25, weights=None, classes=7)
    finally:
        backend.set_image_data_format("channels_last")
    weights = last.get_weights()
    first.set_weights(weights)
    run = backend.get_session().run
    y = run(last.output, {last.input: images, backend.learning_phase(): 0})
    z = run(first.output, {first.input: np.moveaxis(images, -1, 1), backend.learning_phase(): 0})
    np.testing.assert_allclose(y, z, rtol=1e-4)
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-5)


def test_on_tensors_of_ones_own():
    x = tf.keras.layers.Input((32, 32, 1))
    three = tf.keras.layers.Conv2D(3, 1)(x)
    model = tf.keras.applications.VGG16(include_top=False, weights=None, input_tensor=three, pooling="max")
    assert model.inputs == [x] and model.output_shape == (None, 512)
    plain = tf.placeholder(tf.float32, [None, 32, 32, 3])
    assert tf.keras.applications.VGG16(include_top=False, weights=None, input_tensor=plain).inputs[0] is plain


class _OwnLayers:
    """Keras's, but for activations."""

    def __getattr__(self, name):
        return getattr(tf.keras.layers, name)

    def ReLU(self, top, name):
        return tf.keras.layers.LeakyReLU(name=f"own_{name}")


def test_layers_of_ones_own_and_odd_heights():
    odd = {"input_shape": (33, 32, 3), "weights": None, "include_top": False}
    network = tf.keras.applications.MobileNet(alpha=0.25, layers=_OwnLayers(), backend=None, models=None, utils=None, **odd)
    assert isinstance(network.get_layer("own_conv1_relu"), tf.keras.layers.LeakyReLU)
    assert network.get_layer("conv1").output_shape == (None, 16, 16, 8)  # padded below, not on both sides
    with pytest.raises(AttributeError, match="has no attribute 'Conv2D'"):
        tf.keras.applications.VGG16(layers=types.SimpleNamespace(Input=tf.keras.layers.Input), **odd)
    assert building.layers.Conv2D is tf.keras.layers.Conv2D


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"weights": "nowhere.h5"}, "path to the weights file"),
        ({"classes": 7}, "`classes` should be 1000"),
        ({"input_shape": (64, 64, 3)}, "`input_shape` should be"),
        ({"include_top": False, "input_shape": (64, 64, 1)}, "must have 3 channels"),
        ({"weights": None, "input_shape": (31, 64, 3)}, "at least 32x32"),
        ({"weights": None, "input_shape": (64, 64)}, "tuple of three integers"),
        ({"weights": None, "input_shape": (None, None, 3)}, "static `input_shape`"),
    ],
)
def test_what_is_refused(arguments, text):
    with pytest.raises(ValueError, match=text):
        tf.keras.applications.VGG16(**arguments)


@pytest.mark.parametrize(
    ("network", "arguments", "text"),
    [
        ("MobileNet", {"alpha": 0.3}, "alpha can be one of"),
        ("MobileNet", {"depth_multiplier": 2}, "depth multiplier must be 1"),
        ("MobileNetV2", {"alpha": 0.3}, "alpha must be one of"),
    ],
)
def test_widths_without_weights(network, arguments, text):
    with pytest.raises(ValueError, match=text):
        getattr(tf.keras.applications, network)(**arguments)


def test_names_tell_the_height_of_the_images():
    shape = (48, 32, 3)
    network = tf.keras.applications.MobileNet(shape, 0.25, include_top=False, weights=None)
    assert network.name == "mobilenet_0.25_48"


@pytest.mark.parametrize(
    ("network", "arguments", "file"),
    [
        ("MobileNet", {"alpha": 0.25, "input_shape": (160, 160, 3)}, "mobilenet/mobilenet_2_5_160_tf.h5"),
        ("VGG16", {"include_top": False}, "vgg16/vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5"),
    ],
)
def test_which_weights_are_loaded(monkeypatch, network, arguments, file):
    fetched, loaded = [], []

    def get_file(name, origin, cache_subdir, file_hash):
        fetched.append((name, origin, cache_subdir))
        return "here.h5"

    monkeypatch.setattr(building, "get_file", get_file)
    monkeypatch.setattr(building.Model, "load_weights", lambda self, path: loaded.append(path))
    getattr(tf.keras.applications, network)(**arguments)
    assert fetched == [
        (file.split("/")[1], f"https://storage.googleapis.com/tensorflow/keras-applications/{file}", "models")
    ]
    assert loaded == ["here.h5"]


X = np.arange(2 * 2 * 3 * 3, dtype=np.float32).reshape(2, 2, 3, 3) * 7


@pytest.mark.parametrize("mode", ["caffe", "tf", "torch"])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_images_as_networks_take_them(session, mode, data_format):
    turned = {"caffe": X[..., ::-1] - [103.939, 116.779, 123.68], "tf": X / 127.5 - 1}
    wanted = turned.get(mode, (X / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225])
    given = X
    if data_format == "channels_first":
        given, wanted = np.moveaxis(X, -1, 1), np.moveaxis(wanted, -1, 1)
    kept = given.copy()
    for x, y in ((given, wanted), (given.astype(np.uint8), wanted), (given[0], wanted[0])):
        np.testing.assert_allclose(imagenet_utils.preprocess_input(x, data_format, mode=mode), y, rtol=1e-4, atol=1e-4)
        tensor = imagenet_utils.preprocess_input(tf.constant(x), data_format, mode=mode)
        np.testing.assert_allclose(session.run(tensor), y, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(given, kept)
    with pytest.raises(ValueError, match="Expected mode"):
        imagenet_utils.preprocess_input(X, mode="theano")
    with pytest.raises(ValueError, match="Expected data_format"):
        imagenet_utils.preprocess_input(X, "NHWC")


def test_predictions_by_name(monkeypatch, tmp_path):
    index = {str(i): [f"n{i:08}", f"thing {i}"] for i in range(1000)}
    path = tmp_path / "index.json"
    path.write_text(json.dumps(index))
    monkeypatch.setattr(imagenet_utils, "get_file", lambda *args, **kwargs: str(path))
    imagenet_utils._class_index.cache_clear()
    predictions = np.zeros((2, 1000))
    predictions[0, [5, 7]], predictions[1, 9] = (0.25, 0.5), 1
    likeliest = tf.keras.applications.vgg16.decode_predictions(predictions, top=2)
    imagenet_utils._class_index.cache_clear()
    assert likeliest[0] == [("n00000007", "thing 7", 0.5), ("n00000005", "thing 5", 0.25)]
    assert likeliest[1][0] == ("n00000009", "thing 9", 1.0)
    with pytest.raises(ValueError, match="expects a batch of predictions"):
        imagenet_utils.decode_predictions(predictions[0])


if __name__ == "__main__":
    for compare, names in ((compare_structure, NETWORKS), (compare_features, SMALL)):
        for network in names:
            with tf.Graph().as_default(), tf.Session() as of_network:
                backend.set_session(of_network)
                compare(network)
                print(compare.__name__, network, "as TensorFlow", flush=True)
