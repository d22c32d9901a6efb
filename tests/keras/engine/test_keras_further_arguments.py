"""Tensors and masks that layers are called with besides their inputs."""

import json

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


class Plus(tf.keras.layers.Layer):
    """The inputs, with what is added to them."""

    def call(self, inputs, other=None, mask=None):
        inputs = inputs if mask is None else inputs * tf.cast(mask, inputs.dtype)
        return inputs if other is None else inputs + other["of"][0]


def _model():
    first, second = tf.keras.Input((3,)), tf.keras.Input((3,))
    made = tf.keras.layers.Dense(3, kernel_initializer="ones")(second)
    return tf.keras.Model([first, second], Plus()(first, other={"of": [made, 7]}))


def test_a_tensor_among_the_arguments_is_in_the_config():
    with tf.Graph().as_default():
        model = _model()
        config = json.loads(json.dumps(model.get_config()))
        again = tf.keras.Model.from_config(config, custom_objects={"Plus": Plus})
        again.set_weights(model.get_weights())
        x = [np.ones((2, 3)), np.ones((2, 3))]
        np.testing.assert_array_equal(model.predict(x), np.full((2, 3), 4.0))
        np.testing.assert_array_equal(again.predict(x), model.predict(x))


def test_a_mask_that_was_given_is_computed_anew():
    with eager_mode():
        inputs = tf.keras.Input((3,))
        model = tf.keras.Model(inputs, Plus()(inputs, mask=tf.ones_like(inputs) * 2.0))
        np.testing.assert_array_equal(model.predict(np.ones((2, 3))), np.full((2, 3), 2.0))


def test_initial_weights_are_there_in_eager_execution_too():
    with eager_mode():
        dense = tf.keras.layers.Dense(2, input_shape=(2,), weights=[np.ones((2, 2)), np.array([3.0, 5.0])])
        np.testing.assert_array_equal(tf.keras.Sequential([dense]).get_weights()[1], [3, 5])


def test_a_variable_that_another_replaces_is_gone():
    with tf.Graph().as_default():
        layer = tf.keras.layers.Layer()
        layer.v = tf.Variable(1.0)
        layer.v = last = tf.Variable(2.0)
        assert layer.weights == [last]


def test_each_output_counts_with_a_metric_of_its_own():
    with tf.Graph().as_default():
        x = tf.keras.Input((3,))
        outputs = [tf.keras.layers.Dense(1, name=name)(x) for name in ("a", "b")]
        model = tf.keras.Model(x, outputs)
        model.compile("sgd", "mse", metrics=[tf.keras.metrics.BinaryAccuracy()])
        assert model.metrics_names[3:] == ["a_binary_accuracy", "b_binary_accuracy"]


@pytest.mark.parametrize("value", [3.0, [3.0], np.float32(3.0)])
def test_a_metric_that_is_added_outside_of_calls_is_symbolic(value):
    with tf.Graph().as_default():
        for layer in (_model(), tf.keras.layers.Dense(1)):
            with pytest.raises(ValueError, match="Expected a symbolic Tensor for the metric value, received: "):
                layer.add_metric(value, name="of_a_value", aggregation="mean")
            layer.add_metric(tf.constant(3.0), name="of_a_tensor", aggregation="mean")
    with eager_mode(), pytest.raises(ValueError, match="Expected a symbolic Tensor"):
        tf.keras.layers.Dense(1).add_metric(tf.constant(3.0), name="of_a_tensor", aggregation="mean")
