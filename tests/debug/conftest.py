import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph():
    """A graph of its own for each test."""
    with tf.Graph().as_default() as graph:
        yield graph
