"""The older names of argmax and argmin."""

from __future__ import annotations

import numpy as np

import tfexp as tf


def test_older_names() -> None:
    x = np.float32([[1, 5, 2], [7, 0, 3]])
    largest, smallest = tf.arg_max(x, 1), tf.arg_min(x, 0, tf.int32, name="smallest")
    assert (largest.op.name, smallest.op.name, smallest.dtype) == ("ArgMax", "smallest", tf.int32)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(largest), [1, 0])
        np.testing.assert_array_equal(session.run(smallest), [0, 1, 0])
