"""`tf.errors.raise_exception_on_not_ok_status`."""

import pytest

import tfexp as tf


def test_a_status_that_is_not_ok_is_raised_in_the_end():
    with tf.errors.raise_exception_on_not_ok_status() as status:
        assert (status.code, status.message) == (tf.errors.OK, "")
    with (
        pytest.raises(tf.errors.NotFoundError, match="no such thing"),
        tf.errors.raise_exception_on_not_ok_status() as status,
    ):
        status.code, status.message = tf.errors.NOT_FOUND, "no such thing"
    with pytest.raises(KeyError), tf.errors.raise_exception_on_not_ok_status() as status:
        status.code = tf.errors.INTERNAL
        raise KeyError("what was raised inside comes first")
