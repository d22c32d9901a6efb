"""tf.contrib.layers: group_norm, and what brings images, sequences and ids into other forms, against NumPy."""

import numpy as np
import pytest

import tfexp as tf

layers = tf.contrib.layers
IMAGES = np.random.RandomState(3).randn(2, 3, 5, 8).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.mark.parametrize("near_zero", [False, True])
@pytest.mark.parametrize("axes", [(-3, -2), (1,)])
def test_each_group_of_channels_is_normalised(axes, near_zero):
    found = run(layers.group_norm(IMAGES, groups=4, reduction_axes=axes, mean_close_to_zero=near_zero))
    grouped = IMAGES.reshape(2, 3, 5, 4, 2).astype(np.float64)
    over = (1, 2, 4) if len(axes) == 2 else (1, 4)
    expected = (grouped - grouped.mean(over, keepdims=True)) / np.sqrt(grouped.var(over, keepdims=True) + 1e-6)
    np.testing.assert_allclose(found, expected.reshape(IMAGES.shape), atol=1e-5)
    assert [variable.op.name for variable in tf.global_variables()] == ["GroupNorm/beta", "GroupNorm/gamma"]


def test_channels_may_come_first_and_the_batch_be_unknown():
    images = tf.placeholder_with_default(IMAGES.transpose(0, 3, 1, 2), [None, 8, 3, 5])
    found = layers.group_norm(images, groups=4, channels_axis=-3, reduction_axes=(-2, -1))
    expected = layers.group_norm(IMAGES, groups=4)
    first, last = run([found, expected])
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), last, atol=1e-6)


def test_groups_divide_the_channels():
    with pytest.raises(ValueError, match="Invalid groups 3"):
        layers.group_norm(IMAGES, groups=3)
    with pytest.raises(ValueError, match=r"has undefined dimensions 2\."):
        layers.group_norm(tf.placeholder(tf.float32, [None, 3, None, 8]), groups=4)
    with pytest.raises(ValueError, match="exclusive"):
        layers.group_norm(IMAGES, groups=4, reduction_axes=[-1])


def test_maxout():
    np.testing.assert_array_equal(run(layers.maxout(IMAGES, 2)), IMAGES.reshape(2, 3, 5, 2, 4).max(-1))
    np.testing.assert_array_equal(run(layers.maxout(IMAGES, 1, axis=1)), IMAGES.reshape(2, 1, 5, 8, 3).max(-1))
    with pytest.raises(ValueError, match="not a multiple"):
        layers.maxout(IMAGES, 3)


def test_spatial_softmax_finds_the_bright_spot():
    spots = np.zeros([1, 3, 5, 2], np.float32)
    spots[0, 2, 0, 0] = spots[0, 1, 2, 1] = 50.0
    np.testing.assert_allclose(run(layers.spatial_softmax(spots)), [[1, -1, 0, 0]], atol=1e-5)
    np.testing.assert_allclose(
        run(layers.spatial_softmax(spots.transpose(0, 3, 1, 2), 0.5, data_format="NCHW")), [[1, -1, 0, 0]], atol=1e-5
    )
    assert [variable.op.name for variable in tf.global_variables()] == [
        "spatial_softmax/temperature",
        "spatial_softmax_1/temperature",
    ]


def test_ids_that_end_become_sparse():
    found = run(layers.dense_to_sparse([[3, 0], [0, 4]]))
    assert found.indices.tolist() == [[0, 0], [1, 1]] and found.values.tolist() == [3, 4]


def test_a_bag_of_words_is_the_mean_of_embeddings():
    table = np.arange(14, dtype=np.float32).reshape(7, 2)
    initializer = tf.constant_initializer(table)
    ids = [[1, 0, -1], [0, 0, 0], [2, 3, 0]]
    expected = [table[1], table[0], table[2:4].mean(0)]
    np.testing.assert_allclose(run(layers.bow_encoder(ids, 7, 2, initializer=initializer)), expected)
    dense = layers.bow_encoder([[1, 0]], 7, 2, sparse_lookup=False, initializer=initializer)
    np.testing.assert_allclose(run(dense), [table[:2].mean(0)])
    with pytest.raises(TypeError, match="expected to be dense"):
        layers.bow_encoder(tf.SparseTensor([[0, 0]], [1], [1, 1]), 7, 2, sparse_lookup=False)


def test_images_are_sequences_of_columns():
    expected = IMAGES.transpose(2, 0, 1, 3).reshape(5, 6, 8)
    np.testing.assert_array_equal(run(layers.images_to_sequence(IMAGES)), expected)
    first = layers.images_to_sequence(IMAGES.transpose(0, 3, 1, 2), data_format="NCHW")
    np.testing.assert_array_equal(run(first), expected)
    fed = tf.placeholder(tf.float32, [None, 3, 5, 8])
    assert layers.images_to_sequence(fed).shape.as_list() == [5, None, 8]
