"""Under a mirrored strategy `fit` gives what it gives without one, from batches that the replicas share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf

_RANDOM = np.random.RandomState(3)
X = _RANDOM.rand(12, 3)
Y = _RANDOM.rand(12, 2)
WEIGHTS = _RANDOM.rand(12)


@pytest.fixture(autouse=True)
def own_session() -> Iterator[None]:
    tf.keras.backend.clear_session()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        tf.keras.backend.set_session(session)
        yield
    tf.keras.backend.clear_session()


def trained(optimizer: Any, mirrored: bool) -> Any:
    layers = tf.keras.layers
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope() if mirrored else contextlib.nullcontext():
        given = tf.keras.Input((3,))
        hidden = layers.Dense(4, kernel_initializer="ones", kernel_regularizer="l2", activation="relu")(given)
        outputs = [layers.Dense(2, kernel_initializer="ones", name=name)(layers.Dropout(0.0)(hidden)) for name in "ab"]
        model = tf.keras.Model(given, outputs)
        model.compile(optimizer(), ["mse", "mse"], metrics={"a": "mae"}, weighted_metrics={"b": "mse"}, loss_weights=[1, 2])
    return model


@pytest.mark.parametrize(
    "optimizer",
    [
        tf.keras.optimizers.Adam,
        lambda: tf.keras.optimizers.SGD(0.01, momentum=0.5),
        lambda: tf.train.GradientDescentOptimizer(0.1),
    ],
)
def test_replicas_train_as_one_device_does(optimizer: Any) -> None:
    found = []
    for mirrored in (False, True):
        model = trained(optimizer, mirrored)
        first = model.fit(X, [Y, Y], batch_size=6, epochs=2, shuffle=False, verbose=0, validation_data=(X, [Y, Y])).history
        both = [WEIGHTS, WEIGHTS]
        second = model.fit(X, [Y, Y], sample_weight=both, batch_size=4, shuffle=False, verbose=0).history
        tested = model.evaluate(X, [Y, Y], verbose=0)
        found.append([first, second, tested, model.predict(X, batch_size=5), model.get_weights()])
    plain, shared = found
    for one, other in zip(plain[:2], shared[:2], strict=True):
        assert list(one) == list(other)
        np.testing.assert_allclose(list(one.values()), list(other.values()), rtol=1e-5)
    np.testing.assert_allclose(plain[2], shared[2], rtol=1e-5)
    for part in (3, 4):
        for one, other in zip(plain[part], shared[part], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_each_replica_normalizes_its_part_and_the_averages_are_of_all() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(momentum=0.5, input_shape=(3,))])
        model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    model.fit(X, X, batch_size=12, verbose=0)
    means = (X[:6].mean(0) + X[6:].mean(0)) / 2
    np.testing.assert_allclose(model.get_weights()[2], means / 2, rtol=1e-5)
