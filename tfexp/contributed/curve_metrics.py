"""`tf.contrib.metrics`: points of the ROC and precision-recall curves, and all values of a stream. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import metric_variable, published
from tfexp.metrics.thresholds import at_thresholds, spread
from tfexp.ops.argmax import argmin
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones_like, zeros_like
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.elementwise_division import truediv
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.reduce import reduce_max, reduce_sum
from tfexp.ops.state import assign
from tfexp.ops.variable_scope import variable_scope

_EPSILON = 1e-7

Streamed = tuple[Any, Any]
Counts = dict[str, Any]


def _precision(counts: Counts) -> Any:
    return truediv(counts["tp"], counts["tp"] + counts["fp"] + _EPSILON)


def _recall(counts: Counts) -> Any:
    return truediv(counts["tp"], counts["tp"] + counts["fn"] + _EPSILON)


def _share(hits: Any, misses: Any, little: float) -> Any:
    """hits / (hits + misses), and 1 of none."""
    return truediv(hits + little, hits + misses + little)


def _least(values: Any) -> Any:
    """The first place of the least value."""
    return cast(argmin(values, 0), dtypes.int32)


def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """(precision at the last threshold whose recall reaches the target, update). ValueError for one outside [0, 1]."""
    if target_recall < 0 or target_recall > 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")

    def of(counts: Counts, step: str) -> Tensor:
        # Recall falls with the threshold.
        recalls, precisions = (_share(counts["tp"], counts[kind], _EPSILON) for kind in ("fn", "fp"))
        reaching = reduce_sum(cast(greater_equal(recalls, target_recall), dtypes.int32))
        return identity(precisions[maximum(reaching - 1, 0)], name=step)  # type: ignore[operator]

    with variable_scope(name, "precision_at_recall", (predictions, labels, weights)):
        values, updates = at_thresholds(labels, predictions, spread(num_thresholds, 1.0 - _EPSILON), weights)
        return published(of(values, "value"), of(updates, "update_op"), metrics_collections, updates_collections)


def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> Streamed:
    """(recall at the threshold whose precision is nearest to `precision`, update). ValueError for one outside [0, 1].

    strict_mode: of the thresholds whose precision is no smaller, and 0 where there is none.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")

    def of(counts: Counts, step: str) -> Tensor:
        gaps, recalls = _precision(counts) - precision, _recall(counts)
        if not strict_mode:
            return identity(recalls[_least(abs_(gaps))], name=step)
        nearest = recalls[_least(where(gaps >= 0, gaps, ones_like(gaps) * np.inf))]
        return identity(where(reduce_max(gaps) >= 0, nearest, zeros_like(nearest)), name=step)  # type: ignore[operator]

    with variable_scope(name, "recall_at_precision", (predictions, labels, weights)):
        values, updates = at_thresholds(labels, predictions, spread(num_thresholds), weights)
        return published(of(values, "value"), of(updates, "update_op"), metrics_collections, updates_collections)


def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> Streamed:
    """(points [num_thresholds, 2], update): false and true positive rates ("ROC"), or recall and precision ("PR").

    ValueError for another curve.
    """
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")

    def points(counts: Counts) -> Tensor:
        little = _EPSILON * 10
        recall = _share(counts["tp"], counts["fn"], little)
        if curve == "ROC":
            return stack([truediv(counts["fp"], counts["fp"] + counts["tn"] + little), recall], 1)
        return stack([recall, _share(counts["tp"], counts["fp"], little)], 1)

    with variable_scope(name, "curve_points", (labels, predictions, weights)):
        values, updates = at_thresholds(labels, predictions, spread(num_thresholds), weights)
        return published(points(values), group(*updates.values()), metrics_collections, updates_collections)


def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Streamed:
    """(all values so far, one after the other along the axis, up to `max_size`; update, which gives how many there are).

    ValueError for an axis that there is none of, or where the others are not known.
    """
    with variable_scope(name, "streaming_concat", (values,)):
        tensor: Any = convert_to_tensor(values)
        dims = tensor.get_shape().as_list()
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"axis = {axis} not in [0, {len(dims)})")
        axis %= len(dims)
        others = dims[:axis] + dims[axis + 1 :]
        if any(size is None for size in others):
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate along must have statically known size"
            )
        array = metric_variable([*dims[:axis], 0, *dims[axis + 1 :]], tensor.dtype, "array", validate_shape=False)
        whole: Any = concat([array, tensor], axis)
        if max_size is not None:
            kept = minimum(shape(whole)[axis], max_size)  # type: ignore[index]
            whole = gather(whole, range_(kept), axis=axis)
        added = assign(array, whole, validate_shape=False)
        value = identity(array, name="concat")
        value.set_shape(TensorShape([*dims[:axis], None, *dims[axis + 1 :]]))
        return published(value, shape(added)[axis], metrics_collections, updates_collections)  # type: ignore[index]
