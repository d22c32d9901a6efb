"""Layers of `tf.layers` are Keras's: they stand in its models, and Keras's count is not theirs."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf


def test_classes_are_those_of_keras() -> None:
    for name in ("Dense", "Dropout", "Flatten", "BatchNormalization"):
        assert issubclass(getattr(tf.layers, name), getattr(tf.keras.layers, name))


def test_a_model_trains_them() -> None:
    random = np.random.RandomState(3)
    inputs = random.randn(32, 4).astype(np.float32)
    targets = inputs @ random.randn(4, 2).astype(np.float32)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph):
        tf.set_random_seed(1)
        x = tf.keras.Input((4,))
        y = tf.layers.BatchNormalization(momentum=0.5)(x, training=True)
        y = tf.layers.dense(y, 2, kernel_regularizer=tf.keras.regularizers.l2(1e-4))
        model = tf.keras.Model(x, tf.layers.Dropout(0.0)(y))
        assert [layer.name for layer in model.layers[1:]] == ["batch_normalization", "dense", "dropout"]
        assert [w.name for w in model.trainable_weights][-2:] == ["dense/kernel:0", "dense/bias:0"]
        assert len(model.losses) == 1
        assert len(model.updates) == len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2
        model.compile(tf.keras.optimizers.SGD(0.3), "mse")
        history = model.fit(inputs, targets, epochs=20, batch_size=16, verbose=0).history["loss"]
        assert history[-1] < history[0] * 0.5
        mean = model.layers[1].get_weights()[2]
        np.testing.assert_allclose(mean, inputs.mean(0), atol=0.2)


def test_one_counter_gives_all_layers_their_names() -> None:
    with tf.Graph().as_default():
        x = tf.keras.Input((4,))
        y = tf.layers.Dense(3)(x)
        y = tf.layers.dense(tf.keras.layers.Dense(3)(y), 2)
        model = tf.keras.Model(x, tf.keras.layers.Dense(1)(y))
        assert [layer.name for layer in model.layers[1:]] == ["dense", "dense_1", "dense_2", "dense_3"]
        assert [layer.output.op.name for layer in model.layers[1:]] == [
            f"{layer.name}/BiasAdd" for layer in model.layers[1:]
        ]


@pytest.mark.parametrize(("name", "states"), [("BasicRNNCell", 1), ("GRUCell", 1), ("BasicLSTMCell", 2), ("LSTMCell", 2)])
def test_cells_go_into_a_recurrent_layer(name: str, states: int) -> None:
    values = np.random.RandomState(5).randn(2, 3, 5).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        cell = getattr(tf.nn.rnn_cell, name)(7)
        x = tf.keras.Input((3, 5))
        layer = tf.keras.layers.RNN(cell, return_sequences=True, return_state=True)
        outputs = layer(x)
        assert len(outputs) == 1 + states
        assert {id(w) for w in layer.weights} == {id(w) for w in cell.weights}
        unrolled, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        found, wanted = session.run([outputs[0], unrolled], {x: values})
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
