"""Activations, initializers, regularizers and constraints, by name and by configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.graph.graph import Graph
from tfexp.keras import activations, constraints, initializers, regularizers, serialization
from tfexp.keras import backend as K

W = np.random.RandomState(3).randn(3, 5)


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with Graph().as_default():
        yield


def _class_and_config(thing: Any) -> tuple[str, dict[str, Any]]:
    described = serialization.serialize_keras_object(thing)
    return described["class_name"], described["config"]


SMALL = {"minval": -0.05, "maxval": 0.05, "seed": None, "dtype": "float32"}
NORMAL = {"mean": 0.0, "stddev": 0.05, "seed": None, "dtype": "float32"}


@pytest.mark.parametrize(
    ("name", "class_name", "config"),
    [
        ("zeros", "Zeros", {"dtype": "float32"}),
        ("one", "Ones", {"dtype": "float32"}),
        ("constant", "Constant", {"value": 0, "dtype": "float32"}),
        ("uniform", "RandomUniform", SMALL),
        ("RandomUniform", "RandomUniform", SMALL),
        ("normal", "RandomNormal", NORMAL),
        ("truncated_normal", "TruncatedNormal", NORMAL),
        ("glorot_uniform", "GlorotUniform", {"seed": None, "dtype": "float32"}),
        ("orthogonal", "Orthogonal", {"gain": 1.0, "seed": None, "dtype": "float32"}),
        ("identity", "Identity", {"gain": 1.0, "dtype": "float32"}),
    ],
)
def test_initializers_of_names(name: str, class_name: str, config: dict[str, Any]) -> None:
    found = initializers.get(name)
    assert _class_and_config(found) == (class_name, config)
    again = initializers.deserialize(initializers.serialize(found))
    assert type(again) is type(found)


@pytest.mark.parametrize(
    ("name", "scale", "distribution"), [("he_normal", 2.0, "truncated_normal"), ("lecun_uniform", 1.0, "uniform")]
)
def test_initializers_of_fans(name: str, scale: float, distribution: str) -> None:
    class_name, config = _class_and_config(initializers.get(name))
    assert class_name == "VarianceScaling"
    assert (config["scale"], config["mode"], config["distribution"]) == (scale, "fan_in", distribution)


def test_initializers_of_other_things() -> None:
    made = initializers.get({"class_name": "Constant", "config": {"value": 3}})
    assert K.eval(made((2,))).tolist() == [3, 3]
    assert isinstance(initializers.get(tf.ones_initializer), initializers.Ones)
    assert initializers.get(np.ones) is np.ones
    assert initializers.get(None) is None
    with pytest.raises(ValueError, match="Could not interpret initializer identifier: 3"):
        initializers.get(3)
    with pytest.raises(ValueError, match="Unknown initializer:nope"):
        initializers.get("nope")
    with pytest.raises(ValueError, match="Improper config format"):
        initializers.get({"class_nam": "Constant"})


def test_small_numbers_by_default() -> None:
    uniform, normal = (
        K.eval(initializers.RandomUniform(seed=1)((50, 50))),
        K.eval(initializers.RandomNormal(seed=1)((50, 50))),
    )
    assert 0.04 < np.abs(uniform).max() < 0.05
    assert 0.045 < normal.std() < 0.055


@pytest.mark.parametrize(
    ("name", "config", "penalty"),
    [
        ("l1", {"l1": 0.009999999776482582, "l2": 0.0}, 0.01 * np.abs(W).sum()),
        ("l2", {"l1": 0.0, "l2": 0.009999999776482582}, 0.01 * (W**2).sum()),
        ("l1_l2", {"l1": 0.009999999776482582, "l2": 0.009999999776482582}, 0.01 * (np.abs(W) + W**2).sum()),
        ("L1L2", {"l1": 0.0, "l2": 0.0}, 0.0),
    ],
)
def test_regularizers(name: str, config: dict[str, float], penalty: float) -> None:
    found = regularizers.get(name)
    assert _class_and_config(found) == ("L1L2", config)
    np.testing.assert_allclose(K.eval(found(K.constant(W))), penalty, rtol=1e-5)
    np.testing.assert_allclose(K.eval(found(K.variable(W))), penalty, rtol=1e-5)


def test_regularizers_of_other_things() -> None:
    assert regularizers.get({"class_name": "L1L2", "config": {"l1": 0.5}}).l1 == 0.5
    assert regularizers.get(np.sum) is np.sum
    assert regularizers.get(None) is None
    with pytest.raises(ValueError, match="Could not interpret regularizer identifier: 3"):
        regularizers.get(3)


NORMS = np.sqrt((W**2).sum(0, keepdims=True))


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (constraints.MaxNorm(1.5), W * np.minimum(NORMS, 1.5) / NORMS),
        (constraints.MaxNorm(0.5, axis=1), W * 0.5 / np.sqrt((W**2).sum(1, keepdims=True))),
        (constraints.NonNeg(), np.maximum(W, 0)),
        (constraints.UnitNorm(), W / NORMS),
        (constraints.MinMaxNorm(1.0, 1.5, rate=0.5), W * (0.5 * np.clip(NORMS, 1.0, 1.5) + 0.5 * NORMS) / NORMS),
    ],
)
def test_constraints(constraint: Any, expected: Any) -> None:
    np.testing.assert_allclose(K.eval(constraint(K.constant(W))), expected, rtol=1e-5, atol=1e-6)
    again = constraints.get(constraints.serialize(constraint))
    assert again.get_config() == constraint.get_config()


@pytest.mark.parametrize(("size", "rings"), [(3, [0, 4]), (4, [5, 15]), (5, [6, 12, 18])])
def test_radial_constraint(size: int, rings: list[int]) -> None:
    """Which element each ring takes, from the middle out, as TensorFlow has said."""
    kernel = np.arange(size * size * 6.0).reshape(size, size, 2, 3)
    made = K.eval(constraints.RadialConstraint()(K.constant(kernel)))
    places = kernel.reshape(size * size, 2, 3)
    for row in range(size):
        for column in range(size):
            ring = int(max(abs(row - (size - 1) / 2), abs(column - (size - 1) / 2)))
            np.testing.assert_array_equal(made[row, column], places[rings[ring]])
    with pytest.raises(ValueError, match="must be of rank 4"):
        constraints.RadialConstraint()(K.constant(W))


@pytest.mark.parametrize(
    "name", ["max_norm", "maxnorm", "MaxNorm", "non_neg", "nonneg", "unit_norm", "min_max_norm", "radial_constraint"]
)
def test_constraints_of_names(name: str) -> None:
    assert isinstance(constraints.get(name), constraints.Constraint)


def test_constraints_of_other_things() -> None:
    assert constraints.get(None) is None
    assert constraints.get(abs) is abs
    with pytest.raises(ValueError, match="Could not interpret constraint identifier: 3"):
        constraints.get(3)
    with pytest.raises(ValueError, match="Unknown constraint:nope"):
        constraints.get("nope")


X = np.array([[-2.0, -0.3, 0.0, 0.7, 3.0]])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("elu", np.where(X > 0, X, np.exp(X) - 1)),
        ("exponential", np.exp(X)),
        ("hard_sigmoid", np.clip(0.2 * X + 0.5, 0, 1)),
        ("linear", X),
        ("relu", np.maximum(X, 0)),
        ("selu", 1.0507009873554805 * np.where(X > 0, X, 1.6732632423543772 * (np.exp(X) - 1))),
        ("sigmoid", 1 / (1 + np.exp(-X))),
        ("softmax", np.exp(X) / np.exp(X).sum()),
        ("softplus", np.log1p(np.exp(X))),
        ("softsign", X / (1 + np.abs(X))),
        ("tanh", np.tanh(X)),
    ],
)
def test_activations(name: str, expected: Any) -> None:
    function = activations.get(name)
    np.testing.assert_allclose(K.eval(function(K.constant(X))), expected, rtol=1e-5)
    assert activations.serialize(function) == name


def test_softmax_of_more_axes() -> None:
    x = np.random.RandomState(0).rand(2, 3, 4)
    np.testing.assert_allclose(K.eval(activations.softmax(K.constant(x), axis=1)).sum(1), np.ones((2, 4)), rtol=1e-5)
    with pytest.raises(ValueError, match="Cannot apply softmax to a tensor that is 1D"):
        activations.softmax(K.constant([1.0, 2.0]))
    # Of a matrix it is of the rows, whatever is asked for.
    np.testing.assert_allclose(K.eval(activations.softmax(K.constant(x[0]), axis=0)).sum(1), np.ones(3), rtol=1e-5)


def test_activations_of_other_things() -> None:
    assert activations.get(None) is activations.linear
    assert activations.get(tf.nn.relu) is tf.nn.relu
    assert activations.serialize(tf.nn.relu) == "relu"
    with pytest.raises(ValueError, match="Unknown activation function:reduce_sum"):
        activations.get("reduce_sum")  # which the module imports
    with pytest.raises(TypeError, match="Could not interpret activation function identifier: 3"):
        activations.get(3)
    with pytest.raises(ValueError, match="Unknown activation function:nope"):
        activations.get("nope")


def _twice(x: Any) -> Any:
    return x * 2


def test_custom_objects() -> None:
    with serialization.custom_object_scope({"twice": _twice}, {"Own": constraints.NonNeg}):
        assert activations.get("twice") is _twice
        assert isinstance(constraints.get("Own"), constraints.NonNeg)
        assert "twice" in serialization.get_custom_objects()
    with pytest.raises(ValueError, match="Unknown activation function:twice"):
        activations.get("twice")
    assert activations.deserialize("twice", {"twice": _twice}) is _twice
    serialization.get_custom_objects()["twice"] = _twice
    assert activations.get("twice") is _twice
    serialization.get_custom_objects().clear()


def test_serializing() -> None:
    assert serialization.serialize_keras_object(None) is None
    assert serialization.serialize_keras_object(_twice) == "_twice"
    with pytest.raises(ValueError, match="Cannot serialize 3"):
        serialization.serialize_keras_object(3)
    with pytest.raises(ValueError, match="Could not interpret serialized thing: 3"):
        serialization.deserialize_keras_object(3, printable_module_name="thing")
    assert serialization.deserialize_keras_object({"class_name": "f", "config": {"x": 4}}, {"f": _twice}) == 8
