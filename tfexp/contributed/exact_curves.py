"""`tf.contrib.metrics`: areas of all values of a stream, and counts in equal steps. Source: TF 1.15."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfexp.contributed.curve_metrics import streaming_concat
from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.metrics.streaming import metric_variable, published
from tfexp.ops.array import reshape
from tfexp.ops.array_fill import broadcast_to, linspace, ones, ones_like, zeros, zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import boolean_mask, where
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_greater_equal, assert_less_equal, assert_rank, assert_type
from tfexp.ops.comparison import not_equal
from tfexp.ops.counting import histogram_fixed_width
from tfexp.ops.cumulative import cumsum
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.elementwise_quantile import inverse_normal
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.elementwise_unary import log, sigmoid, sqrt, square
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.logical import logical_not
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.scatter import scatter_add
from tfexp.ops.segment import segment_sum
from tfexp.ops.sort import argsort
from tfexp.ops.state import assign_add
from tfexp.ops.variable_scope import get_variable, variable_scope


class PrecisionRecallData(NamedTuple):
    """Counts at thresholds, and what follows from them; each [number of thresholds]."""

    tp: Tensor
    fp: Tensor
    tn: Tensor
    fn: Tensor
    precision: Tensor
    recall: Tensor
    thresholds: Tensor


class AucData(NamedTuple):
    """An area under a curve, and the ends of the interval that it is in."""

    auc: Tensor
    lower: Tensor
    upper: Tensor


def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> tuple[Any, Operation]:
    """(area under the curve of all predictions so far; update): exact, for each prediction is a threshold.

    labels: 0 and 1, of the size of predictions, as are `weights`. curve: "ROC", or "PR", which begins at precision 1;
    corners are joined by lines. The area is 0 where there is but one class. All values are kept. ValueError for other
    curves, and for labels of another shape than predictions.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        known, seen, counted, update = _all_so_far(labels, predictions, weights)
        return published(_area(known, seen, counted, curve), update, metrics_collections, updates_collections)


def _all_so_far(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any, Operation]:
    """The labels, predictions and weights (ones where there are none) of a stream, each [number]; what adds a batch."""
    scores, told = convert_to_tensor(predictions), "labels must be 0 or 1"
    scores.shape.assert_is_compatible_with(convert_to_tensor(labels).shape)
    flat: Any = reshape(cast(scores, dtypes.float32), [-1])
    truth: Any = reshape(cast(labels, dtypes.int32), [-1])
    with control_dependencies([assert_greater_equal(truth, 0, message=told), assert_less_equal(truth, 1, message=told)]):
        seen, added = streaming_concat(flat, name="concat_preds")
        known, known_added = streaming_concat(truth, name="concat_labels")
    updates = [added, known_added]
    counted: Any = ones_like(seen)
    if weights is not None:
        of_each = broadcast_to(cast(weights, dtypes.float32), scores.shape)
        counted, weights_added = streaming_concat(reshape(of_each, [-1]), name="concat_weights")
        updates.append(weights_added)
    return known, seen, counted, group(*updates)


def _area(labels: Any, predictions: Any, weights: Any, curve: str) -> Tensor:
    """The area under a curve with a corner for each prediction, highest first, where equal ones are one."""
    order = argsort(predictions, direction="DESCENDING", stable=True)
    scores: Any = gather(predictions, order)
    counted: Any = cast(gather(weights, order), dtypes.float64)
    hits = cast(gather(labels, order), dtypes.float64) * counted
    # Where a value is not that of the next, all that are at least as high have been counted.
    is_last = concat([not_equal(scores[:-1], scores[1:]), ones_like(scores[-1:], dtype=dtypes.bool)], 0)
    start = zeros([1], dtypes.float64)
    tp: Any = concat([start, boolean_mask(cumsum(hits), is_last)], 0)
    fp: Any = concat([start, boolean_mask(cumsum(counted - hits), is_last)], 0)
    if curve == "ROC":
        across, up, whole = fp, tp, reduce_sum(hits) * reduce_sum(counted - hits)
    else:
        precision = concat([ones([1], dtypes.float64), div_no_nan(tp[1:], tp[1:] + fp[1:])], 0)
        across, up, whole = tp, precision, reduce_sum(hits)
    return div_no_nan(reduce_sum((up[1:] + up[:-1]) / 2.0 * (across[1:] - across[:-1])), whole)


