"""Layers where ops run at once, inside `tf.function`, and in a graph that no Keras model knows of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import layers as L
from tfexp.runtime.eager import eager_mode

VALUES = np.random.RandomState(2).randn(13, 3, 5).astype(np.float32)

LAYERS: dict[str, Callable[[], Any]] = {
    "dense": lambda: L.Dense(2, activation="tanh"),
    "batch normalization": lambda: L.BatchNormalization(),
    "renormalization": lambda: L.BatchNormalization(renorm=True),
    "layer normalization": lambda: L.LayerNormalization(),
    "time": lambda: L.TimeDistributed(L.Dense(2)),
    "prelu": lambda: L.PReLU(),
    "lambda": lambda: L.Lambda(lambda x: x * 2),
    "reshape": lambda: L.Reshape((5, 3)),
    "flatten": lambda: L.Flatten(),
    "dropout": lambda: L.Dropout(0.5),
    "masking": lambda: L.Masking(),
}


@pytest.mark.parametrize("name", LAYERS)
def test_values_are_those_of_a_graph(name: str) -> None:
    with eager_mode():
        layer = LAYERS[name]()
        found = layer(VALUES)
        weights, inside = layer.get_weights(), tf.function(lambda x: layer(x))(tf.constant(VALUES))
        np.testing.assert_allclose(inside.numpy(), found.numpy(), rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        layer = LAYERS[name]()
        output = layer(tf.constant(VALUES))
        session.run(tf.global_variables_initializer())
        for variable, value in zip(layer.weights, weights, strict=True):
            variable.load(value, session)
        np.testing.assert_allclose(session.run(output), found.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("inside", [False, True])
def test_training_moves_the_averages_at_once(inside: bool) -> None:
    with eager_mode():
        layer = L.BatchNormalization(momentum=0.9)
        layer.build((None, 3, 5))
        trained = tf.function(lambda x: layer(x, training=True)) if inside else lambda x: layer(x, training=True)
        trained(tf.constant(VALUES))
        np.testing.assert_allclose(layer.moving_mean.numpy(), VALUES.mean((0, 1)) * 0.1, rtol=1e-4, atol=1e-7)
        layer(VALUES)
        np.testing.assert_allclose(layer.moving_mean.numpy(), VALUES.mean((0, 1)) * 0.1, rtol=1e-4, atol=1e-7)
        layer.trainable = False
        layer(VALUES, training=True)
        np.testing.assert_allclose(layer.moving_mean.numpy(), VALUES.mean((0, 1)) * 0.1, rtol=1e-4, atol=1e-7)


def test_a_tape_watches_the_weights() -> None:
    with eager_mode():
        layer = L.Dense(2)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(VALUES) ** 2)
        kernel, bias = tape.gradient(loss, layer.trainable_variables)
        flat, values = VALUES.reshape(-1, 5), layer(VALUES).numpy().reshape(-1, 2)
        np.testing.assert_allclose(kernel.numpy(), 2 * flat.T @ values, rtol=1e-4)
        np.testing.assert_allclose(bias.numpy(), 2 * values.sum(0), rtol=1e-4)


def test_a_graph_of_ones_own_trains_them() -> None:
    """As a `model_fn` of an estimator does, without a model or `compile`."""
    random = np.random.RandomState(5)
    inputs = random.randn(31, 4).astype(np.float32)
    targets = inputs @ np.array([[1.0], [-2.0], [0.5], [3.0]], np.float32) + 1
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 4])
        y = L.Dense(1)(L.BatchNormalization()(x, training=True))
        loss = tf.losses.mean_squared_error(targets, y)
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        assert [v.name for v in tf.trainable_variables()] == [
            "batch_normalization/gamma:0", "batch_normalization/beta:0", "dense/kernel:0", "dense/bias:0",
        ]  # fmt: skip
        session.run(tf.global_variables_initializer())
        first = session.run(loss, {x: inputs})
        for _ in range(60):
            session.run(step, {x: inputs})
        assert session.run(loss, {x: inputs}) < first * 1e-3


def test_a_sparse_matrix_goes_through_a_dense_layer() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1], [1, 3]], [2.0, 3.0], [2, 5])
        layer = L.Dense(3)
        layer.build((None, 5))
        output = layer(sparse)
        session.run(tf.global_variables_initializer())
        found, kernel = session.run([output, layer.kernel])
    np.testing.assert_allclose(found, [kernel[1] * 2, kernel[3] * 3], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_types_are_those_of_the_inputs(dtype: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(VALUES.astype(dtype))
        layers = [L.Dense(2), L.LayerNormalization(), L.ReLU(1.0, 0.2, 0.1), L.ThresholdedReLU(0.3), L.Dropout(0.5)]
        outputs = [layer(x) for layer in layers]
        assert {output.dtype.name for output in outputs} == {dtype}
        session.run(tf.global_variables_initializer())
        assert {value.dtype.name for value in session.run(outputs)} == {dtype}
        normalized = L.BatchNormalization()
        assert normalized(x, training=True).dtype.name == dtype
        assert normalized.gamma.dtype.base_dtype.name == ("float32" if dtype == "float16" else dtype)
