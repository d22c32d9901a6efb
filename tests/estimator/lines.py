"""A model to estimate: the slope of a line through the origin, from rows that are on one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tfexp as tf

X = np.arange(10, dtype=np.float32)
Y = 2 * X


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> Any:
    slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
    made = features["x"] * slope
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": made, "next": made + 1})
    loss = tf.reduce_mean(tf.square(made - labels))
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    metrics = {"error": tf.metrics.mean_absolute_error(labels, made)}
    return tf.estimator.EstimatorSpec(mode, {"y": made}, loss, train_op, metrics)


def rows(epochs: int | None = None) -> Callable[[], Any]:
    return tf.estimator.inputs.numpy_input_fn({"x": X}, Y, batch_size=5, num_epochs=epochs, shuffle=False)


def line(folder: Any, **settings: Any) -> tf.estimator.Estimator:
    config = tf.estimator.RunConfig(model_dir=str(folder), **settings)
    return tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.01})


def receiver() -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
