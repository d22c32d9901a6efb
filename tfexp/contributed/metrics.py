"""`tf.contrib.metrics`: `tf.metrics` with predictions before labels. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp import metrics as _metrics
from tfexp.ops.confusion_matrix import confusion_matrix as confusion_matrix


def _swapped(of: Callable[..., Any]) -> Callable[..., Any]:
    def metric(predictions: Any, labels: Any, *args: Any, **kwargs: Any) -> Any:
        return of(labels, predictions, *args, **kwargs)

    metric.__name__ = metric.__qualname__ = f"streaming_{of.__name__}"
    metric.__doc__ = f"`tf.metrics.{of.__name__}` with its first two arguments swapped."
    return metric


streaming_mean = _metrics.mean
streaming_accuracy = _swapped(_metrics.accuracy)
streaming_auc = _swapped(_metrics.auc)
streaming_precision = _swapped(_metrics.precision)
streaming_recall = _swapped(_metrics.recall)
streaming_mean_absolute_error = _swapped(_metrics.mean_absolute_error)
streaming_mean_squared_error = _swapped(_metrics.mean_squared_error)
streaming_root_mean_squared_error = _swapped(_metrics.root_mean_squared_error)
streaming_mean_iou = _swapped(_metrics.mean_iou)
streaming_true_positives = _swapped(_metrics.true_positives)
streaming_true_negatives = _swapped(_metrics.true_negatives)
streaming_false_positives = _swapped(_metrics.false_positives)
streaming_false_negatives = _swapped(_metrics.false_negatives)


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """(values, updates) of (value, update) pairs. ValueError when there are none."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """({name: value}, {name: update}) of {name: (value, update)}."""
    return {n: pair[0] for n, pair in names_to_tuples.items()}, {n: pair[1] for n, pair in names_to_tuples.items()}
