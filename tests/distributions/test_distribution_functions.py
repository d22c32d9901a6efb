"""What `tf.contrib.distributions` computes with, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf

d = tf.contrib.distributions


@pytest.mark.parametrize("interpolation", ["nearest", "lower", "higher"])
@pytest.mark.parametrize(("axis", "keep_dims"), [(None, False), (1, True), ([0, -1], False), ([2, 0], True)])
@pytest.mark.parametrize("q", [0.0, 31.0, 77.7, 100.0])
def test_percentiles(interpolation, axis, keep_dims, q):
    x = np.random.RandomState(1).randn(3, 5, 7)
    with tf.Graph().as_default(), tf.Session() as session:
        found = d.percentile(x, q, axis, interpolation, keep_dims, validate_args=True)
        axes = tuple(axis) if isinstance(axis, list) else axis
        expected = np.percentile(x, q, axes, method=interpolation, keepdims=keep_dims)
        assert found.shape.as_list() == list(expected.shape)
        np.testing.assert_array_equal(session.run(found), expected)


def test_percentiles_that_are_refused():
    with tf.Graph().as_default(), tf.Session() as session:
        for arguments in ([[1.0], 50.0, None, "linear"], [[1.0], [50.0]]):
            with pytest.raises(ValueError, match=r"interpolation|scalar"):
                d.percentile(*arguments)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(d.percentile([1.0], tf.placeholder_with_default(101.0, []), validate_args=True))
