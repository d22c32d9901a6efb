"""Layers of tf.contrib that stand by themselves, and gradients that are scaled or computed anew."""

import numpy as np
import pytest

import tfexp as tf

layers = tf.contrib.layers


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def initialised(session):
    session.run(tf.global_variables_initializer())


def test_gradients_are_scaled():
    x = tf.constant([1.0, 2.0])
    y = layers.scale_gradient(x, 0.5)
    with tf.Session() as session:
        assert session.run([y, tf.gradients(y * 3.0, x)[0]])[1].tolist() == [1.5, 1.5]


def test_ids_are_looked_up_once(graph):
    rows = layers.embedding_lookup_unique(tf.constant(np.arange(15.0).reshape(5, 3)), tf.constant([[1, 2], [2, 4]]))
    assert rows.shape == (2, 2, 3)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(rows)[..., 0], [[3, 6], [6, 12]])


def test_one_filter_for_all_channels():
    tf.set_random_seed(0)
    images = tf.constant(np.random.RandomState(0).rand(2, 5, 5, 3), tf.float32)
    y = layers.conv2d_in_plane(images, [3, 2], padding="VALID", activation_fn=None, scope="s")
    assert [(v.op.name, v.shape.as_list()) for v in tf.trainable_variables()] == [
        *(("s/weights", [3, 2, 1, 1]), ("s/biases", [3]))
    ]
    single = tf.nn.conv2d(images[..., 1:2], tf.trainable_variables()[0], [1, 1, 1, 1], "VALID")
    with tf.Session() as session:
        initialised(session)
        one, whole = session.run([single, y])
        np.testing.assert_allclose(whole[..., 1:2], one, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="must have rank 4"):
        layers.conv2d_in_plane(tf.ones([2, 3]), 3)


def test_legacy_layers_say_where_their_variables_are():
    y = layers.legacy_relu(tf.ones([2, 3, 5]), 4, name="q")
    assert y.shape == (2, 3, 4)
    kept = {key: [v.op.name for v in tf.get_collection(key)] for key in ("weights", "biases", "activations")}
    assert kept == {"weights": ["q/weights"], "biases": ["q/bias"], "activations": [y.op.name]}
    with pytest.raises(ValueError, match="two dimensions"):
        layers.legacy_linear(tf.ones([5]), 4)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("channels_first", [False, True])
def test_divisive_normalisation(inverse, channels_first):
    x = np.random.RandomState(1).randn(2, 3, 5, 4).astype(np.float32)
    given = tf.constant(x.transpose(0, 3, 1, 2) if channels_first else x)
    y = layers.gdn(given, inverse, data_format="channels_first" if channels_first else "channels_last", name="g")
    y = tf.transpose(y, [0, 2, 3, 1]) if channels_first else y
    variables = tf.trainable_variables()
    assert [v.op.name for v in variables] == ["g/reparam_beta", "g/reparam_gamma"]
    with tf.Session() as session:
        initialised(session)
        root = np.sqrt(1 + 0.1 * x**2)
        np.testing.assert_allclose(session.run(y), x * root if inverse else x / root, rtol=1e-5)
        # Below the bound, gradients come through only where they lead back up.
        for v in variables:
            v.load(np.full(v.shape.as_list(), -0.2), session)
        falling, rising = session.run([tf.gradients(tf.abs(y), variables[0])[0], tf.gradients(-tf.abs(y), variables[0])[0]])
        assert ((falling == 0).all(), (rising == 0).all()) == (inverse, not inverse)


def test_sequences_become_images_again():
    x = tf.reshape(tf.range(48), [2, 2, 3, 4])
    sequence = layers.images_to_sequence(x)
    again, first = (layers.sequence_to_images(sequence, 2, layout) for layout in ("channels_last", "channels_first"))
    with tf.Session() as session:
        x, again, first = session.run([x, again, first])
        np.testing.assert_array_equal(again, x)
        np.testing.assert_array_equal(first, x.transpose(0, 3, 1, 2))


def test_layers_are_computed_again_with_their_variables():
    @layers.recompute_grad(use_data_dep=True)
    def block(x):
        return tf.layers.dense(tf.layers.dense(x, 3, name="named"), 2)

    x = tf.constant([[1.0, 2.0]])
    with tf.variable_scope("outer", use_resource=True):
        y = block(x)
    variables = tf.trainable_variables()
    gradients = tf.gradients(y, [*variables, x])
    assert [v.op.name for v in variables] == [
        *("outer/named/kernel", "outer/named/bias", "outer/dense/kernel", "outer/dense/bias")
    ]
    assert tf.trainable_variables() == variables
    with tf.Session() as session:
        initialised(session)
        named, _, last, _ = session.run(variables)
        found = session.run(gradients)
    np.testing.assert_allclose(found[-1], np.ones([1, 2]) @ last.T @ named.T, rtol=1e-5)
    np.testing.assert_allclose(found[2], (np.array([[1.0, 2.0]]) @ named).T @ np.ones([1, 2]), rtol=1e-5)
