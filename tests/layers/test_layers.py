"""Layers: what graphs do not show, and what they refuse. Their graphs and values: tests/golden/programs/layers.py."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_what_a_layer_says_of_itself():
    x = tf.placeholder(tf.float32, [None, 3])
    layer = tf.layers.Dense(4, kernel_regularizer=tf.nn.l2_loss)
    with pytest.raises(ValueError, match="No name available for layer scope"):
        _ = layer.scope_name
    with pytest.raises(ValueError, match="count_params"):
        layer.count_params()
    y = layer(x)
    assert (layer.name, layer.scope_name, layer.dtype, layer.count_params()) == ("dense", "dense", "float32", 16)
    assert layer.input is x and layer.output is y
    assert layer.input_shape == (None, 3) and layer.output_shape == (None, 4)
    assert [v.name for v in layer.trainable_variables] == ["dense/kernel:0", "dense/bias:0"]
    assert layer.losses == tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    layer(x)
    with pytest.raises(AttributeError, match="called 2 times"):
        _ = layer.input
    assert tf.layers.Dense(2).name == "dense_1"


def test_layers_that_are_not_trained():
    x = tf.placeholder(tf.float32, [None, 3])
    layer = tf.layers.Dense(4, trainable=False)
    layer(x)
    assert tf.trainable_variables() == layer.trainable_variables == []
    assert len(layer.non_trainable_variables) == 2


def test_a_layer_of_ones_own():
    class Scaled(tf.layers.Layer):
        def build(self, input_shape):
            self.scale = self.add_variable("scale", [input_shape[-1].value], initializer=tf.constant_initializer(2.0))
            super().build(input_shape)

        def call(self, inputs):
            self.add_update(tf.assign_add(self.scale, [1.0, 1.0]))
            return inputs * self.scale

    layer = Scaled(name="mine")
    y = layer(tf.constant([[1.0, 3.0]]))
    assert layer.updates == tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y).tolist() == [[2.0, 6.0]]
        session.run(layer.updates)
        assert session.run(layer.scale).tolist() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda x: tf.layers.dense(x[0], 3), ValueError, "expected min_ndim=2, found ndim=1"),
        (lambda x: tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3), ValueError, "last dimension"),
        (lambda x: tf.layers.conv2d(x, 3, 3), ValueError, "expected ndim=4, found ndim=2"),
        (lambda x: tf.layers.conv2d(x, 3, (3, 3, 3)), ValueError, "`kernel_size` argument must be a tuple of 2"),
        (lambda x: tf.layers.conv2d(x, 3, 3, padding="full"), ValueError, "`padding` argument"),
        (lambda x: tf.layers.max_pooling2d(x, 2, 2, data_format="NHWC"), ValueError, "`data_format` argument"),
        (lambda x: tf.layers.dense(x, 3, name="d", reuse=True), ValueError, "d/kernel does not exist"),
        (lambda x: tf.layers.dense(x, 3, shape=1), TypeError, "shape"),
        (lambda x: tf.layers.Dense(3, shape=1), TypeError, "Keyword argument not understood: shape"),
        (lambda x: tf.layers.batch_normalization(x, axis=2), ValueError, "Invalid axis"),
        (lambda x: tf.layers.batch_normalization(x, renorm=True, renorm_clipping={"r": 1}), ValueError, "invalid keys"),
        (lambda x: tf.layers.batch_normalization(x, virtual_batch_size=0), ValueError, "must be a positive integer"),
        (
            lambda x: tf.layers.batch_normalization(x, virtual_batch_size=1, adjustment=lambda _: (1.0, 0.0)),
            ValueError,
            "adjustment cannot be specified",
        ),
    ],
)
def test_what_layers_refuse(build, error, text):
    with pytest.raises(error, match=text):
        build(tf.placeholder(tf.float32, [2, 3]))


def test_fused_normalization_is_a_wish():
    for x, axis, op in (
        (tf.zeros([5, 3]), -1, "AddV2"),
        (tf.zeros([2, 3, 5, 7]), 2, "AddV2"),
        (tf.zeros([2, 3, 5, 7]), 3, "FusedBatchNormV3"),
    ):
        assert tf.layers.batch_normalization(x, axis, fused=True).op.type == op


def test_sizes_from_shapes():
    x = tf.zeros([2, 7, 7, 3])
    assert tf.layers.conv2d(x, 5, x.shape[1:3]).shape.as_list() == [2, 1, 1, 5]
    assert tf.layers.max_pooling2d(x, [tf.Dimension(3), 2], np.array([2, 1])).shape.as_list() == [2, 3, 6, 3]


@pytest.mark.parametrize("dimensions", [1, 3])
def test_pooling_of_channels_first_turns_them(dimensions):
    x = np.random.RandomState(7).rand(2, 3, *[5, 7, 4][:dimensions]).astype(np.float32)
    last = np.moveaxis(x, 1, -1)
    pool = {1: tf.layers.average_pooling1d, 3: tf.layers.average_pooling3d}[dimensions]
    first, wanted = pool(x, 2, 1, data_format="channels_first"), pool(last, 2, 1)
    with tf.Session() as session:
        np.testing.assert_allclose(np.moveaxis(session.run(first), 1, -1), session.run(wanted), rtol=1e-6)
    assert [op.type for op in first.graph.get_operations()].count("Transpose") == 2


def test_one_layer_takes_inputs_of_one_depth():
    layer = tf.layers.Dense(3)
    layer(tf.zeros([2, 3]))
    with pytest.raises(ValueError, match="expected axis -1 of input shape to have value 3"):
        layer(tf.zeros([2, 5]))


def test_averages_follow_the_batches():
    x = tf.placeholder(tf.float32, [None, 2])
    layer = tf.layers.BatchNormalization(momentum=0.5)
    layer(x, training=True)
    batch = np.array([[1.0, 2.0], [3.0, 6.0]], np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS), {x: batch})
        assert session.run(layer.moving_mean).tolist() == [1.0, 2.0]
        assert session.run(layer.moving_variance).tolist() == [1.0, 2.5]


def test_contrib_regularizers():
    layers = tf.contrib.layers
    weights = tf.constant([3.0, -4.0])
    with tf.Session() as session:
        assert session.run(layers.l1_regularizer(0.5)(weights)) == 3.5
        assert session.run(layers.l2_regularizer(0.5)(weights)) == 6.25
    assert layers.l2_regularizer(0.0)(weights) is None
    with pytest.raises(ValueError, match="cannot be an integer"):
        layers.l1_regularizer(1)
    with pytest.raises(ValueError, match="less than 0"):
        layers.l1_regularizer(-1.0)


@pytest.mark.parametrize("uniform", [True, False])
def test_xaviers_variance(uniform):
    made = tf.contrib.layers.xavier_initializer(uniform, seed=1)([211, 307])
    with tf.Session() as session:
        assert np.var(session.run(made)) == pytest.approx(2 / (211 + 307), rel=0.05)


