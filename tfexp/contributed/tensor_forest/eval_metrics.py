"""Metrics of a forest by their names: of what it says of examples, their targets and weights. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tfexp.contributed.learn.constants import PredictionKey
from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.metrics.counts import precision, recall
from tfexp.metrics.means import accuracy, mean
from tfexp.metrics.thresholds import auc, precision_at_thresholds, recall_at_thresholds
from tfexp.ops.array import squeeze
from tfexp.ops.array_fill import one_hot
from tfexp.ops.array_slice import slice_op
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import squared_difference
from tfexp.ops.losses import log_loss, sigmoid_cross_entropy, sparse_softmax_cross_entropy
from tfexp.ops.nn_topk import in_top_k
from tfexp.ops.reduce import reduce_mean, reduce_sum

INFERENCE_PROB_NAME, INFERENCE_PRED_NAME = PredictionKey.PROBABILITIES, PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME = "global_feature_importance"

_THRESHOLDS = np.arange(0, 1, 0.01, dtype=np.float32)
_BEST = 5


def _of_second_class(measure: Callable[..., Any], *settings: Any) -> Callable[..., Any]:
    """Of targets [examples], 0 or not, and [examples, classes] probabilities."""

    def measured(probs: Any, targets: Any, weights: Any = None) -> Any:
        return measure(targets, slice_op(probs, [0, 1], [-1, 1]), *settings, weights=weights)

    return measured


def _of_classes(measure: Callable[..., Any]) -> Callable[..., Any]:
    def measured(predictions: Any, targets: Any, weights: Any = None) -> Any:
        return measure(targets, predictions, weights=weights)

    return measured


def _of_loss(loss: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The mean of a batch's losses; `weights` are of batches."""

    def measured(probabilities: Any, targets: Any, weights: Any = None) -> Any:
        return mean(loss(convert_to_tensor(probabilities), targets), weights=weights)

    return measured


def _indicators(probabilities: Any, targets: Any) -> Any:
    """[examples, classes], of targets [examples, 1]."""
    return one_hot(cast(squeeze(targets, axis=[1]), dtypes.int32), probabilities.shape[1])


def _sigmoid_entropy(probabilities: Any, targets: Any) -> Any:
    return sigmoid_cross_entropy(_indicators(probabilities, targets), probabilities)


def _softmax_entropy(probabilities: Any, targets: Any) -> Any:
    return sparse_softmax_cross_entropy(cast(targets, dtypes.int32), probabilities)


def _log_loss(probabilities: Any, targets: Any) -> Any:
    return log_loss(_indicators(probabilities, targets), probabilities)


def _r2(scores: Any, targets: Any) -> Any:
    """The part of the variance that is explained."""
    targets = cast(targets, dtypes.float32)
    total = reduce_sum(squared_difference(targets, reduce_mean(targets, 0)), 0)
    return 1 - reduce_sum(reduce_sum(squared_difference(targets, scores), 0) / total)


def _predictions(predictions: Any, unused_targets: Any, **unused_kwargs: Any) -> Any:
    return predictions


def _among_best(probabilities: Any, targets: Any) -> Any:
    targets = convert_to_tensor(targets)
    if targets.shape.ndims != 1:
        targets = squeeze(targets, axis=[1])
    return mean(cast(in_top_k(probabilities, cast(targets, dtypes.int32), _BEST), dtypes.float32))


class _Named(NamedTuple):
    """What measures, and the key of the predictions that it takes."""

    measure: Callable[..., Any]
    key: str


_METRICS = {
    "auc": _Named(_of_second_class(auc), INFERENCE_PROB_NAME),
    "sigmoid_entropy": _Named(_of_loss(_sigmoid_entropy), INFERENCE_PROB_NAME),
    "softmax_entropy": _Named(_of_loss(_softmax_entropy), INFERENCE_PROB_NAME),
    "accuracy": _Named(_of_classes(accuracy), INFERENCE_PRED_NAME),
    "r2": _Named(_of_loss(_r2), PredictionKey.SCORES),
    "predictions": _Named(_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": _Named(_of_loss(_log_loss), INFERENCE_PROB_NAME),
    "precision": _Named(_of_classes(precision), INFERENCE_PRED_NAME),
    "precision_at_thresholds": _Named(_of_second_class(precision_at_thresholds, _THRESHOLDS), INFERENCE_PROB_NAME),
    "recall": _Named(_of_classes(recall), INFERENCE_PRED_NAME),
    "recall_at_thresholds": _Named(_of_second_class(recall_at_thresholds, _THRESHOLDS), INFERENCE_PROB_NAME),
    "top_5": _Named(_among_best, INFERENCE_PROB_NAME),
}


def get_metric(metric_name: str) -> Callable[..., Any]:
    """From (what is predicted, targets, weights) to a metric; KeyError for a name of none."""
    return _METRICS[metric_name].measure


def get_prediction_key(metric_name: str) -> str:
    """The key of the predictions that a metric takes."""
    return _METRICS[metric_name].key
