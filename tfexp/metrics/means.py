"""`tf.metrics`: means over all batches, and what is a mean of something. Source: TF 1.15.

Each gives (value, update): running `update` adds a batch and gives the value with it.
"""

from __future__ import annotations

from typing import Any

from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import FLOAT, fitted, metric_variable, of_graphs, published, ratio
from tfexp.ops.array import size
from tfexp.ops.array_fill import ones_like, zeros_like
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal, less
from tfexp.ops.elementwise_binary import mul, squared_difference, sub
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.losses import without_last_ones
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.state import assign_add
from tfexp.ops.variable_scope import variable_scope
from tfexp.ops.weights_broadcast import broadcast_weights

Streamed = tuple[Any, Any]


@of_graphs
def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The weighted mean of all values."""
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, FLOAT)
        total, count = metric_variable([], FLOAT, "total"), metric_variable([], FLOAT, "count")
        if weights is None:
            number: Any = cast(size(values), FLOAT)
        else:
            values, _, weights = fitted(values, None, weights)
            weights = broadcast_weights(cast(weights, FLOAT), values)
            values = mul(values, weights)
            number = reduce_sum(weights)
        total_update = assign_add(total, reduce_sum(values))
        with control_dependencies([values]):
            count_update = assign_add(count, number)
        value, update = ratio(total, count, "value"), ratio(total_update, count_update, "update_op")
        return published(value, update, metrics_collections, updates_collections)


@of_graphs
def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The weighted mean of each element, over batches of one shape."""
    with variable_scope(name, "mean", (values, weights)):
        values = cast(values, FLOAT)
        total = metric_variable(values.get_shape(), FLOAT, "total_tensor")
        count = metric_variable(values.get_shape(), FLOAT, "count_tensor")
        number: Any = ones_like(values)
        if weights is not None:
            values, _, weights = fitted(values, None, weights)
            weights = broadcast_weights(cast(weights, FLOAT), values)
            values, number = mul(values, weights), mul(number, weights)
        total_update = assign_add(total, values)
        with control_dependencies([values]):
            count_update = assign_add(count, number)
        value, update = ratio(total, count, "value"), ratio(total_update, count_update, "update_op")
        return published(value, update, metrics_collections, updates_collections)


@of_graphs
def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """How often predictions equal labels."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = cast(predictions, labels.dtype)
    correct = cast(equal(predictions, labels), FLOAT)
    return mean(correct, weights, metrics_collections, updates_collections, name or "accuracy")


@of_graphs
def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The mean of |predictions - labels|."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    errors = abs_(predictions - labels)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_absolute_error")


@of_graphs
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The mean of (predictions - labels)²."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    errors = squared_difference(labels, predictions)
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_squared_error")


@of_graphs
def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The square root of the mean squared error."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    value, update = mean_squared_error(labels, predictions, weights, None, None, name or "root_mean_squared_error")
    return published(sqrt(value), sqrt(update), metrics_collections, updates_collections)


@of_graphs
def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """One less the mean cosine of the angle between vectors of length 1 along dimension `dim`."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    cosines: Tensor = reduce_sum(mul(predictions, labels), axis=[dim], keepdims=True)
    value, update = mean(cosines, weights, None, None, name or "mean_cosine_distance")
    return published(sub(1.0, value), sub(1.0, update), metrics_collections, updates_collections)


@of_graphs
def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The mean of |labels - predictions| / normalizer, 0 where that is 0."""
    predictions, labels, weights = fitted(predictions, labels, weights)
    predictions, normalizer = without_last_ones(predictions, normalizer)
    predictions.get_shape().assert_is_compatible_with(normalizer.get_shape())
    errors = where(equal(normalizer, 0.0), zeros_like(labels), truediv(abs_(labels - predictions), normalizer))
    return mean(errors, weights, metrics_collections, updates_collections, name or "mean_relative_error")


@of_graphs
def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The share of values below the threshold."""
    below = cast(less(values, threshold), FLOAT)
    return mean(below, weights, metrics_collections, updates_collections, name or "percentage_below_threshold")
