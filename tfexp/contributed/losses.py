"""`tf.contrib.losses`: `tf.losses` with predictions before labels. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.ops import losses as _losses
from tfexp.ops.losses import add_loss as add_loss
from tfexp.ops.losses import compute_weighted_loss as compute_weighted_loss
from tfexp.ops.losses import get_losses as get_losses
from tfexp.ops.losses import get_regularization_losses as get_regularization_losses
from tfexp.ops.losses import get_total_loss as get_total_loss


def _swapped(of: Callable[..., Any]) -> Callable[..., Any]:
    """(predictions, labels, weights, scope) for (labels, predictions, weights, scope)."""

    def loss(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Any:
        return of(labels, predictions, weights=weights, scope=scope)

    loss.__name__ = loss.__qualname__ = of.__name__
    loss.__doc__ = f"`tf.losses.{of.__name__}(labels, predictions, weights, scope)`."
    return loss


absolute_difference = _swapped(_losses.absolute_difference)
mean_squared_error = _swapped(_losses.mean_squared_error)
mean_pairwise_squared_error = _swapped(_losses.mean_pairwise_squared_error)


def log_loss(
    predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None
) -> Any:
    """`tf.losses.log_loss` with contrib's arguments."""
    return _losses.log_loss(labels, predictions, weights=weights, epsilon=epsilon, scope=scope)


def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Any:
    """For each element, without a sum over them."""
    return _losses.hinge_loss(labels, logits, scope=scope, reduction=_losses.Reduction.NONE, loss_collection=None)


def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Any:
    """`tf.losses.cosine_distance` with contrib's arguments."""
    return _losses.cosine_distance(labels, predictions, axis=dim if axis is None else axis, weights=weights, scope=scope)


def sigmoid_cross_entropy(
    logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Any:
    """`tf.losses.sigmoid_cross_entropy` with contrib's arguments."""
    return _losses.sigmoid_cross_entropy(
        multi_class_labels, logits, weights=weights, label_smoothing=label_smoothing, scope=scope
    )


def softmax_cross_entropy(
    logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Any:
    """`tf.losses.softmax_cross_entropy` with contrib's arguments."""
    return _losses.softmax_cross_entropy(
        onehot_labels, logits, weights=weights, label_smoothing=label_smoothing, scope=scope
    )


def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Any:
    """`tf.losses.sparse_softmax_cross_entropy` with contrib's arguments."""
    return _losses.sparse_softmax_cross_entropy(labels, logits, weights=weights, scope=scope)
