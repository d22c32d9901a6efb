"""`tf.contrib.metrics`: `tf.metrics` with predictions before labels. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp import metrics as _metrics
from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.metrics.ranking import average_precision_at_top_k
from tfexp.metrics.ranking import precision_at_top_k as _precision_at_top_k
from tfexp.metrics.ranking import recall_at_top_k as _recall_at_top_k
from tfexp.metrics.streaming import FLOAT, fitted, published
from tfexp.metrics.thresholds import at_thresholds, spread
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal, greater
from tfexp.ops.confusion_matrix import confusion_matrix as confusion_matrix
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.nn_topk import in_top_k
from tfexp.ops.reduce import reduce_max, reduce_mean, reduce_sum
from tfexp.ops.variable_scope import variable_scope

_EPSILON = 1e-7


def _swapped(of: Callable[..., Any], prefix: str = "streaming") -> Callable[..., Any]:
    def metric(predictions: Any, labels: Any, *args: Any, **kwargs: Any) -> Any:
        return of(labels, predictions, *args, **kwargs)

    metric.__name__ = metric.__qualname__ = f"{prefix}_{of.__name__}"
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
streaming_mean_tensor = _metrics.mean_tensor
streaming_percentage_less = _metrics.percentage_below
streaming_mean_cosine_distance = _swapped(_metrics.mean_cosine_distance)
streaming_mean_relative_error = _swapped(_metrics.mean_relative_error)
streaming_precision_at_thresholds = _swapped(_metrics.precision_at_thresholds)
streaming_recall_at_thresholds = _swapped(_metrics.recall_at_thresholds)
streaming_sensitivity_at_specificity = _swapped(_metrics.sensitivity_at_specificity)
streaming_specificity_at_sensitivity = _swapped(_metrics.specificity_at_sensitivity)
streaming_sparse_precision_at_k = _swapped(_metrics.precision_at_k, "streaming_sparse")
streaming_sparse_recall_at_k = _swapped(_metrics.recall_at_k, "streaming_sparse")
streaming_sparse_average_precision_at_k = _swapped(_metrics.average_precision_at_k, "streaming_sparse")


def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(share, update) of the classes predicted for an example, [..., k], that are among its labels, [..., labels]."""
    return _precision_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, name
    )


def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(share, update) of an example's labels, [..., labels], that are among the classes predicted for it, [..., k]."""
    return _recall_at_top_k(
        labels, top_k_predictions, None, class_id, weights, metrics_collections, updates_collections, name
    )


def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(mean over examples, update) of the average precision of predicted classes [..., k], the likeliest first."""
    return average_precision_at_top_k(labels, top_k_predictions, weights, metrics_collections, updates_collections, name)


def accuracy(predictions: Any, labels: Any, weights: Any = None, name: str | None = None) -> Tensor:
    """The (weighted) share of predictions that are their labels, of one batch. Both are bools, integers or strings.

    ValueError for other types, and for types that differ.
    """
    for given in (predictions, labels):
        if not (given.dtype.is_integer or given.dtype in (dtypes.bool, dtypes.string)):
            raise ValueError(f"Labels and predictions should have bool, string or integer dtype, not {given.dtype.name}.")
    if labels.dtype != predictions.dtype:
        raise ValueError(f"Dtypes of predictions and labels should match: {predictions.dtype.name}, {labels.dtype.name}.")
    with name_scope(name, "accuracy", [predictions, labels]):
        right = cast(equal(predictions, labels), FLOAT)
        if weights is None:
            return reduce_mean(right)
        weights = convert_to_tensor(weights)
        return truediv(reduce_sum(mul(right, weights)), reduce_sum(mul(weights, ones_like(right))))


def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(share, update) of the labels [batch] that are among the k classes of the highest scores [batch, classes]."""
    found = cast(in_top_k(predictions, labels, k), FLOAT)
    return _metrics.mean(found, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


def _rate(name: str, counted: Callable[..., Any], others: Callable[..., Any]) -> Callable[..., Any]:
    def rate(
        predictions: Any,
        labels: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> tuple[Any, Any]:
        with variable_scope(name, default_name, (predictions, labels, weights)):
            predictions, labels, weights = fitted(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
            both = zip(counted(labels, predictions, weights), others(labels, predictions, weights), strict=True)
            value, update = (
                where(greater(one + rest, 0), truediv(one, one + rest), 0.0, name=step)
                for step, (one, rest) in zip(("value", "update_op"), both, strict=True)
            )
            return published(value, update, metrics_collections, updates_collections)

    default_name = name
    rate.__name__ = rate.__qualname__ = f"streaming_{name}"
    rate.__doc__ = f"({name.replace('_', ' ')}, update): {counted.__name__} over them and {others.__name__}; 0 for none."
    return rate


streaming_false_negative_rate = _rate("false_negative_rate", _metrics.false_negatives, _metrics.true_positives)
streaming_false_positive_rate = _rate("false_positive_rate", _metrics.false_positives, _metrics.true_negatives)


def _counter_at_thresholds(kind: str, name: str) -> Callable[..., Any]:
    def count(predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None) -> tuple[Any, Any]:
        values, updates = at_thresholds(labels, predictions, thresholds, weights, (kind,))
        return values[kind], updates[kind]

    count.__name__ = count.__qualname__ = f"streaming_{name}_at_thresholds"
    count.__doc__ = f"(weighted number of {name.replace('_', ' ')}, update), for each threshold that predictions are above."
    return count


streaming_true_positives_at_thresholds = _counter_at_thresholds("tp", "true_positives")
streaming_true_negatives_at_thresholds = _counter_at_thresholds("tn", "true_negatives")
streaming_false_positives_at_thresholds = _counter_at_thresholds("fp", "false_positives")
streaming_false_negatives_at_thresholds = _counter_at_thresholds("fn", "false_negatives")


def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """(best F1 over thresholds for predictions in [0, 1], update): the harmonic mean of precision and recall."""
    with variable_scope(name, "f1", (labels, predictions, weights)):
        values, updates = at_thresholds(labels, predictions, spread(num_thresholds), weights, ("tp", "fp", "fn"))
        return published(_best_f1(values, "value"), _best_f1(updates, "update"), metrics_collections, updates_collections)


def _best_f1(counts: Mapping[str, Any], step: str) -> Tensor:
    precision: Any = truediv(counts["tp"], _EPSILON + counts["tp"] + counts["fp"], name=f"precision_{step}")
    recall: Any = truediv(counts["tp"], _EPSILON + counts["tp"] + counts["fn"], name=f"recall_{step}")
    return reduce_max(2.0 * precision * recall / (precision + recall + _EPSILON))


def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """(values, updates) of (value, update) pairs. ValueError when there are none."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """({name: value}, {name: update}) of {name: (value, update)}."""
    return {n: pair[0] for n, pair in names_to_tuples.items()}, {n: pair[1] for n, pair in names_to_tuples.items()}
