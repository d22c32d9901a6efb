"""`tf.metrics`: averages over classes. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import FLOAT, fitted, metric_variable, of_graphs, published, ratio
from tfexp.ops.array import reshape, size
from tfexp.ops.array_fill import ones, ones_like
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal, greater, not_equal
from tfexp.ops.confusion_matrix import confusion_matrix
from tfexp.ops.diagonal import diag_part
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_division import div_no_nan, truediv
from tfexp.ops.reduce import reduce_mean, reduce_sum
from tfexp.ops.scatter import scatter_add
from tfexp.ops.state import assign_add
from tfexp.ops.variable_scope import variable_scope


def _flat(x: Any) -> Any:
    return reshape(x, [-1]) if x is not None and (x.get_shape().ndims is None or x.get_shape().ndims > 1) else x


def streaming_confusion_matrix(labels: Any, predictions: Any, num_classes: int, weights: Any = None) -> tuple[Any, Any]:
    """A local variable, float64 [num_classes, num_classes], and the op that adds a batch's confusion matrix to it."""
    total = metric_variable([num_classes, num_classes], dtypes.float64, "total_confusion_matrix")
    predictions, labels = cast(predictions, dtypes.int64), cast(labels, dtypes.int64)
    number = cast(num_classes, dtypes.int64)
    predictions, labels, weights = _flat(predictions), _flat(labels), _flat(weights)
    matrix = confusion_matrix(labels, predictions, number, weights=weights, dtype=dtypes.float64)
    return total, assign_add(total, matrix)


@of_graphs
def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean over classes of (intersection / union) of where they are and where they are predicted.

    The update adds a batch and gives the confusion matrix.
    """
    with variable_scope(name, "mean_iou", (predictions, labels, weights)):
        predictions, labels, weights = _alike(predictions, labels, weights)
        total, update = streaming_confusion_matrix(labels, predictions, num_classes, weights)
        return published(_mean_iou(total), update, metrics_collections, updates_collections)


def _alike(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    predictions, labels, weights = fitted(predictions, labels, weights)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return predictions, labels, weights


def _mean_iou(total: Any) -> Tensor:
    rows: Any = cast(reduce_sum(total, 0), FLOAT)
    columns = cast(reduce_sum(total, 1), FLOAT)
    both = cast(diag_part(total), FLOAT)
    union = rows + columns - both
    present: Any = reduce_sum(cast(not_equal(union, 0), FLOAT))
    shares = truediv(both, where(greater(union, 0), union, ones_like(union)))
    return where(greater(present, 0), reduce_sum(shares, name="mean_iou") / present, 0)  # type: ignore[operator]


def _mean_share(count: Any, total: Any) -> Tensor:
    return reduce_mean(div_no_nan(count, maximum(total, 0)), name="mean_accuracy")


@of_graphs
def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The mean over classes of how often each is predicted where it is; the update gives one share for each class."""
    with variable_scope(name, "mean_accuracy", (predictions, labels, weights)):
        labels = cast(labels, dtypes.int64)
        labels, predictions = _flat(labels), _flat(predictions)
        predictions, labels, _ = fitted(predictions, labels, None)
        total, count = metric_variable([num_classes], FLOAT, "total"), metric_variable([num_classes], FLOAT, "count")
        each: Any = ones([size(labels)], FLOAT)
        if labels.dtype != predictions.dtype:
            predictions = cast(predictions, labels.dtype)
        correct: Any = cast(equal(predictions, labels), FLOAT)
        if weights is not None:
            weights = cast(_flat(weights), FLOAT)
            correct, each = correct * weights, each * weights
        total_update, count_update = scatter_add(total, labels, each), scatter_add(count, labels, correct)
        value = _mean_share(count, total)
        return published(value, ratio(count_update, total_update, "update_op"), metrics_collections, updates_collections)
