"""`tf.contrib.metrics`: rates of errors at thresholds. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.metrics.streaming import published
from tfexp.metrics.thresholds import at_thresholds
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.variable_scope import variable_scope

_EPSILON = 1e-7


def _rate_at_thresholds(name: str, counted: str, other: str) -> Callable[..., Any]:
    def rate(
        predictions: Any,
        labels: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> tuple[Any, Any]:
        with variable_scope(name, default_name, (predictions, labels, weights)):
            values, updates = at_thresholds(labels, predictions, thresholds, weights, (counted, other))
            value, update = (
                truediv(counts[counted], _EPSILON + counts[counted] + counts[other], name=step)
                for step, counts in (("value", values), ("update_op", updates))
            )
            return published(value, update, metrics_collections, updates_collections)

    default_name = f"{name}_at_thresholds"
    rate.__name__ = rate.__qualname__ = f"streaming_{default_name}"
    rate.__doc__ = f"({name.replace('_', ' ')} for each threshold that predictions in [0, 1] may be above, update)."
    return rate


streaming_false_negative_rate_at_thresholds = _rate_at_thresholds("false_negative_rate", "fn", "tp")
streaming_false_positive_rate_at_thresholds = _rate_at_thresholds("false_positive_rate", "fp", "tn")
