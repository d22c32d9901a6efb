"""Every test here has no `TF_CONFIG`, and leaves no event file open."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    with tf.Graph().as_default():
        yield
    tf.summary.FileWriterCache.clear()
