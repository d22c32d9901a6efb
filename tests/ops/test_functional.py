"""tf.map_fn, tf.scan, tf.foldl, tf.foldr and tf.hessians against NumPy."""

import functools

import numpy as np
import pytest

import tfexp as tf

X = np.random.RandomState(5).uniform(0.5, 1.5, (5, 3))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(fetches, feeds=None):
    with tf.Session() as session:
        for _ in range(3):
            result = session.run(fetches, feeds)
    return result


@pytest.fixture(params=[[5, 3], [None, 3], None], ids=str)
def x(request):
    return tf.placeholder(tf.float64, request.param)


def test_map_fn(x):
    if x.get_shape().rank is None:
        x.set_shape([None, None])
    y = tf.map_fn(lambda row: tf.reduce_sum(row * row), x)
    np.testing.assert_allclose(run(y, {x: X}), (X * X).sum(1))
    np.testing.assert_allclose(run(tf.gradients(y, x)[0], {x: X}), 2 * X)


def test_map_fn_keeps_what_is_known_of_the_shape():
    assert tf.map_fn(lambda row: row[:2], tf.zeros([5, 3])).get_shape().as_list() == [5, 2]


def test_map_fn_of_structures():
    a, b = tf.map_fn(lambda e: (e["u"] + e["v"], e["u"] > 1.0), {"u": X, "v": X[::-1]}, dtype=(tf.float64, tf.bool))
    a, b = run([a, b])
    np.testing.assert_allclose(a, X + X[::-1])
    np.testing.assert_array_equal(b, X > 1.0)


def test_map_fn_over_nothing():
    n = tf.placeholder(tf.float32, [None])
    assert run(tf.map_fn(lambda v: v * 2.0, n), {n: np.zeros(0)}).shape == (0,)


def accumulated(function, rows, start):
    found = []
    for row in rows:
        start = function(start, row)
        found.append(start)
    return np.array(found)


def test_scan(x):
    if x.get_shape().rank is None:
        x.set_shape([None, None])
    np.testing.assert_allclose(run(tf.scan(lambda a, v: a * v, x), {x: X}), np.cumprod(X, 0))
    reverse = tf.scan(lambda a, v: a * v, x, reverse=True)
    np.testing.assert_allclose(run(reverse, {x: X}), np.cumprod(X[::-1], 0)[::-1])
    started = tf.scan(lambda a, v: a + tf.reduce_sum(v), x, initializer=tf.constant(1.0, tf.float64))
    np.testing.assert_allclose(run(started, {x: X}), 1 + np.cumsum(X.sum(1)))


def test_scan_gradient():
    x = tf.placeholder(tf.float64, [5, 3])
    y = tf.scan(lambda a, v: 0.5 * a + v, x)
    weights = [sum(0.5**k for k in range(5 - i)) for i in range(5)]
    np.testing.assert_allclose(run(tf.gradients(y, x)[0], {x: X}), np.repeat(np.array(weights)[:, None], 3, 1))


def test_folds():
    step = lambda a, v: 0.5 * a + v  # noqa: E731
    zero = np.zeros(3)
    left, right = tf.foldl(step, X), tf.foldr(step, X)
    from_zero = tf.foldl(step, X, initializer=zero), tf.foldr(step, X, initializer=zero)
    a, b, c, d = run([left, right, *from_zero])
    np.testing.assert_allclose(a, functools.reduce(step, X))
    np.testing.assert_allclose(b, functools.reduce(step, X[::-1]))
    np.testing.assert_allclose(c, functools.reduce(step, X, zero))
    np.testing.assert_allclose(d, functools.reduce(step, X[::-1], zero))


@pytest.mark.parametrize("function", [tf.foldl, tf.foldr, tf.scan])
def test_what_they_refuse(function):
    with pytest.raises(TypeError, match="fn must be callable"):
        function(3, X)
    with pytest.raises(ValueError, match=r"must be 1. dimensional Tensors"):
        function(lambda a, v: a + v, tf.constant(1.0))
    with pytest.raises(ValueError, match=r"not compatible|incompatible"):
        function(lambda a, v: a, (tf.zeros([2]), tf.zeros([3])), tf.constant(0.0))


def test_map_fn_refuses_another_structure():
    with pytest.raises((TypeError, ValueError), match="structure"):
        tf.map_fn(lambda v: (v, v), X)


def test_hessians():
    x, z = tf.placeholder(tf.float64, [3]), tf.placeholder(tf.float64, [2, 2])
    first, second = tf.hessians(tf.reduce_sum(x**4) * tf.reduce_sum(z * z), [x, z])
    feeds = {x: np.array([1.0, 2.0, -1.0]), z: np.array([[1.0, 0.5], [2.0, -1.0]])}
    a, b = run([first, second], feeds)
    np.testing.assert_allclose(a, np.diag(12 * feeds[x] ** 2) * 6.25)
    np.testing.assert_allclose(b.reshape(4, 4), np.eye(4) * 2 * 18)
    with pytest.raises(ValueError, match="no Hessian"):
        tf.hessians(tf.reduce_sum(x), z)
