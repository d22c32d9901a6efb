"""The older names of argmax and argmin."""

from __future__ import annotations

import numpy as np

import tfexp as tf


def test_no_rows_have_no_largest_columns() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.float32, [None, 3])
        found = session.run([tf.argmax(rows, 1), tf.argmin(np.zeros([0, 3]), 1)], {rows: np.zeros([0, 3])})
    assert [places.shape for places in found] == [(0,), (0,)]


def test_older_names() -> None:
    x = np.float32([[1, 5, 2], [7, 0, 3]])
    largest, smallest = tf.arg_max(x, 1), tf.arg_min(x, 0, tf.int32, name="smallest")
    assert (largest.op.name, smallest.op.name, smallest.dtype) == ("ArgMax", "smallest", tf.int32)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(largest), [1, 0])
        np.testing.assert_array_equal(session.run(smallest), [0, 1, 0])
