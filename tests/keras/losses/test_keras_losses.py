"""Keras's losses: TensorFlow's values, and what objects and names are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.losses.loss_cases import CASES, RECORDING, key, losses
from tfexp.runtime.eager import eager_mode

RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))


@pytest.mark.parametrize("number", range(len(CASES)), ids=key)
def test_values_are_tensorflow_s(number: int) -> None:
    found, wanted = losses(tf, number), RECORDED[key(number)]
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


# --- objects and names --------------------------------------------------------------------------------------------------

keras_losses = tf.keras.losses
Y_TRUE, Y_PRED = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 0.5]])


def value_of(loss: Any) -> Any:
    with tf.Session() as session:
        return session.run(loss)


def test_values_at_once_in_eager_execution() -> None:
    with eager_mode():
        assert keras_losses.MeanSquaredError()([[1.0, 2.0]], [[2.0, 4.0]]).numpy() == 2.5
        assert keras_losses.Hinge()(np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]])).numpy() == 1.0
        loss = keras_losses.CategoricalCrossentropy()([[0.0, 1.0]], tf.nn.softmax([[1.0, 3.0]]))
        np.testing.assert_allclose(loss.numpy(), np.log1p(np.exp(-2.0)), rtol=1e-6)


@pytest.mark.parametrize("name", sorted({name for name, *_ in CASES}))
def test_configurations_come_back(name: str) -> None:
    made = getattr(keras_losses, name)(reduction="sum", name="mine")
    again = keras_losses.get(keras_losses.serialize(made))
    assert type(again) is type(made)
    assert again.get_config() == made.get_config()
    assert made.get_config()["reduction"] == "sum" and made.get_config()["name"] == "mine"


def test_configurations_say_arguments() -> None:
    assert keras_losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1).get_config() == {
        "reduction": "auto",
        "name": "binary_crossentropy",
        "from_logits": True,
        "label_smoothing": 0.1,
    }


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("mse", "mean_squared_error"),
        ("MAE", "mean_absolute_error"),
        ("kld", "kullback_leibler_divergence"),
        ("cosine_similarity", "cosine_proximity"),
        ("hinge", "hinge"),
    ],
)
def test_functions_by_name(name: str, function: str) -> None:
    found = keras_losses.get(name)
    assert found is getattr(keras_losses, function)
    assert keras_losses.serialize(found) == function


def test_what_get_hands_back() -> None:
    def mine(y_true: Any, y_pred: Any) -> Any:
        return y_pred

    assert keras_losses.get(None) is None
    assert keras_losses.get(mine) is mine
    assert isinstance(keras_losses.get("MeanSquaredError"), keras_losses.MeanSquaredError)
    with tf.keras.utils.custom_object_scope({"mine": mine}):
        assert keras_losses.get("mine") is mine
    with pytest.raises(ValueError, match="Unknown loss function:foo"):
        keras_losses.get("foo")
    with pytest.raises(ValueError, match="Could not interpret loss function identifier"):
        keras_losses.get(3)


def test_a_loss_of_one_s_own() -> None:
    class Product(keras_losses.Loss):  # type: ignore[name-defined,misc]
        def call(self, y_true: Any, y_pred: Any) -> Any:
            return tf.reduce_sum(y_true * y_pred, -1)

    assert value_of(Product()(Y_TRUE, Y_PRED)) == 0.75
    assert value_of(Product()(Y_TRUE, Y_PRED, sample_weight=[1.0, 2.0])) == 1.5
    assert Product(name="q").get_config() == {"reduction": "auto", "name": "q"}
    with pytest.raises(NotImplementedError, match="Must be implemented in subclasses"):
        keras_losses.Loss()(Y_TRUE, Y_PRED)


def test_losses_keep_their_type_and_a_scope() -> None:
    loss = keras_losses.MeanSquaredError()(tf.ones([2, 2], tf.float64), tf.zeros([2, 2], tf.float64))
    assert loss.dtype == tf.float64
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        assert keras_losses.MeanSquaredError()(np.float32(Y_TRUE), x).name == "mean_squared_error/weighted_loss/value:0"


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: keras_losses.MeanSquaredError(reduction="foo"), "Invalid Reduction Key foo"),
        (lambda: keras_losses.MeanSquaredError()(Y_TRUE, Y_PRED, sample_weight=[[1, 2]]), "dim|squeeze"),
        (lambda: keras_losses.MeanSquaredError()(Y_TRUE, Y_PRED, sample_weight=[1, 2, 3]), "must be equal, but are 2 and 3"),
    ],
)
def test_what_does_not_fit(build: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        build()
