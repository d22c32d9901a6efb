"""Training and use: what layers of noise do in each, and how they are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import backend
from tfexp.keras import layers as L
from tfexp.runtime.eager import eager_mode

ONES = np.ones((101, 7, 11), np.float32)


def _run(layer: Any, values: np.ndarray = ONES, **call: Any) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        x = L.Input(values.shape[1:])
        found: np.ndarray = session.run(layer()(x, **call), {x: values})
        return found


@pytest.mark.parametrize(
    "make",
    [
        lambda: L.Dropout(0.4, seed=5), lambda: L.SpatialDropout1D(0.4), lambda: L.GaussianNoise(0.5),
        lambda: L.GaussianDropout(0.4), lambda: L.AlphaDropout(0.4, seed=5),
    ],
)  # fmt: skip
def test_noise_is_for_training_only(make: Any) -> None:
    np.testing.assert_array_equal(_run(make), ONES)
    np.testing.assert_array_equal(_run(make, training=False), ONES)
    assert (_run(make, training=True) != ONES).mean() > 0.3


def test_dropped_elements_are_zero_and_the_others_scaled() -> None:
    found = _run(lambda: L.Dropout(0.4), training=True)
    np.testing.assert_allclose(np.unique(found), [0, 1 / 0.6], rtol=1e-6)
    assert abs((found == 0).mean() - 0.4) < 0.02


def test_a_noise_shape_drops_together() -> None:
    found = _run(lambda: L.Dropout(0.4, noise_shape=[None, 1, 11]), training=True)
    assert (found == found[:, :1]).all()
    assert 0.3 < (found == 0).mean() < 0.5


@pytest.mark.parametrize(
    ("make", "shape", "axes"),
    [
        (lambda: L.SpatialDropout1D(0.4), (101, 3, 11), (1,)),
        (lambda: L.SpatialDropout2D(0.4), (101, 3, 2, 11), (1, 2)),
        (lambda: L.SpatialDropout2D(0.4, "channels_first"), (101, 11, 3, 2), (2, 3)),
        (lambda: L.SpatialDropout3D(0.4), (31, 3, 2, 2, 11), (1, 2, 3)),
        (lambda: L.SpatialDropout3D(0.4, "channels_first"), (31, 11, 3, 2, 2), (2, 3, 4)),
    ],
)
def test_whole_maps_are_dropped(make: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    found = _run(make, np.ones(shape, np.float32), training=True)
    np.testing.assert_array_equal(found.min(axis=axes), found.max(axis=axes))
    assert 0.3 < (found == 0).mean() < 0.5


def test_gaussian_noise_has_its_deviation() -> None:
    added = _run(lambda: L.GaussianNoise(0.5), training=True) - ONES
    assert abs(added.mean()) < 0.02
    assert abs(added.std() - 0.5) < 0.02
    times = _run(lambda: L.GaussianDropout(0.2), training=True)
    assert abs(times.mean() - 1) < 0.02
    assert abs(times.std() - np.sqrt(0.2 / 0.8)) < 0.02


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    values = np.random.RandomState(1).randn(701, 53).astype(np.float32)
    found = _run(lambda: L.AlphaDropout(0.3), values, training=True)
    assert abs(found.mean()) < 0.02
    assert abs(found.std() - 1) < 0.02


def test_the_phase_may_be_fed_or_set() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((7,))
        y = L.Dropout(0.4)(x)
        values = np.ones((5, 7), np.float32)
        assert (session.run(y, {x: values}) == 1).all()
        assert (session.run(y, {x: values, backend.learning_phase(): True}) != 1).all()
        with backend.learning_phase_scope(1):
            assert (session.run(L.Dropout(0.4)(x), {x: values}) != 1).all()
        given = tf.placeholder(tf.bool, [])
        z = L.Dropout(0.4)(x, training=given)
        assert (session.run(z, {x: values, given: False}) == 1).all()
        assert (session.run(z, {x: values, given: True}) != 1).all()


@pytest.mark.parametrize("fused", [True, False])
def test_normalization_by_the_batch_moves_the_averages(fused: bool) -> None:
    values = np.random.RandomState(3).randn(13, 2, 3, 5).astype(np.float32) * 2 + 1
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((2, 3, 5))
        layer = L.BatchNormalization(momentum=0.9, fused=fused)
        y = layer(x)
        session.run(tf.global_variables_initializer())
        assert [w.name for w in layer.weights] == [
            f"batch_normalization/{name}:0" for name in ("gamma", "beta", "moving_mean", "moving_variance")
        ]
        assert len(layer.updates) == len(layer.get_updates_for(x)) == 2
        before = session.run(y, {x: values})
        np.testing.assert_allclose(before, values / np.sqrt(1 + 1e-3), rtol=1e-4, atol=1e-5)
        trained = session.run([y, layer.updates], {x: values, backend.learning_phase(): True})[0]
        np.testing.assert_allclose(trained.mean((0, 1, 2)), np.zeros(5), atol=1e-5)
        np.testing.assert_allclose(session.run(layer.moving_mean), values.mean((0, 1, 2)) * 0.1, rtol=1e-4, atol=1e-6)
        session.run(layer.updates, {x: values})  # in use they stay
        np.testing.assert_allclose(session.run(layer.moving_mean), values.mean((0, 1, 2)) * 0.1, rtol=1e-4, atol=1e-6)
        layer.trainable = False
        assert not layer.updates
        mean, variance = session.run([layer.moving_mean, layer.moving_variance])
        frozen = session.run(layer(x, training=False), {x: values, backend.learning_phase(): True})
        np.testing.assert_allclose(frozen, (values - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)


class _Tells(L.Layer):  # type: ignore[misc,name-defined]
    """Keeps what it is told of training; by default 'nothing'."""

    def call(self, inputs: Any, training: Any = "nothing") -> Any:
        self.told = training
        return inputs


class _Needs(L.Layer):  # type: ignore[misc,name-defined]
    def call(self, inputs: Any, training: Any) -> Any:
        self.told = training
        return inputs


def test_eagerly_layers_are_called_with_the_phase_that_was_set() -> None:
    with eager_mode():
        layer, needs = _Tells(), _Needs()
        layer(tf.ones((1, 2)))
        assert layer.told == "nothing"
        with pytest.raises(TypeError, match="training"):
            needs(tf.ones((1, 2)))
        for phase in (0, 1):
            with backend.learning_phase_scope(phase):
                layer(tf.ones((1, 2)))
                needs(tf.ones((1, 2)))
                assert layer.told is needs.told is bool(phase)
                layer(tf.ones((1, 2)), training=None)
                assert layer.told is None
                layer(L.Input((2,)))
                assert layer.told is bool(phase)


def test_eagerly_symbolic_calls_are_in_the_phase_that_training_feeds() -> None:
    with eager_mode():
        layer, needs = _Tells(), _Needs()
        inputs = L.Input((2,))
        outputs = needs(layer(inputs))
        assert layer.told is needs.told is backend.symbolic_learning_phase()
        model = tf.keras.Model(inputs, outputs)
        model(tf.ones((1, 2)), training=True)
        assert layer.told is needs.told is True
        model(tf.ones((1, 2)))
        assert layer.told is needs.told is None
    with tf.Graph().as_default():  # in a graph nobody says
        layer(L.Input((2,)))
        assert layer.told == "nothing"
