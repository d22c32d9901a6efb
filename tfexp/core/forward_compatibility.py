"""`tf.compat.forward_compatible`: features that older readers of a graph know. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator

HORIZON = datetime.date(2019, 8, 27)  # 1.15's first release candidate
_horizon = HORIZON


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether what came into TensorFlow on that day may be used."""
    return _horizon > datetime.date(year, month, day)


@contextlib.contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """A block in which that day is the last whose features may not be used yet."""
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before
