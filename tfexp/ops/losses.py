"""`tf.losses`: weighted losses, averaged and kept in the collection `losses`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.graph.collections import GraphKeys
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import collect, control_dependencies, get_collection, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape, size, squeeze
from tfexp.ops.array_fill import ones_like, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import add, add_n, maximum, minimum, mul, squared_difference, sub
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import log, square
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_cross_entropy import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.weights_broadcast import assert_broadcastable, broadcast_weights


class Reduction:
    """How element-wise losses become one. Source: `tf.losses.Reduction`."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError when `key` is no reduction."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


# --- the collection ---------------------------------------------------------------------------------------------------


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Keep `loss` in the collection. Source: `tf.losses.add_loss`."""
    if loss_collection:
        collect(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses kept so far, of those whose names begin with `scope`. Source: `tf.losses.get_losses`."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses kept so far. Source: `tf.losses.get_regularization_losses`."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope: str | None = None, name: str = "total_regularization_loss") -> Tensor:
    """The sum of the regularization losses; a constant 0 without any. Source: `tf.losses.get_regularization_loss`."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else constant(0.0)


def get_total_loss(add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None) -> Tensor:
    """The sum of the losses, and the regularization losses. ValueError without any. Source: `tf.losses.get_total_loss`."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return add_n(losses, name=name)


# --- weighting and reducing ---------------------------------------------------------------------------------------------


def _safe_mean(losses: Any, count: Any) -> Tensor:
    return div_no_nan(reduce_sum(losses), count, name="value")


def _num_present(losses: Tensor, weights: Any, per_batch: bool = False) -> Tensor:
    """How many losses have a weight that is not zero: in all, or per element of the batch."""
    with name_scope(None, "num_present", [losses, weights]) as inner:
        weights = cast(weights, dtypes.float32)
        present = where(equal(weights, 0.0), zeros_like(weights), ones_like(weights))
        present = broadcast_weights(present, losses)
        if per_batch:
            return reduce_sum(present, axis=range_(1, rank(present)), keepdims=True, name=inner)
        return reduce_sum(present, name=inner)


def _num_elements(losses: Tensor) -> Tensor:
    with name_scope(None, "num_elements", [losses]) as scope:
        return cast(size(losses, name=scope), losses.dtype)


def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """losses * weights, reduced and kept in `loss_collection`. `weights` broadcasts to `losses` with the same rank.

    By default the sum is divided by the number of losses whose weight is not zero. Source: `tf.losses` symbol of this name.
    """
    Reduction.validate(reduction)
    with (
        name_scope(scope, "weighted_loss", [losses, weights]),
        control_dependencies([assert_broadcastable(weights, losses)]),
    ):
        losses = convert_to_tensor(losses)
        input_dtype = losses.dtype
        losses = cast(losses, dtypes.float32)
        weights = cast(weights, dtypes.float32)
        weighted = mul(losses, weights)
        if reduction == Reduction.NONE:
            loss: Any = weighted
        else:
            loss = reduce_sum(weighted)
            if reduction == Reduction.MEAN:
                loss = _safe_mean(loss, reduce_sum(ones_like(losses) * weights))  # type: ignore[operator]
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                loss = _safe_mean(loss, _num_present(losses, weights))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                loss = _safe_mean(loss, _num_elements(losses))
        loss = cast(loss, input_dtype)
        add_loss(loss, loss_collection)
        result: Tensor = loss
        return result


def _required(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


def _as_floats(predictions: Any, labels: Any) -> tuple[Any, Any]:
    predictions, labels = cast(predictions, dtypes.float32), cast(labels, dtypes.float32)
    predictions.get_shape().assert_is_compatible_with(labels.get_shape())
    return predictions, labels


# --- regression -------------------------------------------------------------------------------------------------------


def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """|predictions - labels|. Source: `tf.losses.absolute_difference`."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "absolute_difference", [predictions, labels, weights]) as inner:
        predictions, labels = _as_floats(predictions, labels)
        losses = abs_(sub(predictions, labels))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """(predictions - labels) ** 2. Source: `tf.losses.mean_squared_error`."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_squared_error", [predictions, labels, weights]) as inner:
        predictions, labels = _as_floats(predictions, labels)
        losses = squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Quadratic for errors up to `delta`, linear beyond. Source: `tf.losses.huber_loss`."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "huber_loss", [predictions, labels, weights]) as inner:
        predictions, labels = _as_floats(predictions, labels)
        distance = abs_(sub(predictions, labels))
        quadratic = minimum(distance, delta)
        linear = sub(distance, quadratic)
        half = convert_to_tensor(0.5, dtype=quadratic.dtype)
        losses = add(mul(half, mul(quadratic, quadratic)), mul(delta, linear))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: int | None = None,
) -> Tensor:
    """1 - sum(predictions * labels) along `axis`; both are taken as unit vectors. Source: `tf.losses.cosine_distance`."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "cosine_distance_loss", [predictions, labels, weights]) as inner:
        predictions, labels = _as_floats(predictions, labels)
        products = mul(predictions, labels)
        losses = 1 - reduce_sum(products, axis=(axis,), keepdims=True)  # type: ignore[operator]
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """The mean squared difference between the errors of pairs of elements of one example. TF symbol of this name."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "mean_pairwise_squared_error", [predictions, labels, weights]):
        weights = cast(weights, dtypes.float32)
        labels = cast(labels, dtypes.float32)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            predictions = cast(predictions, dtypes.float32)
            predictions.get_shape().assert_is_compatible_with(labels.get_shape())
            errors = sub(predictions, labels)
            axes = range_(1, rank(errors))
            squares = reduce_sum(square(errors), axis=axes, keepdims=True)
            present: Any = _num_present(errors, weights, per_batch=True)
            first = 2.0 * div_no_nan(squares, maximum(present - 1, 0), name="value")  # type: ignore[operator]
            total = reduce_sum(errors, axis=axes, keepdims=True)
            squared_total = square(total)
            pairs = maximum(mul(present, present - 1), 0)
            second = 2.0 * div_no_nan(squared_total, pairs, name="value")  # type: ignore[operator]
            loss = reduce_sum(mul(first - second, weights))
            some: Any = reduce_sum(present)
            mean = where(some > 0, loss, zeros_like(loss), name="value")
            add_loss(mean, loss_collection)
            return mean


# --- classification -----------------------------------------------------------------------------------------------------


def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """max(0, 1 - y * logits), y = -1 for label 0 and 1 for label 1. Source: `tf.losses.hinge_loss`."""
    _required(labels=labels, logits=logits)
    with name_scope(scope, "hinge_loss", [logits, labels, weights]) as inner:
        logits, labels = _as_floats(logits, labels)
        ones = ones_like(labels)
        signs = sub(2 * labels, ones)
        losses = relu(sub(ones, mul(signs, logits)))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions). Source: `tf.losses.log_loss`."""
    _required(labels=labels, predictions=predictions)
    with name_scope(scope, "log_loss", [predictions, labels, weights]) as inner:
        predictions, labels = _as_floats(predictions, labels)
        positive: Any = mul(labels, log(predictions + epsilon))
        losses = -positive - mul(1 - labels, log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Sigmoid cross entropy; `label_smoothing` draws labels towards 1/2. Source: `tf.losses.sigmoid_cross_entropy`."""
    _required(multi_class_labels=multi_class_labels, logits=logits)
    with name_scope(scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]) as inner:
        logits = convert_to_tensor(logits)
        labels: Any = cast(multi_class_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Softmax cross entropy; `label_smoothing` draws labels towards 1 / classes. `tf.losses.softmax_cross_entropy`."""
    _required(onehot_labels=onehot_labels, logits=logits)
    with name_scope(scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]) as inner:
        logits = convert_to_tensor(logits)
        labels: Any = cast(onehot_labels, logits.dtype)
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        if label_smoothing > 0:
            classes: Any = cast(shape(labels)[-1], logits.dtype)  # type: ignore[index]
            share = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + share
        labels = stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Softmax cross entropy with class numbers. Source: `tf.losses.sparse_softmax_cross_entropy`."""
    _required(labels=labels, logits=logits)
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]) as inner:
        labels, logits = without_last_ones(labels, logits, expected_rank_diff=1)
        weights = _weights_without_last_one(weights, labels)
        losses = sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="xentropy")
        return compute_weighted_loss(losses, weights, inner, loss_collection, reduction)


def without_last_ones(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A last dimension of 1 that one has too much is dropped: now, or where the ranks are not known yet in each step.

    `expected_rank_diff` is how many dimensions more predictions should have. ValueError where what is known of the shapes
    says that it is not 1. Source: `remove_squeezable_dimensions`.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        difference = _rank_difference(predictions, labels)
        if difference is None:
            found = rank(predictions) - rank(labels)
            predictions = _squeezed_if(expected_rank_diff + 1, found, predictions)
            return _squeezed_if(expected_rank_diff - 1, found, labels), predictions
        if difference == expected_rank_diff + 1:
            predictions = squeeze(predictions, [-1])
        elif difference == expected_rank_diff - 1:
            labels = squeeze(labels, [-1])
        return labels, predictions


def _squeezed_if(wanted: int, difference: Tensor, x: Tensor) -> Tensor:
    """x without its last dimension in steps in which `difference` is `wanted`, unless that dimension is not 1."""
    if x.get_shape().ndims == 0 or not x.get_shape()[-1:].is_compatible_with([1]):
        return x
    squeezed: Tensor = cond(equal(wanted, difference), lambda: squeeze(x, [-1]), lambda: x)
    return squeezed


def _weights_without_last_one(weights: Any, labels: Tensor) -> Tensor:
    weights = convert_to_tensor(weights)
    difference = _rank_difference(weights, labels)
    if difference is None:
        return _squeezed_if(1, rank(weights) - rank(labels), weights)
    return squeeze(weights, [-1]) if difference == 1 else weights


def _rank_difference(a: Tensor, b: Tensor) -> int | None:
    first, second = a.get_shape().ndims, b.get_shape().ndims
    return None if first is None or second is None else first - second
