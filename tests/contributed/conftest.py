"""What tests of tf.contrib share."""

from collections.abc import Iterator

import pytest

import tfexp as tf


@pytest.fixture
def quiet() -> Iterator[None]:
    """Nothing less than an error is logged."""
    before = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.ERROR)
    yield
    tf.logging.set_verbosity(before)
