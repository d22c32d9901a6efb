"""Models that are made already."""

from typing import Any

import numpy as np
import pytest

from tfexp.api import keras

X = np.random.RandomState(1).rand(8, 3).astype("float32")
Z = np.random.RandomState(2).rand(8, 2).astype("float32")
Y = (X.sum(1) - Z.sum(1) > 0.5).astype("float32")[:, np.newaxis]


@pytest.fixture(autouse=True)
def session() -> Any:
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def test_a_linear_model_adds_its_inputs() -> None:
    for inputs, parts in (([X, Z], [X, Z]), ({"z": Z, "a": X}, [X, Z]), (X, [X])):
        model = keras.experimental.LinearModel(units=2, bias_initializer="ones", activation="tanh")
        found = model.predict(inputs)
        *kernels, bias = (keras.backend.get_value(v) for v in [*(d.kernel for d in model.dense_layers), model.bias])
        wanted = np.tanh(sum(part @ kernel for part, kernel in zip(parts, kernels, strict=True)) + bias)
        np.testing.assert_allclose(found, wanted, rtol=1e-5)
        assert np.all(bias == 1) and len(model.weights) == len(parts) + 1
    assert [layer.name for layer in model.dense_layers] == ["dense_2"]


def test_a_linear_model_learns_and_is_described() -> None:
    model = keras.experimental.LinearModel(use_bias=False, kernel_regularizer="l2")
    model.compile(keras.optimizers.SGD(0.2), "mse")
    losses = model.fit(X, X @ [[1.0], [2.0], [-1.0]], epochs=20, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2
    again = keras.experimental.LinearModel.from_config(model.get_config())
    assert again.get_config() == model.get_config()


def test_wide_and_deep_are_added() -> None:
    linear = keras.experimental.LinearModel()
    deep = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
    model = keras.experimental.WideDeepModel(linear, deep, activation="sigmoid")
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit([X, Z], Y, verbose=0)
    wanted = 1 / (1 + np.exp(-(linear.predict(X) + deep.predict(Z))))
    np.testing.assert_allclose(model.predict([X, Z]), wanted, rtol=1e-5)
    again = keras.experimental.WideDeepModel.from_config(model.get_config())
    assert [layer.units for layer in again.dnn_model.layers] == [4, 1]
