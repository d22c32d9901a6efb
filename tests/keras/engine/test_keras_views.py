"""What Keras's models say of shared weights, of metrics in attributes, and beneath the public names."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode

L = tf.keras.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default(), tf.Session().as_default():
        yield


def shared_twice():
    dense, inputs = L.Dense(2), L.Input((3,))
    inner = tf.keras.Model(inputs, dense(inputs))
    return dense, tf.keras.Model(inputs, [inner(inputs), dense(inputs)])


def test_weights_come_with_each_layer_that_has_them_and_are_trained_once():
    dense, model = shared_twice()
    assert [weight.name for weight in model.weights] == ["dense/kernel:0", "dense/bias:0"] * 2
    assert len(model.get_weights()) == len(model.trainable_variables) == 4 and model.count_params() == 16
    model.set_weights([np.ones((3, 2)), np.zeros(2)] * 2)
    model.compile("sgd", "mse")
    assert model._collected_trainable_weights == dense.weights == model._unique_trainable_weights
    model.fit(np.ones((1, 3)), [np.zeros((1, 2))] * 2, verbose=0)
    np.testing.assert_allclose(dense.get_weights()[1], [-0.06, -0.06], rtol=1e-6)


def test_a_summary_counts_what_was_trainable_when_the_model_was_compiled():
    model, lines = tf.keras.Sequential([L.Dense(2, input_shape=(3,))]), []
    model.compile("sgd", "mse")
    model.trainable = False
    model.summary(print_fn=lines.append)
    assert lines[-4:-1] == ["Total params: 16", "Trainable params: 8", "Non-trainable params: 8"]


def test_operations_among_layers_have_lists_of_shapes():
    inputs = L.Input((3,))
    layer = tf.keras.Model(inputs, L.Dense(2)(inputs) * 2.0).layers[-1]
    assert (layer.input_shape, layer.output_shape) == ([(None, 2)], [(None, 2)])
    assert layer.output.shape.as_list() == [None, 2]


class Measured(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = L.Dense(2)
        self.mean, self.more = tf.keras.metrics.Mean(name="of_mean"), [tf.keras.metrics.Sum(name="of_sum")]

    def call(self, inputs):
        outputs = self.dense(inputs)
        self.add_metric(tf.reduce_max(outputs), name="largest", aggregation="mean")
        self.add_metric(self.mean(outputs))
        self.add_metric(self.more[0](outputs))
        return outputs


class MeasuringLayer(L.Layer):
    def __init__(self):
        super().__init__()
        self.mean, self.unused = tf.keras.metrics.Mean(name="of_mean"), tf.keras.metrics.Mean(name="unused")

    def call(self, inputs):
        self.add_metric(tf.reduce_max(inputs), name="largest", aggregation="mean")
        self.add_metric(self.mean(inputs))
        return inputs


def test_metrics_in_attributes_of_layers_are_reported_where_they_are_added():
    model = tf.keras.Sequential([MeasuringLayer(), L.Dense(2)])
    assert model.layers[0].metrics == []
    model.compile("sgd", "mse")
    assert len(model.train_on_batch(np.ones((1, 3)), np.ones((1, 2)))) == 3
    assert model.metrics_names == ["loss", "largest", "of_mean"]


def test_metrics_in_attributes_of_models_are_reported_once_and_first():
    model = Measured()
    model.compile("sgd", "mse", metrics=["mae"])
    model.train_on_batch(np.ones((1, 3)), np.ones((1, 2)))
    assert model.metrics_names == ["loss", "mean_absolute_error", "of_mean", "largest", "of_sum"]
    assert model._layers == model.layers == [model.dense]


def test_a_functional_model_takes_plain_tensors_as_metrics():
    inputs = L.Input((3,))
    hidden = L.Dense(2)(inputs)
    model = tf.keras.Model(inputs, hidden)
    with pytest.raises(ValueError, match="pass the Tensor to monitor directly"):
        model.add_metric(tf.keras.metrics.Mean(name="mean")(hidden))
    with pytest.raises(ValueError, match="aggregation='mean'"):
        model.add_metric(tf.reduce_sum(hidden), name="sum")
    with pytest.raises(TypeError, match="Expected a list or dictionary"):
        model.compile("sgd", "mse", metrics=("mse",))


def test_what_compile_decided_can_be_asked_for():
    inputs = L.Input((3,), name="x")
    model = tf.keras.Model(inputs, [L.Dense(2, name="a")(inputs), L.Dense(1, name="b")(inputs)])
    assert not model._is_compiled and not hasattr(model, "_feed_targets") and not hasattr(model, "loss_functions")
    model.compile("sgd", ["mse", None], metrics={"a": "mae"}, sample_weight_mode=[None, None])
    assert model._is_compiled and model._feed_input_names == ["x"] and model._feed_input_shapes == [(None, 3)]
    assert model._feed_inputs == model.inputs and model._feed_output_names == ["a"]
    assert model._feed_output_shapes == [(None, 2)] and model._feed_targets == model._targets[:1]
    assert model.loss_functions == [*model._feed_loss_fns, None] and model._loss_weights_list == [1.0, 1.0]
    assert [metric.name for metric in model._compile_metric_functions] == ["a_mean_absolute_error"]
    assert [metric.name for metric in model._output_loss_metrics] == ["a_loss"]
    assert model._sample_weight_modes == [None, None] and model._feed_sample_weights == []
    assert model._compile_metrics == {"a": "mae"} and model._compile_weighted_metrics is None


def test_a_subclass_is_told_its_inputs():
    model = Measured()
    model.compile("sgd", "mse")
    assert not hasattr(model, "_collected_trainable_weights")
    model._set_inputs(tf.TensorSpec([None, 3], tf.float32))
    assert model.inputs[0].shape.as_list() == [None, 3] and model.output_names == ["output_1"]


def test_a_layer_says_what_its_call_takes():
    class Plain(L.Layer):
        def call(self, inputs, mask=None):
            self.add_loss(tf.reduce_sum(inputs), inputs=inputs)
            return inputs

    class Any(L.Layer):
        def call(self, inputs, **kwargs):
            return inputs

    plain = Plain(name="plain", dtype="float32")
    assert plain._call_fn_args == ["inputs", "mask"] and plain._expects_mask_arg and not plain._expects_training_arg
    assert Any()._expects_training_arg and Any()._call_accepts_kwargs
    assert plain._name_scope() == "plain" and plain._compute_dtype == "float32" == plain._dtype_policy.name
    assert not plain._autocast and plain._callable_losses == []
    with eager_mode():
        plain(tf.constant([2.0, 3.0]))
        assert [float(loss) for loss in plain._eager_losses] == [5.0]


def test_the_trainable_state_is_given_back():
    inner = L.Dense(2)
    model = tf.keras.Sequential([L.Dense(3, input_shape=(5,)), tf.keras.Sequential([inner])])
    inner.trainable = False
    state = model._get_trainable_state()
    model.trainable = True
    assert inner.trainable
    model._set_trainable_state(state)
    assert not inner.trainable and model.layers[0].trainable
    assert len(model._gather_children_attribute("trainable_weights")) == 2
