"""`tf.metrics`: precision and recall of the k classes that are predicted first, and their average. Source: TF 1.15.

Labels are class numbers, int64 `[..., labels of an example]`, dense or sparse, or `[...]` for one label each; what is
predicted are scores `[..., classes]` or class numbers `[..., k]`. `class_id` counts one class alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.metrics.average_precision import average_precision
from tfexp.metrics.class_labels import with_label_dimension, without_unknown_classes
from tfexp.metrics.streaming import metric_variable, of_graphs, published
from tfexp.ops.array import reshape, shape, size
from tfexp.ops.array_fill import fill
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import add, mul
from tfexp.ops.elementwise_division import div_no_nan, truediv
from tfexp.ops.nn_topk import top_k
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.reduce_gradients import kept_shape
from tfexp.ops.sets import set_difference, set_intersection, set_size
from tfexp.ops.sparse import sparse_retain
from tfexp.ops.state import assign_add
from tfexp.ops.weights_broadcast import assert_broadcastable, broadcast_weights

Streamed = tuple[Any, Any]


def _at_k(name: str, k: int | None, class_id: int | None = None) -> str:
    named = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return named if class_id is None else f"{named}_class{class_id}"


def _of_class(ids: Any, class_id: int) -> SparseTensor:
    """The class numbers that are `class_id`, in sets of the shape of `ids`."""
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, equal(ids.values, class_id))
    whole = shape(ids, out_type=dtypes.int64)
    one_each = kept_shape(whole, reshape(size(whole) - 1, [1]))
    found = set_intersection(fill(one_each, cast(class_id, dtypes.int64)), ids)
    return SparseTensor(found.indices, found.values, whole)


def _counter(
    plural: str, singular: str, compare: Callable[[Any, Any], SparseTensor]
) -> Callable[[Any, Any, Any, int | None, int | None], tuple[Any, Any]]:
    """A function that makes (the number of all batches, its update) of the elements of `compare(predicted, labels)`."""

    def count(predicted: Any, labels: Any, weights: Any, k: int | None, class_id: int | None) -> tuple[Any, Any]:
        with name_scope(None, _at_k(singular, k, class_id), (predicted, labels, weights)) as scope:
            with name_scope(None, plural, (predicted, labels, weights)):
                mine = labels
                if class_id is not None:
                    mine, predicted = _of_class(labels, class_id), _of_class(predicted, class_id)
                found = cast(set_size(compare(predicted, mine)), dtypes.float64)
                if weights is not None:
                    with control_dependencies((assert_broadcastable(weights, found),)):
                        found = mul(found, cast(weights, dtypes.float64))
            batch = reduce_sum(found)
            total = metric_variable([], dtypes.float64, scope)
            return total, assign_add(total, batch, name="update")

    return count


_true_positives = _counter("true_positives", "true_positive", set_intersection)
_false_positives = _counter("false_positives", "false_positive", set_difference)
_false_negatives = _counter(
    "false_negatives", "false_negative", lambda predicted, labels: set_difference(predicted, labels, aminusb=False)
)


def _share(
    of: str,
    misses: Callable[[Any, Any, Any, int | None, int | None], tuple[Any, Any]],
    labels: Any,
    predicted: Any,
    k: int | None,
    class_id: int | None,
    weights: Any,
    collections: tuple[Any, Any],
    name: str | None,
) -> Streamed:
    """Hits of hits and `misses`."""
    with name_scope(name, _at_k(of, k, class_id), (predicted, labels, weights)) as scope:
        labels = with_label_dimension(labels, predicted)
        top = cast(predicted, dtypes.int64)
        hits, hits_update = _true_positives(top, labels, weights, k, class_id)
        missed, missed_update = misses(top, labels, weights, k, class_id)
        value = truediv(hits, add(hits, missed), name=scope)
        update = truediv(hits_update, add(hits_update, missed_update), name="update")
        return published(value, update, *collections)


@of_graphs
def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """Of the classes predicted for an example, `predictions_idx`, the share that are among its labels."""
    collections = metrics_collections, updates_collections
    return _share("precision", _false_positives, labels, predictions_idx, k, class_id, weights, collections, name)


@of_graphs
def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """Of an example's labels, the share that are among the classes predicted for it, `predictions_idx`."""
    collections = metrics_collections, updates_collections
    return _share("recall", _false_negatives, labels, predictions_idx, k, class_id, weights, collections, name)


@of_graphs
def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """`precision_at_top_k` of the k classes with the highest scores."""
    with name_scope(name, _at_k("precision", k, class_id), (predictions, labels, weights)) as scope:
        _, top = top_k(predictions, k)
        return precision_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


@of_graphs
def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """`recall_at_top_k` of the k classes with the highest scores."""
    with name_scope(name, _at_k("recall", k, class_id), (predictions, labels, weights)) as scope:
        _, top = top_k(predictions, k)
        return recall_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


@of_graphs
def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The mean over examples of the average, over the ranks of their labels, of the precision down to that rank.

    Labels that are no class count as labels that are never predicted; negative ones do not count.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with name_scope(name, _at_k("average_precision", k), (predictions, labels, weights)) as scope:
        _, top = top_k(predictions, k)
        labels = without_unknown_classes(labels, cast(shape(predictions)[-1], dtypes.int64))
        return average_precision_at_top_k(labels, top, weights, metrics_collections, updates_collections, scope)


def average_precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """As `average_precision_at_k`, of classes [..., k] that are sorted already."""
    with name_scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as scope:
        each: Tensor = average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(cast(weights, dtypes.float64), each)
            each = mul(each, weights)
        with name_scope(None, "max", (each,)) as inner:
            most = metric_variable([], dtypes.float64, inner)
            if weights is None:
                batch = cast(size(each, name="batch_max"), dtypes.float64)
            else:
                batch = reduce_sum(weights, name="batch_max")
            most_update = assign_add(most, batch, name="update")
        with name_scope(None, "total", (each,)) as inner:
            total = metric_variable([], dtypes.float64, inner)
            total_update = assign_add(total, reduce_sum(each, name="batch_total"), name="update")
        value = div_no_nan(total, most, name="mean")
        update = div_no_nan(total_update, most_update, name=scope)
        return published(value, update, metrics_collections, updates_collections)
