"""Layers of `tf.layers` are Keras's: they stand in its models, and Keras's count is not theirs."""

from __future__ import annotations

import numpy as np

import tfexp as tf


def test_classes_are_those_of_keras() -> None:
    for name in ("Dense", "Dropout", "Flatten", "BatchNormalization"):
        assert issubclass(getattr(tf.layers, name), getattr(tf.keras.layers, name))


def test_a_model_trains_them() -> None:
    random = np.random.RandomState(3)
    inputs = random.randn(32, 4).astype(np.float32)
    targets = inputs @ random.randn(4, 2).astype(np.float32)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph):
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
        assert history[-1] < history[0] * 0.2
        mean = model.layers[1].get_weights()[2]
        np.testing.assert_allclose(mean, inputs.mean(0), atol=0.2)
        assert tf.keras.layers.Dense(1).name == "dense"
