"""`tf.contrib.estimator`: features beside predictions."""

from __future__ import annotations

from typing import Any

import pytest

import tfexp as tf

NAMES = {"name": [b"first", b"second"], "x": [1.0, 2.0]}


def model_fn(features: Any, mode: str) -> Any:
    made = {"double": tf.multiply(features["x"], 2.0)}
    return tf.estimator.EstimatorSpec(mode, predictions=made)


def test_predictions_say_whose_they_are() -> None:
    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors(NAMES)

    model = tf.contrib.estimator.forward_features(tf.estimator.Estimator(model_fn), "name")
    assert list(model.predict(input_fn)) == [{"name": b"first", "double": 2.0}, {"name": b"second", "double": 4.0}]


def test_sparse_features_become_dense() -> None:
    def input_fn() -> Any:
        words = tf.SparseTensor([[0, 0], [1, 1]], ["a", "b"], [2, 2])
        return {"x": tf.constant([1.0, 2.0]), "words": words}

    model = tf.contrib.estimator.forward_features(tf.estimator.Estimator(model_fn), sparse_default_values={"words": "?"})
    predictions = model.predict(input_fn)
    assert next(predictions)["words"].tolist() == [b"a", b"?"]
    predictions.close()
    with pytest.raises(ValueError, match="The feature 'words' is sparse"):
        next(tf.contrib.estimator.forward_features(tf.estimator.Estimator(model_fn)).predict(input_fn))


@pytest.mark.parametrize(
    ("keys", "error", "message"),
    [
        ("other", ValueError, "There is no feature 'other': there are name, x, double"),
        ("double", ValueError, "Features and predictions have the same names: double"),
        ([3], TypeError, r"keys must be a text or a list of texts. Given: \[3\]"),
    ],
)
def test_what_cannot_be_beside_is_refused(keys: Any, error: type[Exception], message: str) -> None:
    def input_fn() -> Any:
        return tf.data.Dataset.from_tensors({**NAMES, "double": [0.0, 0.0]})

    with pytest.raises(error, match=message):
        next(tf.contrib.estimator.forward_features(tf.estimator.Estimator(model_fn), keys).predict(input_fn))
