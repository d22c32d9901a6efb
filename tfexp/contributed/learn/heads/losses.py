"""Losses of heads: a pair of numbers, what is minimized and what is shown.

With weights w of the losses l of a batch of n, the first is sum(w * l) / n, the second sum(w * l) / sum(w).
Source: `tf.contrib.learn`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.estimator.arguments import argument_names
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import losses as _losses
from tfexp.ops.array import expand_dims, rank, reshape, squeeze
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.comparison import less_equal
from tfexp.ops.elementwise_binary import mul, squared_difference
from tfexp.ops.elementwise_division import div
from tfexp.ops.nn_cross_entropy import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tfexp.ops.reduce import reduce_mean, reduce_sum
from tfexp.ops.weights_broadcast import broadcast_weights

Pair = tuple[Tensor, Tensor]
LossFunction = Callable[[Any, Any, Any], Pair]


def custom_loss(given: Callable[..., Any] | None, otherwise: LossFunction) -> LossFunction:
    """What a program gives, or `otherwise`. ValueError for a function without `labels`, `logits` and `weights`."""
    if given is None:
        return otherwise
    missing = [name for name in ("labels", "logits", "weights") if name not in argument_names(given)]
    if missing:
        raise ValueError(f"Argument {missing[0]} not found in loss_fn.")

    def pair_of(labels: Any, logits: Any, weights: Any) -> Pair:
        loss = given(labels, logits) if weights is None else given(labels, logits, weights)
        return loss, loss

    return pair_of


def mean_squared_loss(labels: Any, logits: Any, weights: Any) -> Pair:
    """Of [batch] or [batch, n] numbers. ValueError for shapes that differ."""
    with name_scope(None, "mean_squared_loss", [logits, labels]) as scope:
        labels, logits = _columns(labels, logits)
        return _weighted(squared_difference(logits, cast(labels, dtypes.float32), name=scope), weights)


def poisson_loss(labels: Any, logits: Any, weights: Any) -> Pair:
    """Of counts, whose expected values' logarithms are the logits."""
    with name_scope(None, "_poisson_loss", [logits, labels]) as scope:
        labels, logits = _columns(labels, logits)
        return _weighted(log_poisson_loss(labels, logits, compute_full_loss=True, name=scope), weights)


def logistic_loss(labels: Any, logits: Any, weights: Any) -> Pair:
    """Of two classes, 0 and 1: labels [batch] or [batch, 1], logits [batch, 1]."""
    with name_scope(None, "log_loss_with_two_classes", [logits, labels]) as scope:
        truth = _column(cast(labels, dtypes.float32))
        return _weighted(sigmoid_cross_entropy_with_logits(labels=truth, logits=logits, name=scope), weights)


def softmax_loss(labels: Any, logits: Any, weights: Any) -> Pair:
    """Of classes by their numbers, [batch] or [batch, 1]. ValueError for labels that are no integers."""
    with name_scope(None, "softmax_cross_entropy_loss", [logits, labels]) as scope:
        labels = convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(f"Labels dtype should be integer Instead got {labels.dtype}.")
        is_column = labels.shape.ndims == 2
        ids = squeeze(labels, axis=[1]) if is_column else labels
        rows = sparse_softmax_cross_entropy_with_logits(labels=ids, logits=logits, name=scope)
        return _weighted(expand_dims(rows, 1) if is_column else rows, weights)


def sigmoid_loss(labels: Any, logits: Any, weights: Any) -> Pair:
    """Of several classes at once: labels 0 or 1, [batch, classes]."""
    with name_scope(None, "sigmoid_cross_entropy_loss", [logits, labels]) as scope:
        truth = cast(labels, dtypes.float32)
        return _weighted(sigmoid_cross_entropy_with_logits(labels=truth, logits=logits, name=scope), weights)


def hinge_loss(labels: Any, logits: Any, weights: Any) -> Pair:
    """Of two classes, 0 and 1, [batch] or [batch, 1]; a step with labels of more dimensions fails."""
    with name_scope(None, "hinge_loss", [logits, labels]) as scope:
        vector = Assert(less_equal(rank(labels), 2), ["labels shape should be either [batch_size, 1] or [batch_size]"])
        with control_dependencies([vector]):
            labels = reshape(labels, [-1, 1])
        none = _losses.Reduction.NONE
        return _weighted(_losses.hinge_loss(labels=labels, logits=logits, scope=scope, reduction=none), weights)


def _column(values: Any) -> Tensor:
    return expand_dims(values, 1) if values.shape.ndims == 1 else values


def _columns(labels: Any, logits: Any) -> tuple[Tensor, Tensor]:
    logits, labels = _column(convert_to_tensor(logits)), _column(convert_to_tensor(labels))
    logits.shape.assert_is_compatible_with(labels.shape)
    return labels, logits


def _weighted(rows: Tensor, weights: Any) -> Pair:
    with name_scope("loss", values=[rows] if weights is None else [rows, weights]) as scope:
        if weights is None:
            loss = reduce_mean(rows, name=scope)
            return loss, loss
        weights = broadcast_weights(weights, rows)
        with name_scope(None, "weighted_loss", [rows, weights]) as inner:
            weighted = mul(rows, weights, name=inner)
        minimized = reduce_mean(weighted, name=scope)
        total = cast(reduce_sum(weights), dtypes.float32)
        return minimized, div(reduce_sum(weighted), total, name="weighted_average_loss")