def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> tuple[Any, Operation]:
    """(the area under the ROC curve of all predictions so far and where it lies with probability `alpha`; update).

    labels: 0 and 1, of the size of predictions, as are `weights`, which count examples. The interval is normal: in the
    area, or in its logit, so that it stays within [0, 1]. All are 0 where there is but one class. All values are kept.
    ValueError for an alpha that is not between 0 and 1. Source: DeLong et al., "Comparing the Areas under Two or More
    Correlated Receiver Operating Characteristic Curves" (1988).
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    with variable_scope(name, "auc_with_confidence_intervals", (labels, predictions, weights)):
        known, seen, counted, update = _all_so_far(labels, predictions, weights)
        area, variance = _area_and_variance(known, seen, counted)
        width = float(inverse_normal(np.array((1 + alpha) / 2))) * sqrt(variance)  # type: ignore[operator]
        bounds: tuple[Any, ...] = (area - width, area + width)
        if logit_transformation:
            inside = (area > 0.0) & (area < 1.0)
            share: Any = where(inside, area, 0.5 * ones_like(area))  # type: ignore[operator]
            centre: Any = log(share / (1.0 - share))
            width /= share * (1.0 - share)
            bounds = tuple(where(inside, sigmoid(each), area) for each in (centre - width, centre + width))
        data = AucData._make(cast(each, dtypes.float32) for each in (area, *bounds))
        return published(data, update, metrics_collections, updates_collections)


def _area_and_variance(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any]:
    """Of the share of pairs in which the positive is higher, where ties are half.

    Each positive has the share of the negatives below it, each negative that of the positives above it. The area is the mean
    of the ones as of the others, and its variance the sum of the variances of both means.
    """
    order = argsort(predictions)
    scores: Any = gather(predictions, order)
    counted: Any = cast(gather(weights, order), dtypes.float64)
    positive = cast(gather(labels, order), dtypes.float64) * counted
    negative = counted - positive
    is_new = concat([zeros_like(scores[:1], dtypes.bool), not_equal(scores[1:], scores[:-1])], 0)
    tied: Any = cumsum(cast(is_new, dtypes.int32))
    positives, negatives = reduce_sum(positive), reduce_sum(negative)

    def shares(of: Any, whole: Any, reverse: bool) -> Any:
        of_values: Any = segment_sum(of, tied)
        return gather(div_no_nan(cumsum(of_values, exclusive=True, reverse=reverse) + of_values / 2.0, whole), tied)

    below, above = shares(negative, negatives, False), shares(positive, positives, True)
    area: Any = div_no_nan(reduce_sum(positive * below), positives)

    def variance_of_mean(of: Any, counts: Any, whole: Any) -> Any:
        return div_no_nan(reduce_sum(counts * square(of - area)), (whole - 1.0) * whole)

    return area, variance_of_mean(below, positive, positives) + variance_of_mean(above, negative, negatives)


def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Operation]:
    """(counts, precision and recall at `num_thresholds`, 201 by default, in equal steps from 0 to 1; update).

    labels: bools, of the shape of predictions, which are within [0, 1]; memory and work do not grow with the product of the
    numbers of both. TypeError for other labels.
    """
    number = 201 if num_thresholds is None else num_thresholds
    assert_type(labels, dtypes.bool)
    with variable_scope(name, "precision_recall_at_equal_thresholds", (labels, predictions, weights)):
        given: Any = convert_to_tensor(predictions)
        told = "predictions must be in [0, 1]"
        checks = [assert_greater_equal(given, 0.0, message=told), assert_less_equal(given, 1.0, message=told)]
        with control_dependencies(checks):
            flat: Any = reshape(cast(given, dtypes.float64), [-1])
        counted: Any = ones_like(flat)
        if weights is not None:
            counted = reshape(broadcast_to(cast(weights, dtypes.float64), given.get_shape()), [-1])
        hits = reshape(cast(labels, dtypes.float64), [-1]) * counted
        bucket = cast(floor(flat * (number - 1)), dtypes.int32)
        with name_scope("variables"):
            tp_buckets = metric_variable([number], dtypes.float64, "tp_buckets")
            fp_buckets = metric_variable([number], dtypes.float64, "fp_buckets")
        with name_scope("update_op"):
            update_tp = scatter_add(tp_buckets, bucket, hits, use_locking=bool(use_locking))
            update_fp = scatter_add(fp_buckets, bucket, counted - hits, use_locking=bool(use_locking))
        tp: Any = cumsum(tp_buckets, reverse=True)
        fp: Any = cumsum(fp_buckets, reverse=True)
        negatives, positives = fp[0] - fp, tp[0] - tp
        found = (tp, fp, negatives, positives, div_no_nan(tp, tp + fp), div_no_nan(tp, tp[0]))
        thresholds = linspace(cast(0.0, given.dtype), cast(1.0, given.dtype), number)
        update: Operation = group(update_tp, update_fp)
        return PrecisionRecallData._make([*(cast(each, given.dtype) for each in found), thresholds]), update


def auc_using_histogram(
    boolean_labels: Any,
    scores: Any,
    score_range: Any,
    nbins: int = 100,
    collections: Any = None,
    check_shape: bool = True,
    name: str | None = None,
) -> tuple[Tensor, Operation]:
    """(the area under the ROC curve, from histograms of the scores of both classes; update).

    score_range: [least, largest] score; scores beyond count as these. Labels and scores have one rank, 1, which is asserted
    where `check_shape` says so. ValueError for labels that are not bools.
    """
    with variable_scope(name, "auc_using_histogram", [boolean_labels, scores, score_range]):
        checks = [assert_rank(each, 1) for each in (boolean_labels, scores)] if check_shape else []
        with control_dependencies(checks):
            labels, values = convert_to_tensor(boolean_labels), convert_to_tensor(scores)
            if labels.dtype.base_dtype is not dtypes.bool:
                raise ValueError(f"Argument boolean_labels should have dtype bool, not {labels.dtype.name}")
            found = [
                histogram_fixed_width(boolean_mask(values, kept), score_range, nbins, dtypes.int64)
                for kept in (labels, logical_not(labels))
            ]
        names, where = ("hist_true_acc", "hist_false_acc"), [GraphKeys.LOCAL_VARIABLES, *(collections or [])]
        with variable_scope(None, "hist_accumulate"):
            sums = [
                get_variable(each, [nbins], dtypes.int64, zeros_initializer(), collections=where, trainable=False)
                for each in names
            ]
        update: Operation = group(*(assign_add(total, each) for total, each in zip(sums, found, strict=True)))
        positive, negative = (cast(total, dtypes.float32) for total in sums)
        # Bins from the highest on; within one, each order is as likely as the other.
        tp: Any = cumsum(positive, reverse=True)
        area: Any = reduce_sum((tp - positive / 2.0) * negative)
        return div_no_nan(area, reduce_sum(positive) * reduce_sum(negative)), update
