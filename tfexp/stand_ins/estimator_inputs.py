"""`tensorflow_estimator.python.estimator.util`: the parts of what an `input_fn` has given.

Source: tensorflow_estimator 1.15.
"""

from __future__ import annotations

from typing import Any

from tfexp.estimator.model import given_parts, split_input
from tfexp.train.session_hooks import SessionRunHook


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """(features, labels or None, hooks); of a Dataset, those of its next element. ValueError for a tuple that is no pair."""
    parts = given_parts(result)
    return parts.features, parts.labels, list(parts.hooks)


def parse_iterator_result(result: Any) -> tuple[Any, Any]:
    """(features, labels or None) of an element. ValueError for a tuple that is no pair."""
    parts = split_input(result, ())
    return parts.features, parts.labels
