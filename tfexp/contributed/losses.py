"""`tf.contrib.losses`: predictions before labels, and weights of examples, [batch], for losses of more dimensions.

Unlike `tf.losses`, a weight stands for all losses of its example, whose number counts. Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import losses as _losses
from tfexp.ops.array import shape, squeeze
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.elementwise_unary import square
from tfexp.ops.losses import add_loss as add_loss
from tfexp.ops.losses import get_losses as get_losses
from tfexp.ops.losses import get_regularization_losses as get_regularization_losses
from tfexp.ops.losses import get_total_loss as get_total_loss
from tfexp.ops.reduce import reduce_prod, reduce_sum


def _known_rank(tensor: Tensor, name: str) -> int:
    ndims = tensor.get_shape().ndims
    if ndims is None:
        raise ValueError(f"{name}.get_shape().ndims cannot be None")
    return ndims


def _check_rank(weights: Tensor, rank: int) -> None:
    if len(weights.get_shape()) > rank:
        raise ValueError(f"weights of shape {weights.get_shape()} have more dimensions than the losses, which have {rank}")


def _present(losses: Tensor, weights: Tensor) -> Any:
    """How many losses each weight stands for, of the shape of the weights: none where it is 0."""
    of_each = reduce_prod(shape(losses)[weights.get_shape().ndims :])  # type: ignore[index]
    return cast(not_equal(weights, 0.0), dtypes.float32) * cast(of_each, dtypes.float32)  # type: ignore[operator]


def compute_weighted_loss(losses: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """The sum of losses * weights, over the number of losses whose weight is not zero; kept among the losses.

    weights: as many leading dimensions as there are, of the losses' or 1; a last one of 1, after another, is left out.
    ValueError where a rank is not known, or there are more dimensions than the losses have.
    """
    with name_scope(scope, "weighted_loss", [losses, weights]):
        given = convert_to_tensor(losses)
        values: Any = cast(given, dtypes.float32)
        factors: Any = cast(convert_to_tensor(weights), dtypes.float32)
        rank = _known_rank(values, "losses")
        if _known_rank(factors, "weights") > 1 and factors.get_shape()[-1].is_compatible_with(1):
            factors = squeeze(factors, [-1])
        _check_rank(factors, rank)
        of_examples: Any = reduce_sum(values, axis=list(range(factors.get_shape().ndims, rank)))
        total = reduce_sum(of_examples * factors)
        mean = cast(div_no_nan(total, reduce_sum(_present(values, factors)), name="value"), given.dtype)
        add_loss(mean)
        return mean


def _weighted(of: Callable[..., Any], weights: Any, scope: str | None, default: str, *given: Any, **more: Any) -> Tensor:
    """What `of`, of `tf.losses`, gives for each element, as one loss in a scope that is called `default`."""
    with name_scope(scope, default, [*given, weights]) as inner:
        losses = of(*given, scope=inner, reduction=_losses.Reduction.NONE, loss_collection=None, **more)
        return compute_weighted_loss(losses, weights, scope=inner)


def absolute_difference(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Of |predictions - labels|."""
    return _weighted(_losses.absolute_difference, weights, scope, "absolute_difference", labels, predictions)


def mean_squared_error(predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Of (predictions - labels)²."""
    return _weighted(_losses.mean_squared_error, weights, scope, "mean_squared_error", labels, predictions)


def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The sum over examples of the mean squared difference between the errors of two elements, of all n² pairs.

    `tf.losses` takes the n(n - 1) pairs of different elements. n is how many losses a weight stands for; weights of more
    dimensions than [batch] meet the losses of the examples as broadcasting has it.
    """
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        truth: Any = cast(labels, dtypes.float32)
        guess: Any = cast(predictions, dtypes.float32)
        guess.get_shape().assert_is_compatible_with(truth.get_shape())
        factors: Any = cast(convert_to_tensor(weights), dtypes.float32)
        errors = guess - truth
        rank, rank_of_weights = _known_rank(errors, "diffs"), _known_rank(factors, "weights")
        _check_rank(factors, rank)
        within = list(range(1, rank))
        count = reduce_sum(_present(errors, factors), axis=list(range(1, rank_of_weights)))
        if not rank_of_weights:
            count = div_no_nan(count, cast(shape(errors)[0], dtypes.float32))  # type: ignore[index]
        squares: Any = div_no_nan(reduce_sum(square(errors), axis=within), count)
        means: Any = div_no_nan(reduce_sum(errors, axis=within), count)
        loss = reduce_sum(2.0 * (squares - square(means)) * factors)
        mean = where(reduce_sum(count) > 0, loss, zeros_like(loss), name="value")  # type: ignore[operator]
        add_loss(mean)
        return mean


def log_loss(
    predictions: Any, labels: Any = None, weights: Any = 1.0, epsilon: float = 1e-7, scope: str | None = None
) -> Tensor:
    """Of the cross entropy of probabilities; `epsilon` keeps logarithms finite."""
    return _weighted(_losses.log_loss, weights, scope, "log_loss", labels, predictions, epsilon=epsilon)


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
) -> Tensor:
    """Of 1 - the product of unit vectors along the axis, which was called `dim`."""
    axis = dim if axis is None else axis
    return _weighted(_losses.cosine_distance, weights, scope, "cosine_distance_loss", labels, predictions, axis=axis)


def sigmoid_cross_entropy(
    logits: Any, multi_class_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Tensor:
    """Of the cross entropy of each class by itself; `label_smoothing` moves labels towards 0.5."""
    of, given = _losses.sigmoid_cross_entropy, (multi_class_labels, logits)
    return _weighted(of, weights, scope, "sigmoid_cross_entropy_loss", *given, label_smoothing=label_smoothing)


def softmax_cross_entropy(
    logits: Any, onehot_labels: Any, weights: Any = 1.0, label_smoothing: float = 0, scope: str | None = None
) -> Tensor:
    """Of the cross entropy of classes; `label_smoothing` moves labels towards 1 / classes."""
    of, given = _losses.softmax_cross_entropy, (onehot_labels, logits)
    return _weighted(of, weights, scope, "softmax_cross_entropy_loss", *given, label_smoothing=label_smoothing)


def sparse_softmax_cross_entropy(logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None) -> Tensor:
    """Of the cross entropy of classes by number, [batch] or [batch, 1]."""
    of = _losses.sparse_softmax_cross_entropy
    return _weighted(of, weights, scope, "sparse_softmax_cross_entropy_loss", labels, logits)
