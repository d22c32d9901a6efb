"""Clipping by value and by norm, on tensors and on sparse gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf

X = np.float32([[3, -4], [0, 12]])


def run(*fetches):
    with tf.Session() as session:
        return session.run(list(fetches))


def test_clip_by_value() -> None:
    with tf.Graph().as_default():
        x = tf.constant(X)
        sparse = tf.clip_by_value(tf.IndexedSlices(x, tf.constant([1, 3])), -1.0, 1.0)
        assert isinstance(sparse, tf.IndexedSlices)
        scalars, broadcast, slices = run(tf.clip_by_value(x, -1, 5), tf.clip_by_value(x, [0, 0], [1, 2]), sparse.values)
        with pytest.raises(ValueError, match="are incompatible"):
            tf.clip_by_value(x, np.zeros((3, 2, 2), np.float32), 5.0)
    assert scalars.tolist() == [[3, -1], [0, 5]]
    assert broadcast.tolist() == [[1, 0], [0, 2]]
    assert slices.tolist() == [[1, -1], [0, 1]]


def test_clip_by_norm() -> None:
    with tf.Graph().as_default():
        x = tf.constant(X)
        whole, rows, small, zero = run(
            tf.clip_by_norm(x, 6.5), tf.clip_by_norm(x, 1.0, axes=[1]), tf.clip_by_norm(x, 20.0), tf.clip_by_norm(x * 0, 1.0)
        )
        gradient = run(tf.gradients(tf.clip_by_norm(tf.zeros([3]) + 0 * x[0, 0], 1.0), x)[0])[0]
    np.testing.assert_allclose(whole, X / 2, rtol=1e-6)
    np.testing.assert_allclose(rows, [[0.6, -0.8], [0, 1]], rtol=1e-6)
    np.testing.assert_allclose(small, X, rtol=1e-6)
    assert not zero.any()
    assert np.isfinite(gradient).all()


def test_clip_by_average_norm() -> None:
    with tf.Graph().as_default():
        (clipped,) = run(tf.clip_by_average_norm(tf.constant(X), 1.0))
    np.testing.assert_allclose(clipped, X * (4 / 13), rtol=1e-6)


def test_clip_by_global_norm() -> None:
    with tf.Graph().as_default():
        parts = [tf.constant(X), None, tf.IndexedSlices(tf.constant([[5.0]]), tf.constant([2]))]
        clipped, norm = tf.clip_by_global_norm(parts, 7.0)
        assert clipped[1] is None
        assert isinstance(clipped[2], tf.IndexedSlices)
        dense, sparse, size, alone = run(clipped[0], clipped[2].values, norm, tf.global_norm(parts))
        unchanged, _ = tf.clip_by_global_norm([tf.constant(X)], 100.0)
        nothing, _ = tf.clip_by_global_norm([tf.constant([np.inf])], 1.0)
        same, nan = run(unchanged[0], nothing[0])
        with pytest.raises(TypeError, match="t_list should be a sequence"):
            tf.clip_by_global_norm(tf.constant(X), 1.0)
        assert run(tf.global_norm([None])) == [0]
    expected = np.sqrt(9 + 16 + 144 + 25)
    assert size == pytest.approx(expected) == alone
    np.testing.assert_allclose(dense, X * 7 / expected, rtol=1e-6)
    np.testing.assert_allclose(sparse, [[5 * 7 / expected]], rtol=1e-6)
    np.testing.assert_allclose(same, X)
    assert np.isnan(nan).all()
