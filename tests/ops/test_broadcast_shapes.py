"""Shapes that two shapes broadcast to; grids."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_static_and_dynamic_shapes_agree():
    static = tf.broadcast_static_shape(tf.TensorShape([3, 1, 5]), tf.TensorShape([2, 1]))
    dynamic = tf.broadcast_dynamic_shape(tf.constant([3, 1, 5]), tf.constant([2, 1]))
    assert static.as_list() == tf.Session().run(dynamic).tolist() == [3, 2, 5]
    assert tf.broadcast_static_shape(tf.TensorShape([None, 2]), tf.TensorShape([3, 2])).as_list() == [3, 2]
    with pytest.raises(ValueError, match="Incompatible shapes for broadcasting"):
        tf.broadcast_static_shape(tf.TensorShape([3]), tf.TensorShape([2]))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_grids_are_numpys(indexing, count):
    vectors = [np.arange(2.0), np.arange(3.0) + 5, np.arange(5.0) - 7][:count]
    grids = tf.Session().run(tf.meshgrid(*vectors, indexing=indexing))
    for grid, expected in zip(grids, np.meshgrid(*vectors, indexing=indexing), strict=True):
        np.testing.assert_array_equal(grid, expected)


def test_grid_arguments():
    with pytest.raises(ValueError, match="indexing parameter must be either 'xy' or 'ij', got 'yx'"):
        tf.meshgrid([1], [2], indexing="yx")
    with pytest.raises(TypeError, match="sparse is an invalid keyword argument"):
        tf.meshgrid([1], sparse=True)
