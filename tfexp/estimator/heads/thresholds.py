"""Metrics of probabilities, at thresholds from which on they count as true, and over all of these. TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.metrics.means import accuracy
from tfexp.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from tfexp.ops.array import squeeze
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal


def checked_thresholds(thresholds: Sequence[float] | None) -> tuple[float, ...]:
    """ValueError for one that is not between 0 and 1."""
    found = tuple(thresholds or ())
    for threshold in found:
        if not 0.0 < threshold < 1.0:
            raise ValueError(f"thresholds not in (0, 1): {found}")
    return found


def threshold_metrics(labels: Any, probabilities: Any, weights: Any, thresholds: Sequence[float]) -> dict[str, Any]:
    """`accuracy`, `precision` and `recall`, each `/positive_threshold_T`."""
    metrics = {}
    for threshold in thresholds:
        key = f"positive_threshold_{threshold:g}"
        chosen = cast(greater_equal(probabilities, threshold), dtypes.float32)
        metrics[f"accuracy/{key}"] = accuracy(labels, chosen, weights)
        for name, metric in (("precision", precision_at_thresholds), ("recall", recall_at_thresholds)):
            value, update = metric(labels, probabilities, (threshold,), weights)
            metrics[f"{name}/{key}"] = (squeeze(value), squeeze(update))
    return metrics


def areas(labels: Any, probabilities: Any, weights: Any, by_trapezoids: bool = False) -> dict[str, Any]:
    """`auc` of the ROC curve, and `auc_precision_recall`, which interpolates between the points of its curve or does not."""
    method = "trapezoidal" if by_trapezoids else "careful_interpolation"
    return {
        "auc": auc(labels, probabilities, weights),
        "auc_precision_recall": auc(labels, probabilities, weights, curve="PR", summation_method=method),
    }
