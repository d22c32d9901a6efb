"""Models as scikit-learn's estimators."""

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.api import keras

X = np.random.RandomState(1).rand(20, 3).astype("float32")
LABELS = np.array(["no", "yes"])[(X[:, 0] > X[:, 1]).astype(int)]


@pytest.fixture(autouse=True)
def session() -> Any:
    keras.backend.clear_session()
    tf.set_random_seed(0)
    np.random.seed(0)
    yield
    keras.backend.clear_session()


def classifier(hidden: int = 8, loss: str = "categorical_crossentropy") -> Any:
    softmax = loss == "categorical_crossentropy"
    last = keras.layers.Dense(2 if softmax else 1, activation="softmax" if softmax else "sigmoid")
    model = keras.Sequential([keras.layers.Dense(hidden, activation="relu", input_shape=(3,)), last])
    model.compile(keras.optimizers.Adam(0.1), loss, metrics=["accuracy"])
    return model


@pytest.mark.parametrize("loss", ["categorical_crossentropy", "binary_crossentropy"])
def test_a_classifier_says_the_labels(loss: str) -> None:
    found = keras.wrappers.scikit_learn.KerasClassifier(classifier, loss=loss, epochs=40, verbose=0)
    history = found.fit(X, LABELS, batch_size=20)
    assert len(history.history["loss"]) == 40
    assert (found.classes_.tolist(), found.n_classes_) == (["no", "yes"], 2)
    assert np.mean(found.predict(X).reshape(-1) == LABELS) > 0.85
    assert found.score(X, LABELS) > 0.85
    probabilities = found.predict_proba(X)
    assert probabilities.shape == (20, 2)
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)


def test_a_regressor_in_a_search() -> None:
    def build(units: int) -> Any:
        layers = [keras.layers.Dense(units, input_shape=(3,)), keras.layers.Dense(1)]
        model = keras.Sequential(layers)
        model.compile(keras.optimizers.SGD(0.1), "mse")
        return model

    found = keras.wrappers.scikit_learn.KerasRegressor(build, units=2, epochs=30, verbose=0)
    y = X.sum(1)
    scores = []
    halves = slice(10), slice(10, None)
    for train, test in (halves, halves[::-1]):
        found.set_params(units=4).fit(X[train], y[train])
        scores.append(found.score(X[test], y[test]))
    assert found.predict(X).shape == (20,) and found.get_params()["units"] == 4
    assert max(scores) <= 0 and min(scores) > -0.2


def test_parameters_that_nothing_takes() -> None:
    wrapper = keras.wrappers.scikit_learn.KerasClassifier
    with pytest.raises(ValueError, match="nonsense is not a legal parameter"):
        wrapper(classifier, nonsense=1)
    with pytest.raises(ValueError, match="Invalid shape for y"):
        wrapper(classifier).fit(X, np.zeros((20, 1, 1)))

    def plain() -> Any:
        model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,))])
        model.compile("sgd", "mse")
        return model

    found = wrapper(plain, verbose=0)
    found.fit(X, LABELS)
    with pytest.raises(ValueError, match="not configured to compute accuracy"):
        found.score(X, LABELS)


class ByCall(keras.wrappers.scikit_learn.KerasClassifier):
    def __call__(self, hidden: int) -> Any:
        return classifier(hidden)


def test_a_subclass_builds_by_its_call() -> None:
    found = ByCall(hidden=2, verbose=0)
    found.fit(X, np.eye(2)[[0, 1] * 10])
    assert found.classes_.tolist() == [0, 1] and found.model.layers[0].units == 2
