"""ConvLSTM2D beside TensorFlow's (spatial.json), in any layout, with states, and with sizes not known before."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tests.keras.layers.spatial_cases import BATCH, CONV_LSTM_CASES, wave
from tfexp.keras import backend, layers

RECORDED = json.loads((Path(__file__).parent / "spatial.json").read_text())["cases"]


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        backend.set_session(session)
        yield session
        backend.set_session(None)


def give_weights(layer):
    layer.set_weights([wave(tuple(w.shape.as_list()), 0.7 + i) / 2 for i, w in enumerate(layer.weights)])


@pytest.mark.parametrize("name", CONV_LSTM_CASES)
def test_as_tensorflow(session, name):
    _, arguments, example = CONV_LSTM_CASES[name]
    layer, dims, wanted = layers.ConvLSTM2D(name="layer", **arguments), (BATCH, *example), RECORDED[name]
    x = tf.placeholder(tf.float32, dims)
    y = layer(x)
    give_weights(layer)
    out = wave(tuple(y.shape.as_list()), 1.3)
    slopes = tf.gradients(tf.reduce_sum(y * out), [x, *layer.trainable_weights])
    value, slopes = session.run([y, slopes], {x: wave(dims, 0.9)})
    np.testing.assert_allclose(np.vdot(value, out), wanted["value"], rtol=1e-4)
    np.testing.assert_allclose([np.vdot(s, wave(s.shape, 1.1)) for s in slopes], wanted["slopes"], rtol=1e-4, atol=1e-4)
    assert [[w.name, w.shape.as_list()] for w in layer.weights] == wanted["weights"]
    assert y.shape.as_list() == layer.compute_output_shape(dims).as_list() == wanted["output_shape"]
    config = json.loads(json.dumps(layer.get_config()))
    assert {key: value["class_name"] if isinstance(value, dict) else value for key, value in config.items()} == wanted[
        "config"
    ]
    assert json.loads(json.dumps(layers.ConvLSTM2D.from_config(config).get_config())) == config


@pytest.mark.parametrize("more", [{}, {"dropout": 0.5, "recurrent_dropout": 0.5}])
def test_channels_first(session, more):
    """Dropout draws masks that no test knows; outside of training it does nothing."""
    x = wave((2, 3, 5, 4, 3), 0.9)
    last = layers.ConvLSTM2D(2, 3, strides=2, return_sequences=True)
    first = layers.ConvLSTM2D(2, 3, strides=2, return_sequences=True, data_format="channels_first", **more)
    y, z = last(tf.constant(x)), first(tf.constant(np.moveaxis(x, -1, 2)))
    give_weights(last)
    give_weights(first)
    y, z = session.run([y, z])
    np.testing.assert_allclose(z, np.moveaxis(y, -1, 2), rtol=1e-5, atol=1e-6)


def test_dropout_is_the_same_at_each_step(session):
    """With ones for kernels of one element, the gates' inputs tell the masks."""
    cell = layers.ConvLSTM2D(1, 1, dropout=0.5, kernel_initializer="ones").cell
    x = tf.ones([4, 2, 5, 3, 1])
    cell.build(x.shape[1:])
    projected = cell.project(x, training=True) - cell.bias
    session.run(tf.global_variables_initializer())
    gates = session.run(projected)
    assert set(np.unique(gates)) == {0.0, 2.0}
    np.testing.assert_array_equal(gates, np.broadcast_to(gates[:1], gates.shape))
    assert not np.array_equal(gates[..., 0], gates[..., 1])


def test_states_of_sizes_not_known(session):
    x = tf.placeholder(tf.float32, [None, None, None, None, 3])
    layer = layers.ConvLSTM2D(2, (2, 3), return_state=True)
    y, hidden, memory = layer(x)
    assert y.shape.as_list() == hidden.shape.as_list() == memory.shape.as_list() == [None, None, None, 2]
    give_weights(layer)
    fed = wave((2, 3, 5, 4, 3), 0.9)
    whole = session.run([y, hidden, memory], {x: fed})
    assert [one.shape for one in whole] == [(2, 4, 2, 2)] * 3
    begun = session.run([hidden, memory], {x: fed[:, :2]})
    again = layer(tf.constant(fed[:, 2:]), initial_state=[tf.constant(state) for state in begun])
    for one, other in zip(session.run(again), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_states_between_batches(session):
    fed = wave((2, 4, 5, 4, 3), 0.9)
    x = tf.placeholder(tf.float32, [2, None, 5, 4, 3])
    layer = layers.ConvLSTM2D(2, 3, stateful=True)
    y = layer(x)
    give_weights(layer)
    whole = session.run(y, {x: fed})
    for _ in range(2):
        layer.reset_states()
        session.run([y, *layer.updates], {x: fed[:, :2]})
        np.testing.assert_allclose(session.run(y, {x: fed[:, 2:]}), whole, rtol=1e-5, atol=1e-6)


def test_what_inputs_must_have():
    with pytest.raises(ValueError, match="expected ndim=5, found ndim=4"):
        layers.ConvLSTM2D(3, 3)(tf.placeholder(tf.float32, [2, 5, 5, 3]))
    with pytest.raises(ValueError, match="channel dimension of the inputs should be defined"):
        layers.ConvLSTM2D(3, 3)(tf.placeholder(tf.float32, [2, 5, 5, 5, None]))
    with pytest.raises(TypeError, match="Unrolling isn't possible with convolutional RNNs"):
        layers.ConvLSTM2D(3, 3, unroll=True)
