"""The policy of a block: what `tensorflow.python.keras.mixed_precision.experimental.policy` has besides. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.keras.mixed_precision.policy import global_policy, set_policy


@contextlib.contextmanager
def policy_scope(policy: Any) -> Iterator[None]:
    """In the block new layers have this policy, given as one or by name."""
    before = global_policy()
    try:
        set_policy(policy)
        yield
    finally:
        set_policy(before)
