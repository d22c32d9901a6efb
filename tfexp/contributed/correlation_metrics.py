"""`tf.contrib.metrics`: counts, and how two quantities go together, over a stream of batches. Source: TF 1.15."""

from __future__ import annotations

import math
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import FLOAT, fitted, metric_variable, published
from tfexp.ops.array import size
from tfexp.ops.array_identity import identity
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import less_equal
from tfexp.ops.confusion_matrix import confusion_matrix
from tfexp.ops.diagonal import diag_part
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_division import div_no_nan, truediv
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.state import assign_add
from tfexp.ops.variable_scope import variable_scope
from tfexp.ops.weights_broadcast import broadcast_weights

Streamed = tuple[Any, Any]


def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """(number of all values so far, update); with weights, their sum."""
    with variable_scope(name, "count", (values, weights)):
        counted = metric_variable([], FLOAT, "count")
        if weights is None:
            number: Any = cast(size(values), FLOAT)
        else:
            values, _, weights = fitted(values, None, weights)
            number = reduce_sum(broadcast_weights(cast(weights, FLOAT), values))
        with control_dependencies([values]):
            update = assign_add(counted, number)
        return published(identity(counted), update, metrics_collections, updates_collections)


def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """(unbiased sample covariance, update): NaN of fewer than two examples. Weights are how often an example counts.

    Batches are joined as Chan, Golub and LeVeque do it (Updating Formulae and a Pairwise Algorithm, 1979).
    """
    with variable_scope(name, "covariance", (predictions, labels, weights)):
        predictions, labels, weights = fitted(predictions, labels, weights)
        so_far = metric_variable([], FLOAT, "count")
        mean_prediction, mean_label = metric_variable([], FLOAT, "mean_prediction"), metric_variable([], FLOAT, "mean_label")
        comoment = metric_variable([], FLOAT, "comoment")
        if weights is None:
            number: Any = cast(size(labels), FLOAT)
            weighted = predictions, labels
        else:
            weights = broadcast_weights(cast(weights, FLOAT), labels)
            number = reduce_sum(weights)
            weighted = mul(predictions, weights), mul(labels, weights)
        total = assign_add(so_far, number)
        before = total - number  # type: ignore[operator]
        here, gaps = [], []
        for mean, values in zip((mean_prediction, mean_label), weighted, strict=True):
            mean_here: Any = div_no_nan(reduce_sum(values), number)
            step = div_no_nan((mean_here - mean) * number, total)
            gaps.append(assign_add(mean, step) - step - mean_here)  # type: ignore[operator]
            here.append(mean_here)
        products: Any = (predictions - here[0]) * (labels - here[1])
        within = reduce_sum(products if weights is None else products * weights)
        between = gaps[0] * gaps[1] * truediv(before * number, total)
        joined = assign_add(comoment, within + between)  # type: ignore[operator]
        return published(
            _covariance(so_far, comoment, "covariance"),
            _covariance(total, joined, "update_op"),
            metrics_collections,
            updates_collections,
        )


def _covariance(number: Any, comoment: Any, name: str) -> Any:
    return where(less_equal(number, 1.0), constant(math.nan), truediv(comoment, number - 1.0), name=name)


def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """(Pearson's correlation coefficient, update): the covariance over the standard deviations."""
    with variable_scope(name, "pearson_r", (predictions, labels, weights)):
        predictions, labels, weights = fitted(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        found = [
            streaming_covariance(predictions, labels, weights, name="covariance"),
            streaming_covariance(predictions, predictions, weights, name="variance_predictions"),
            streaming_covariance(labels, labels, weights, name="variance_labels"),
        ]
        value, update = (
            truediv(both, mul(sqrt(of_predictions), sqrt(of_labels)), name=step)
            for step, (both, of_predictions, of_labels) in zip(
                ("pearson_r", "update_op"), zip(*found, strict=True), strict=True
            )
        )
        return published(value, update, metrics_collections, updates_collections)


def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """(Cohen's kappa, update), float64: how far two raters agree on classes [batch], beyond what chance does.

    Source: Cohen, A Coefficient of Agreement for Nominal Scales, 1960.
    """
    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        predictions_idx, labels, weights = fitted(predictions_idx, labels, weights)
        predictions_idx.get_shape().assert_is_compatible_with(labels.get_shape())
        kind = dtypes.int64 if weights is None else FLOAT
        agreed, rows, columns = (metric_variable([num_classes], kind, part) for part in ("po", "pe_row", "pe_col"))
        table = confusion_matrix(labels, predictions_idx, num_classes, kind, "counts_in_table", weights)
        updates = (
            assign_add(agreed, diag_part(table)),
            assign_add(rows, reduce_sum(table, 0)),
            assign_add(columns, reduce_sum(table, 1)),
        )
        return published(
            _kappa(agreed, rows, columns, "value"), _kappa(*updates, "update_op"), metrics_collections, updates_collections
        )


def _kappa(agreed: Any, rows: Any, columns: Any, name: str) -> Tensor:
    total = cast(reduce_sum(rows), dtypes.float64)
    by_chance = reduce_sum(div_no_nan(cast(rows * columns, dtypes.float64), total))
    found: Any = cast(reduce_sum(agreed), dtypes.float64)
    return div_no_nan(found - by_chance, total - by_chance, name=name)  # type: ignore[operator]
