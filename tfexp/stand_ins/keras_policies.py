"""The policy of a block: what `tensorflow.python.keras.mixed_precision.experimental.policy` has besides. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from tfexp.keras.mixed_precision.policy import Policy, global_policy, set_policy


@contextlib.contextmanager
def policy_scope(policy: Any) -> Iterator[None]:
    """In the block new layers have this policy, given as one or by name."""
    before = global_policy()
    try:
        set_policy(policy)
        yield
    finally:
        set_policy(before)


def with_input_dtype(policy: Policy, dtype: Any) -> Policy:
    """What a policy that infers becomes by a first input of this type. AssertionError for one that does not."""
    assert policy.compute_dtype is None, f"{policy.name!r} does not infer its type"
    return policy.with_input_dtype(dtype)
