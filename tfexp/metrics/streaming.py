"""What metrics share: their variables, weights that fit, and collections."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.collections import GraphKeys
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import add_to_collections, executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, rank, squeeze
from tfexp.ops.array_fill import zeros
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.losses import without_last_ones
from tfexp.ops.variable_base import Variable, VariableAggregation, VariableSynchronization

Collections = Any
Metric = TypeVar("Metric", bound=Callable[..., Any])


def of_graphs(metric: Metric) -> Metric:
    """A metric of `tf.metrics`, which lives in a graph: RuntimeError where ops run at once."""

    @functools.wraps(metric)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if executing_eagerly():
            raise RuntimeError(f"tf.metrics.{metric.__name__} is not supported when eager execution is enabled.")
        return metric(*args, **kwargs)

    return cast(Metric, checked)


def metric_variable(shape: Any, dtype: Any, name: str | None, validate_shape: bool = True) -> Any:
    """A local variable of zeros in which batches add up; without `validate_shape` values of other shapes fit, too."""
    return Variable(
        initial_value=lambda: zeros(TensorShape(shape), dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
    )


def fitted(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """The three with ranks that fit: a last dimension of 1 that one has and the other has not goes, or is added."""
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = without_last_ones(labels, predictions)
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    if weights is None:
        return predictions, labels, None
    return predictions, labels, weights_fitted(convert_to_tensor(weights), predictions)


def weights_fitted(weights: Tensor, predictions: Tensor) -> Tensor:
    """Weights of the predictions' rank, but for scalars, as far as dropping or adding a last dimension does it."""
    mine, theirs = weights.get_shape().ndims, predictions.get_shape().ndims
    if mine == 0:
        return weights
    if mine is None or theirs is None:
        return _fitted_in_each_step(weights, predictions)
    if mine - theirs == 1:
        weights = squeeze(weights, [-1])
    elif theirs - mine == 1:
        weights = expand_dims(weights, [-1])
    return weights


def _fitted_in_each_step(weights: Tensor, predictions: Tensor) -> Tensor:
    """Weights that are not scalars with a last dimension less or more, as the ranks of a step are."""
    mine = rank(weights)
    difference = mine - rank(predictions)  # type: ignore[operator]
    may_squeeze = weights.get_shape().ndims is None or weights.get_shape()[-1:].is_compatible_with([1])

    def longer() -> Any:
        return cond(equal(difference, -1), lambda: expand_dims(weights, [-1]), lambda: weights)

    def shorter_or_longer() -> Any:
        return cond(equal(difference, 1), lambda: squeeze(weights, [-1]) if may_squeeze else weights, longer)

    result: Tensor = cond(equal(mine, 0), lambda: weights, shorter_or_longer)
    return result


def ratio(total: Any, count: Any, name: str) -> Tensor:
    """total / count, and 0 before there is anything to count."""
    return div_no_nan(total, maximum(count, 0), name=name)


def published(
    value: Any, update: Any, metrics_collections: Collections, updates_collections: Collections
) -> tuple[Any, Any]:
    """(value, update), kept in the collections."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


FLOAT = dtypes.float32
