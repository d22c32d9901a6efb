"""Checks of arguments that need no node."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_proper_iterables():
    for fine in ([1], (), {"a": 1}, range(3)):
        tf.assert_proper_iterable(fine)
    for wrong in ("s", b"s", np.ones(2), tf.constant([1.0])):
        with pytest.raises(TypeError, match='to be a "proper" iterable'):
            tf.assert_proper_iterable(wrong)
    with pytest.raises(TypeError, match="to be iterable"):
        tf.assert_proper_iterable(3)


def test_one_floating_dtype():
    single, double, whole = tf.constant(1.0), tf.constant(1.0, tf.float64), tf.constant(1)
    assert tf.assert_same_float_dtype() is tf.float32
    assert tf.assert_same_float_dtype([double, None, double]) is tf.float64
    assert tf.assert_same_float_dtype([single], tf.float32) is tf.float32
    with pytest.raises(ValueError, match=r"must be of the same type .* as Const:0"):
        tf.assert_same_float_dtype([single, double])
    with pytest.raises(ValueError, match=r"Expected floating point type, got .*int32"):
        tf.assert_same_float_dtype([whole])


def test_what_is_a_tensor():
    assert tf.is_tensor(tf.constant(1))
    assert tf.is_tensor(tf.Variable(1.0))
    assert tf.is_tensor(tf.SparseTensor([[0]], [1.0], [2]))
    assert not tf.is_tensor(np.ones(2))
    assert not tf.is_tensor(3)


def test_values_that_are_known_before_a_run():
    known = tf.get_static_value
    assert known(3) == 3 and known([1, 2]) == [1, 2] and known("a") == "a"
    assert known(tf.get_variable("v", [2])) is None
    x = tf.placeholder(tf.int32, [])
    assert known(tf.stack([1, x])) is None
    assert known(tf.stack([1, x]), partial=True).tolist() == [1, None]
    assert known(tf.stack([[1, x], [2, 3]]), partial=True).tolist() == [[1, None], [2, 3]]
    assert known(tf.stack([1, 2]), partial=True).tolist() == [1, 2]
