"""Checks of arguments that need no node."""

import numpy as np
import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_what_is_a_tensor():
    assert tf.is_tensor(tf.constant(1))
    assert tf.is_tensor(tf.Variable(1.0))
    assert tf.is_tensor(tf.SparseTensor([[0]], [1.0], [2]))
    assert not tf.is_tensor(np.ones(2))
    assert not tf.is_tensor(3)
