"""Copies of compiled models by `tensorflow.python.keras.models`."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.engine.cloning import clone_functional, clone_sequential
from tfexp.stand_ins.keras_copies import clone_and_build_model


class Doubling(tf.keras.Model):
    def __init__(self, units):
        super().__init__()
        self.units, self.dense = units, tf.keras.layers.Dense(units)

    def call(self, inputs):
        return 2.0 * self.dense(inputs)


class Configured(Doubling):
    def get_config(self):
        return {"units": self.units}

    @classmethod
    def from_config(cls, config):
        return cls(**config)


def test_a_copy_is_compiled_as_the_model_is():
    with tf.Graph().as_default(), tf.Session().as_default():
        model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        with pytest.raises(ValueError, match="has not been compiled"):
            clone_and_build_model(model)
        model.compile(tf.keras.optimizers.Adam(0.25), "mse", metrics=["mae"])
        steps = tf.Variable(7, dtype=tf.int64, use_resource=True, name="steps")
        copy = clone_and_build_model(model, optimizer_iterations=steps)
        assert copy.metrics_names == model.metrics_names and copy.optimizer.iterations is steps
        assert copy.optimizer.get_config() == model.optimizer.get_config() and copy.optimizer is not model.optimizer
        assert not set(copy.weights) & set(model.weights)
        tf.get_default_session().run(steps.initializer)
        copy.train_on_batch(np.ones((5, 3)), np.ones((5, 2)))
        assert tf.keras.backend.get_value(steps) == 8
        plain = clone_and_build_model(model, compile_clone=False)
        assert not plain.optimizer


def test_a_subclass_is_copied_by_its_configuration():
    with tf.Graph().as_default(), tf.Session().as_default():
        models = [Doubling(2), Configured(2)]
        for model in models:
            model.compile(tf.train.GradientDescentOptimizer(0.1), "mse")
        with pytest.raises(ValueError, match="subclassed model"):
            clone_and_build_model(models[0])
        copy = clone_and_build_model(models[1], input_tensors=tf.keras.Input((3,)))
        assert copy.optimizer.optimizer is models[1].optimizer.optimizer
        copy.train_on_batch(np.ones((5, 3)), np.ones((5, 2)))


def test_each_kind_of_model_has_its_own_way_of_copying():
    with tf.Graph().as_default():
        row = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
        network = tf.keras.Model(row.inputs, row.outputs)
        assert len(clone_sequential(row).weights) == len(clone_functional(network).weights) == 2
        with pytest.raises(ValueError, match="functional"):
            clone_functional(row)
        with pytest.raises(ValueError, match="`Sequential`"):
            clone_sequential(network)
