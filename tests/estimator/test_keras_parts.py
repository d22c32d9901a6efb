"""Keras's layers, losses, optimizers and metrics in an Estimator's model function."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf

X = np.float32([[0.0], [1.0], [2.0], [3.0]])


def inputs() -> Any:
    return tf.data.Dataset.from_tensor_slices((X, 2.0 * X)).batch(2)


def model_fn(features: Any, labels: Any, mode: str) -> Any:
    predictions = tf.keras.layers.Dense(1, kernel_initializer="zeros")(features)
    loss = tf.keras.losses.MeanSquaredError()(labels, predictions)
    optimizer = tf.keras.optimizers.SGD(0.05)
    optimizer.iterations = tf.train.get_or_create_global_step()
    train = tf.group(*optimizer.get_updates(loss, tf.trainable_variables()))
    error = tf.keras.metrics.MeanAbsoluteError()
    error.update_state(labels, predictions)
    return tf.estimator.EstimatorSpec(mode, predictions, loss, train, {"error": error})


def test_an_estimator_of_keras_s_parts(tmp_path: Path) -> None:
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: inputs().repeat(40))
    result = estimator.evaluate(inputs)
    assert result["global_step"] == 80
    assert result["error"] < 0.5
    kernel, bias = estimator.get_variable_value("dense/kernel"), estimator.get_variable_value("dense/bias")
    wanted = np.abs(X @ kernel + bias - 2.0 * X).mean()
    assert result["error"] == pytest.approx(wanted, rel=1e-4)


def test_a_metric_that_has_taken_nothing() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=r'Please call update_state\(...\) on the "a" metric'):
        tf.estimator.EstimatorSpec("eval", loss=tf.constant(1.0), eval_metric_ops={"a": tf.keras.metrics.Mean()})
