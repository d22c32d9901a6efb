"""Numbers in sentences."""

from __future__ import annotations

import pytest

from tfexp.core.wording import plural


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (1, "worker", "1 worker"),
        (0, "worker", "0 workers"),
        (2, "process", "2 processes"),
        (3, "batch", "3 batches"),
        (1.0, "CPU", "1 CPU"),
        (0.5, "CPU", "0.5 CPUs"),
        (1_000_000, "step", "1000000 steps"),
    ],
)
def test_nouns_follow_their_number(count: float, noun: str, text: str) -> None:
    assert plural(count, noun) == text
