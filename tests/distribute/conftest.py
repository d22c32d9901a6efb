"""Every test here has a graph of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as g:
        yield g
