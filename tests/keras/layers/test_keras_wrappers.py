"""Layers around layers: steps of time one by one or together, and both directions."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import layers as L

STEPS = np.random.RandomState(4).randn(2, 3, 5).astype(np.float32)


class Slow(L.Layer):
    """Multiplies by a number that it counts: the first call of a batch times 1, then times 2."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.stateful = True

    def build(self, input_shape: Any) -> None:
        self.count = self.add_weight("count", shape=(), initializer="zeros", trainable=False)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return inputs * self.count.assign_add(1.0)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


def test_steps_are_computed_together() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((None, 5))
        inner = L.Dense(2, kernel_regularizer="l1", activity_regularizer="l2")
        layer = L.TimeDistributed(inner)
        y = layer(x)
        assert y.shape.as_list() == [None, None, 2]
        assert [w.name for w in layer.weights] == ["time_distributed/kernel:0", "time_distributed/bias:0"]
        assert len(layer.get_losses_for(x)) == len(layer.get_losses_for(None)) == 1
        session.run(tf.global_variables_initializer())
        found, kernel = session.run([y, inner.kernel], {x: STEPS})
    np.testing.assert_allclose(found, STEPS @ kernel, rtol=1e-5)


def test_phases_and_updates_reach_the_layer_inside() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((3, 5))
        layer = L.TimeDistributed(L.BatchNormalization(momentum=0.5))
        y = layer(x, training=True)
        assert len(layer.get_updates_for(x)) == 2
        session.run(tf.global_variables_initializer())
        found, _ = session.run([y, layer.updates], {x: STEPS})
        np.testing.assert_allclose(found.mean((0, 1)), np.zeros(5), atol=1e-5)
        np.testing.assert_allclose(session.run(layer.layer.moving_mean), STEPS.mean((0, 1)) / 2, rtol=1e-4, atol=1e-6)


def test_layers_with_states_go_step_by_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input(batch_shape=(2, 3, 5))
        y = L.TimeDistributed(Slow())(x)
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(y, {x: STEPS}), STEPS * [[[1], [2], [3]]], rtol=1e-6)


def test_models_may_be_inside() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        dense = L.Dense(2)
        x = L.Input((3, 5))
        y = L.TimeDistributed(tf.keras.Sequential([dense, L.Activation("relu")]))(x)
        session.run(tf.global_variables_initializer())
        found, kernel = session.run([y, dense.kernel], {x: STEPS})
    np.testing.assert_allclose(found, np.maximum(STEPS @ kernel, 0), rtol=1e-5)


def _both(merge_mode: str | None, **kwargs: Any) -> Any:
    return L.Bidirectional(L.SimpleRNN(2, return_sequences=True), merge_mode=merge_mode, **kwargs)


def _one_way(x: np.ndarray, kernel: Any, recurrent: Any, bias: Any) -> np.ndarray:
    state, found = np.zeros((x.shape[0], recurrent.shape[0])), []
    for step in range(x.shape[1]):
        state = np.tanh(x[:, step] @ kernel + bias + state @ recurrent)
        found.append(state)
    return np.stack(found, 1)


@pytest.mark.parametrize(
    ("merge_mode", "merge"),
    [
        ("concat", lambda a, b: np.concatenate([a, b], -1)),
        ("sum", np.add),
        ("mul", np.multiply),
        ("ave", lambda a, b: (a + b) / 2),
        (None, lambda a, b: np.stack([a, b])),
    ],
)
def test_both_directions_are_merged(merge_mode: str | None, merge: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((3, 5))
        layer = _both(merge_mode)
        y = layer(x)
        session.run(tf.global_variables_initializer())
        found, weights = session.run([y, layer.weights], {x: STEPS})
    forward, backward = _one_way(STEPS, *weights[:3]), _one_way(STEPS[:, ::-1], *weights[3:])[:, ::-1]
    np.testing.assert_allclose(found, merge(forward, backward), rtol=1e-5, atol=1e-6)


def test_weights_go_to_both() -> None:
    with tf.Graph().as_default(), tf.Session():
        values = [np.full(shape, i, np.float32) for i, shape in enumerate([(5, 2), (2, 2), (2,)] * 2)]
        layer = _both("sum", weights=values)
        layer(L.Input((3, 5)))
        for mine, given in zip(layer.get_weights(), values, strict=True):
            np.testing.assert_array_equal(mine, given)
        assert [w.name.split("/")[1] for w in layer.weights] == ["forward_simple_rnn"] * 3 + ["backward_simple_rnn"] * 3


def test_configs_make_the_same_wrappers() -> None:
    with tf.Graph().as_default():
        x = L.Input((3, 5))
        for layer in [
            L.TimeDistributed(L.Dense(2), name="mine"),
            _both("mul"),
            L.Bidirectional(L.LSTM(2), backward_layer=L.GRU(3, go_backwards=True), merge_mode=None),
        ]:
            shapes = tf.contrib.framework.nest.map_structure(lambda t: t.shape.as_list(), layer(x))
            again = L.deserialize(json.loads(json.dumps(L.serialize(layer))))
            assert again.get_config() == layer.get_config()
            assert tf.contrib.framework.nest.map_structure(lambda t: t.shape.as_list(), again(x)) == shapes


def test_states_are_kept_and_forgotten_in_both() -> None:
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        layer = L.Bidirectional(L.SimpleRNN(2, stateful=True))
        x = L.Input(batch_shape=(2, 3, 5))
        y = layer(x)
        tf.keras.backend.set_session(session)
        session.run(tf.global_variables_initializer())
        first, _ = session.run([y, layer.updates], {x: STEPS})
        assert not np.allclose(session.run(y, {x: STEPS}), first)
        layer.reset_states()
        np.testing.assert_allclose(session.run(y, {x: STEPS}), first, rtol=1e-6)


def test_initial_states_may_be_inputs_of_a_model() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, state, other = L.Input((3, 5)), L.Input((2,)), L.Input((2,))
        layer = _both("sum")
        y = layer(x, initial_state=[state, other])
        model = tf.keras.Model([x, state, other], y)
        again = model([tf.constant(STEPS), tf.ones([2, 2]), tf.zeros([2, 2])])
        session.run(tf.global_variables_initializer())
        fed = {x: STEPS, state: np.ones((2, 2)), other: np.zeros((2, 2))}
        found, copied = session.run([y, again], fed)
        np.testing.assert_allclose(found, copied, rtol=1e-6)
        assert not np.allclose(found, session.run(y, {**fed, state: np.zeros((2, 2))}))
        with pytest.raises(ValueError, match="list containing the states of the underlying RNNs"):
            layer(x, initial_state=[state])
        with pytest.raises(ValueError, match="mix of Keras tensors"):
            layer(x, initial_state=[state, tf.ones([2, 2])])
        with pytest.raises(ValueError, match="needs a recurrent layer"):
            L.Bidirectional(L.Dense(2))
        with pytest.raises(ValueError, match="Invalid merge mode"):
            _both("x")
        with pytest.raises(ValueError, match="different `go_backwards`"):
            L.Bidirectional(L.GRU(2), backward_layer=L.GRU(2))
        with pytest.raises(ValueError, match="same value for attribute return_state, got False and True"):
            L.Bidirectional(L.GRU(2), backward_layer=L.GRU(2, go_backwards=True, return_state=True))
