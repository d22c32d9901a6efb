"""`tf.metrics`: true and false positives and negatives, precision and recall. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import FLOAT, fitted, metric_variable, of_graphs, published
from tfexp.ops.array import rank
from tfexp.ops.array_identity import identity
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_rank_in, assert_type
from tfexp.ops.comparison import equal, greater
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.logical import logical_and
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.state import assign_add
from tfexp.ops.variable_scope import variable_scope

Streamed = tuple[Any, Any]


def _counted(values: Any, weights: Any, metrics_collections: Any, updates_collections: Any) -> Streamed:
    """The weighted number of trues."""
    assert_type(values, dtypes.bool)
    count = metric_variable([], FLOAT, "count")
    values = cast(values, FLOAT)
    if weights is not None:
        weights = cast(weights, FLOAT)
        with control_dependencies((assert_rank_in(weights, (0, rank(values))),)):
            values = mul(values, weights)
    value = identity(count)
    update = assign_add(count, reduce_sum(values))
    return published(value, update, metrics_collections, updates_collections)


def _counter(name: str, label: bool, prediction: bool) -> Callable[..., Streamed]:
    def count(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Streamed:
        with variable_scope(name, default_name, (predictions, labels, weights)):
            predictions, labels, weights = fitted(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
            found = logical_and(equal(labels, label), equal(predictions, prediction))
            return _counted(found, weights, metrics_collections, updates_collections)

    default_name = name
    count.__name__ = count.__qualname__ = name
    count.__doc__ = f"(weighted number, update): labels that are {label} where predictions are {prediction}."
    return of_graphs(count)


true_positives = _counter("true_positives", True, True)
true_negatives = _counter("true_negatives", False, False)
false_positives = _counter("false_positives", False, True)
false_negatives = _counter("false_negatives", True, False)


def _share(hits: Any, misses: Any, name: str) -> Tensor:
    return where(greater(hits + misses, 0), truediv(hits, hits + misses), 0, name)


@of_graphs
def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """Of what is predicted true, the share that is; 0 where nothing is predicted."""
    with variable_scope(name, "precision", (predictions, labels, weights)):
        predictions, labels, weights = fitted(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
        hits, hits_update = true_positives(labels, predictions, weights)
        misses, misses_update = false_positives(labels, predictions, weights)
        value, update = _share(hits, misses, "value"), _share(hits_update, misses_update, "update_op")
        return published(value, update, metrics_collections, updates_collections)


@of_graphs
def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """Of what is true, the share that is predicted; 0 where nothing is true."""
    with variable_scope(name, "recall", (predictions, labels, weights)):
        predictions, labels, weights = fitted(cast(predictions, dtypes.bool), cast(labels, dtypes.bool), weights)
        hits, hits_update = true_positives(labels, predictions, weights)
        misses, misses_update = false_negatives(labels, predictions, weights)
        value, update = _share(hits, misses, "value"), _share(hits_update, misses_update, "update_op")
        return published(value, update, metrics_collections, updates_collections)
