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


def test_what_is_raised_inside_comes_first():
    manager = tf.errors.raise_exception_on_not_ok_status()
    manager.__enter__().code = tf.errors.INTERNAL
    assert manager.__exit__(KeyError, KeyError("key"), None) is None  # it goes on as it is
