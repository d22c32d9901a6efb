"""Metrics of heads, and their names. Source: `tf.contrib.learn`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.scopes import name_scope
from tfexp.metrics.means import accuracy, mean
from tfexp.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from tfexp.ops.array import squeeze
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal, greater_equal
from tfexp.ops.weights_broadcast import broadcast_weights

Metric = tuple[Any, Any]


class MetricKey:
    """What metrics are called."""

    LOSS = "loss"
    AUC = "auc"
    AUC_PR = "auc_precision_recall"
    CLASS_AUC = "auc/class%d"
    CLASS_AUC_PR = "auc_precision_recall/class%d"
    PREDICTION_MEAN = "labels/prediction_mean"
    CLASS_PREDICTION_MEAN = "labels/prediction_mean/class%d"
    CLASS_LOGITS_MEAN = "labels/logits_mean/class%d"
    CLASS_PROBABILITY_MEAN = "labels/probability_mean/class%d"
    LABEL_MEAN = "labels/actual_label_mean"
    CLASS_LABEL_MEAN = "labels/actual_label_mean/class%d"
    ACCURACY = "accuracy"
    ACCURACY_BASELINE = "accuracy/baseline_label_mean"
    ACCURACY_MEAN = "accuracy/threshold_%f_mean"
    PRECISION_MEAN = "precision/positive_threshold_%f_mean"
    RECALL_MEAN = "recall/positive_threshold_%f_mean"


def mean_of(values: Any, weights: Any, class_id: int | None = None) -> Metric:
    """The mean of [batch, classes], or of one class."""
    values, weights = cast(values, dtypes.float32), _repeated(weights, values)
    if class_id is None:
        return mean(values, weights)
    return mean(values[:, class_id], None if weights is None else weights[:, class_id])


def share_of(class_ids: Any, weights: Any, class_id: int) -> Metric:
    """How many of the numbers are that of the class."""
    is_class = equal(cast(class_ids, dtypes.int32), class_id)
    return mean(cast(is_class, dtypes.float32), weights)


def area(labels: Any, probabilities: Any, weights: Any, class_id: int | None = None, curve: str = "ROC") -> Metric:
    """Under a curve of [batch, classes], or of one class."""
    labels, weights = cast(labels, dtypes.bool), _repeated(weights, probabilities)
    if class_id is not None:
        labels, probabilities = labels[:, class_id], probabilities[:, class_id]
        weights = None if weights is None else weights[:, class_id]
    return auc(labels, probabilities, weights, curve=curve)


def at_threshold(labels: Any, probabilities: Any, weights: Any, threshold: float) -> dict[str, Metric]:
    """Accuracy, precision and recall where probabilities from the threshold on count as true."""
    chosen = cast(greater_equal(probabilities, threshold), dtypes.float32)
    precision = precision_at_thresholds(labels, probabilities, (threshold,), weights)
    recall = recall_at_thresholds(labels, probabilities, (threshold,), weights)
    return {
        MetricKey.ACCURACY_MEAN % threshold: accuracy(labels, chosen, weights),
        MetricKey.PRECISION_MEAN % threshold: _scalars(precision),
        MetricKey.RECALL_MEAN % threshold: _scalars(recall),
    }


def _scalars(pair: Metric) -> Metric:
    value, update = pair
    return squeeze(value), squeeze(update)


def _repeated(weights: Any, values: Any) -> Any:
    """Weights for each of the values."""
    if weights is None:
        return None
    with name_scope(None, "float_weights", [weights]):
        return broadcast_weights(cast(weights, dtypes.float32), cast(values, dtypes.float32))
