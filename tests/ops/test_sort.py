"""tf.argsort against NumPy's, along every axis, of every kind of number."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8", "int64"])
@pytest.mark.parametrize("axis", [0, 1, -1, -3])
@pytest.mark.parametrize("known", [True, False])
def test_both_directions(dtype, axis, known):
    x = np.random.RandomState(3).permutation(30).reshape(2, 3, 5).astype(dtype)
    fed = tf.placeholder(dtype, x.shape if known else [None] * 3)
    fetches = [tf.argsort(fed, axis=axis, direction=d) for d in ("ASCENDING", "DESCENDING")]
    places_up, places_down = tf.Session().run(fetches, {fed: x})
    np.testing.assert_array_equal(places_up, np.argsort(x, axis, kind="stable"))
    np.testing.assert_array_equal(places_down, np.flip(np.argsort(x, axis), axis))
    assert places_up.dtype == np.int32


def test_rank_may_be_unknown():
    fed = tf.placeholder(tf.float32)
    x = np.float32([[3, 1], [2, 5], [1, 4]])
    np.testing.assert_array_equal(tf.Session().run(tf.argsort(fed, axis=0), {fed: x}), np.argsort(x, 0))
    np.testing.assert_array_equal(tf.Session().run(tf.argsort(fed), {fed: x}), np.argsort(x))


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_the_least_number_does_not_overflow(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.max, limits.min, 3], dtype)
    assert tf.Session().run(tf.argsort(tf.constant(x))).tolist() == [1, 2, 0]


def test_equal_elements_keep_their_order():
    assert tf.Session().run(tf.argsort([2, 1, 2, 1, 2], stable=True)).tolist() == [1, 3, 0, 2, 4]


def test_errors():
    with pytest.raises(ValueError, match="should be one of ASCENDING, DESCENDING"):
        tf.argsort([1, 2], direction="up")
    with pytest.raises(ValueError, match="axis must be a constant scalar"):
        tf.argsort([1, 2], axis=tf.placeholder(tf.int32, []))
