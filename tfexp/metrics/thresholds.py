"""`tf.metrics`: what is counted at each of several thresholds, and the curves through them. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import FLOAT, fitted, metric_variable, of_graphs, published
from tfexp.ops.argmax import argmax, argmin
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import stack
from tfexp.ops.array_mask import where
from tfexp.ops.array_order import transpose
from tfexp.ops.array_tile import tile
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_greater_equal, assert_less_equal
from tfexp.ops.comparison import equal, greater
from tfexp.ops.cumulative import cumsum
from tfexp.ops.elementwise_binary import maximum, minimum, mul
from tfexp.ops.elementwise_division import div_no_nan, truediv
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import log
from tfexp.ops.logical import logical_and, logical_not
from tfexp.ops.reduce import reduce_min, reduce_sum
from tfexp.ops.state import assign_add
from tfexp.ops.variable_scope import variable_scope
from tfexp.ops.weights_broadcast import broadcast_weights

# Keeps quotients of counts defined, and the outer thresholds outside of [0, 1].
_EPSILON = 1e-7
_NAMES = {"tp": "true_positives", "fn": "false_negatives", "tn": "true_negatives", "fp": "false_positives"}

Streamed = tuple[Any, Any]
Counts = dict[str, Any]


def at_thresholds(
    labels: Any, predictions: Any, thresholds: Sequence[float], weights: Any = None, includes: Sequence[str] = tuple(_NAMES)
) -> tuple[Counts, Counts]:
    """The counts of those kinds, one for each threshold that predictions are above, and the updates."""
    predictions = convert_to_tensor(predictions)
    in_range = [
        assert_greater_equal(predictions, cast(0.0, predictions.dtype), message="predictions must be in [0, 1]"),
        assert_less_equal(predictions, cast(1.0, predictions.dtype), message="predictions must be in [0, 1]"),
    ]
    with control_dependencies(in_range):
        predictions, labels, weights = fitted(cast(predictions, FLOAT), cast(labels, dtypes.bool), weights)
    number = len(thresholds)
    column = reshape(predictions, [-1, 1])
    row = reshape(cast(labels, dtypes.bool), [1, -1])
    count = column.get_shape()[0].value
    if count is None:
        count = shape(column)[0]  # type: ignore[index]
    limits = tile(expand_dims(constant(thresholds), [1]), stack([1, count]))
    is_above: Any = greater(tile(transpose(column), [number, 1]), limits)
    is_below = logical_not(is_above) if "fn" in includes or "tn" in includes else None
    is_true: Any = tile(row, [number, 1])
    is_false = logical_not(is_true) if "fp" in includes or "tn" in includes else None
    if weights is not None:
        weights = broadcast_weights(cast(weights, FLOAT), predictions)
        weights = tile(reshape(weights, [1, -1]), [number, 1])
    conditions = {
        "tp": (is_true, is_above),
        "fn": (is_true, is_below),
        "tn": (is_false, is_below),
        "fp": (is_false, is_above),
    }
    values, updates = {}, {}
    for kind, condition in conditions.items():
        if kind not in includes:
            continue
        values[kind] = metric_variable([number], FLOAT, _NAMES[kind])
        found: Any = cast(logical_and(*condition), FLOAT)
        if weights is not None:
            found = found * weights
        updates[kind] = assign_add(values[kind], reduce_sum(found, 1))
    return values, updates


def _counter(kind: str) -> Callable[..., Streamed]:
    def count(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Streamed:
        with variable_scope(name, _NAMES[kind], (predictions, labels, weights)):
            values, updates = at_thresholds(labels, predictions, thresholds, weights, (kind,))
            return published(identity(values[kind]), updates[kind], metrics_collections, updates_collections)

    count.__name__ = count.__qualname__ = f"{_NAMES[kind]}_at_thresholds"
    count.__doc__ = f"(weighted number, update) of {_NAMES[kind].replace('_', ' ')}, one for each threshold."
    return of_graphs(count)


true_positives_at_thresholds = _counter("tp")
false_negatives_at_thresholds = _counter("fn")
true_negatives_at_thresholds = _counter("tn")
false_positives_at_thresholds = _counter("fp")


def _share_at_thresholds(what: str, other: str) -> Callable[..., Streamed]:
    def share(
        labels: Any,
        predictions: Any,
        thresholds: Sequence[float],
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Streamed:
        def of(counts: Counts, step: str) -> Tensor:
            return truediv(counts["tp"], _EPSILON + counts["tp"] + counts[other], name=f"{what}_{step}")

        with variable_scope(name, f"{what}_at_thresholds", (predictions, labels, weights)):
            values, updates = at_thresholds(labels, predictions, thresholds, weights, ("tp", other))
            return published(of(values, "value"), of(updates, "update_op"), metrics_collections, updates_collections)

    share.__name__ = share.__qualname__ = f"{what}_at_thresholds"
    share.__doc__ = f"({what}, update), one for each threshold that predictions in [0, 1] must be above."
    return of_graphs(share)


precision_at_thresholds = _share_at_thresholds("precision", "fp")
recall_at_thresholds = _share_at_thresholds("recall", "fn")


def spread(number: int, last: float = 1.0 + _EPSILON) -> list[float]:
    """`number` thresholds over [0, 1], the first below it and by default the last above."""
    return [-_EPSILON, *((i + 1) * 1.0 / (number - 1) for i in range(number - 2)), last]


@of_graphs
def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> Streamed:
    """The area under the ROC curve, or under precision over recall ("PR"), through points at the thresholds.

    summation_method: trapezoidal, minoring, majoring or careful_interpolation, which is trapezoidal of ROC. ValueError
    for other values.
    """
    with variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        if thresholds is None:
            used = spread(num_thresholds)
        else:
            used = [-_EPSILON, *sorted(thresholds), 1.0 + _EPSILON]
        values, updates = at_thresholds(labels, predictions, used, weights)
        value = _area(values, "value", curve, summation_method, len(used))
        update = _area(updates, "update_op", curve, summation_method, len(used))
        return published(value, update, metrics_collections, updates_collections)


def _area(counts: Counts, name: str, curve: str, method: str, number: int) -> Tensor:
    tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
    if method == "careful_interpolation" and curve == "PR":
        return interpolated_area(tp, fp, fn, number)
    epsilon = 1.0e-6
    recall = truediv(tp + epsilon, tp + fn + epsilon)
    x, y = (truediv(fp, fp + tn + epsilon), recall) if curve == "ROC" else (recall, truediv(tp + epsilon, tp + fp + epsilon))
    last = number - 1
    if method in ("trapezoidal", "careful_interpolation"):
        return reduce_sum(mul(x[:last] - x[1:], (y[:last] + y[1:]) / 2.0), name=name)  # type: ignore[index, operator]
    choose = {"minoring": minimum, "majoring": maximum}.get(method)
    if choose is None:
        raise ValueError(f"Invalid summation_method: {method}")
    return reduce_sum(mul(x[:last] - x[1:], choose(y[:last], y[1:])), name=name)  # type: ignore[index, operator]


def interpolated_area(tp: Any, fp: Any, fn: Any, number: int) -> Tensor:
    """Precision interpolated as the counts are, between the points (Davis and Goadrich 2006)."""
    last = number - 1
    hits = tp[:last] - tp[1:]
    positives = tp + fp
    slope: Any = div_no_nan(hits, maximum(positives[:last] - positives[1:], 0), name="prec_slope")
    intercept = tp[1:] - mul(slope, positives[1:])
    grows = where(
        logical_and(positives[:last] > 0, positives[1:] > 0),
        div_no_nan(positives[:last], maximum(positives[1:], 0), name="recall_relative_ratio"),
        ones_like(positives[1:]),
    )
    increments = div_no_nan(slope * (hits + intercept * log(grows)), maximum(tp[1:] + fn[1:], 0), name="pr_auc_increment")
    return reduce_sum(increments, name="interpolate_pr_auc")


@of_graphs
def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The share of trues that are found, at the threshold whose specificity is nearest. ValueError outside [0, 1]."""
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")

    def of(counts: Counts, step: str) -> Tensor:
        found: Any = truediv(counts["tn"], counts["tn"] + counts["fp"] + _EPSILON)
        index = cast(argmin(abs_(found - specificity), 0), dtypes.int32)
        tp, fn = counts["tp"], counts["fn"]
        return truediv(tp[index], tp[index] + fn[index] + _EPSILON, name=step)

    with variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        values, updates = at_thresholds(labels, predictions, spread(num_thresholds), weights)
        return published(of(values, "value"), of(updates, "update_op"), metrics_collections, updates_collections)


@of_graphs
def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """The share of falses rejected, at the last threshold whose sensitivity is nearest. ValueError outside [0, 1]."""
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")

    def of(counts: Counts, step: str) -> Tensor:
        found: Any = truediv(counts["tp"], counts["tp"] + counts["fn"] + _EPSILON)
        nearest = reduce_min(abs_(found - sensitivity))
        are_nearest = cast(equal(abs_(found - sensitivity), nearest), dtypes.int64)
        index = cast(argmax(cumsum(are_nearest), 0), dtypes.int32)
        tn, fp = counts["tn"], counts["fp"]
        return truediv(tn[index], tn[index] + fp[index] + _EPSILON, name=step)

    with variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        values, updates = at_thresholds(labels, predictions, spread(num_thresholds, 1.0 - _EPSILON), weights)
        return published(of(values, "value"), of(updates, "update_op"), metrics_collections, updates_collections)
