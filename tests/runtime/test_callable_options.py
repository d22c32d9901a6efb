"""Callables that are made from a CallableOptions."""

import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2

import tfexp as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def test_callables_of_options(session):
    x = tf.placeholder(tf.float32, name="x")
    count = tf.Variable(1.0, name="count", use_resource=True)
    session.run(count.initializer)
    fetch = (x * 3.0).name
    add = tf.assign_add(count, 2.0).op.name
    call = session._make_callable_from_options(config_pb2.CallableOptions(feed=["x:0"], fetch=[fetch], target=[add]))
    metadata = tf.RunMetadata()
    assert call(2.0, run_metadata=metadata) == [6.0]
    assert session.run(count) == 3.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 1 feed tensors, but got 2"):
        call(1.0, 2.0)
    options = config_pb2.CallableOptions()
    options.tensor_connection.add(from_tensor=fetch, to_tensor="x:0")
    with pytest.raises(tf.errors.UnimplementedError, match="cannot be connected"):
        session._make_callable_from_options(options)


def test_they_take_values_of_other_shapes_than_the_graph_says(session):
    x = tf.placeholder(tf.float32, [5, 3], name="x")
    sums = tf.reduce_sum(tf.matmul(x, tf.ones([3, 2])) + 1.0, axis=1)
    call = session._make_callable_from_options(config_pb2.CallableOptions(feed=["x:0"], fetch=[sums.name]))
    for rows in (5, 2, 2, 7):  # the first run of each is interpreted
        np.testing.assert_array_equal(call(np.ones([rows, 3], np.float32))[0], np.full(rows, 8.0))
