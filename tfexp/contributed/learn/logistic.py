"""An estimator of a model of probabilities. Source: `tf.contrib.learn.LogisticRegressor`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.contributed.learn.constants import ProblemType
from tfexp.contributed.learn.estimators import Estimator
from tfexp.contributed.learn.heads.metrics import Metric, MetricKey, area, at_threshold, mean_of
from tfexp.contributed.learn.model_fn_ops import ModeKeys, ModelFnOps


def LogisticRegressor(
    model_fn: Callable[..., Any],
    thresholds: Sequence[float] | None = None,
    model_dir: str | None = None,
    config: Any = None,
    feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
) -> Estimator:
    """An `Estimator` of model_fn(features, labels, mode), which gives (probabilities of 1, loss, training op).

    Labels, as the probabilities, are [batch, 1] of 0 and 1, or a dict of one such. An evaluation has the means of both, the
    area under the curve, and accuracy, precision and recall at each of the `thresholds` (0.5).
    """

    def with_metrics(features: Any, labels: Any, mode: str) -> ModelFnOps:
        predictions, loss, train_op = model_fn(features, labels, mode)
        measured = None
        if mode == ModeKeys.EVAL:
            [wanted] = labels.values() if isinstance(labels, Mapping) else [labels]
            measured = _metrics(wanted, predictions, thresholds or [0.5])
        served = {"head": (ProblemType.LOGISTIC_REGRESSION, {"predictions": predictions})}
        return ModelFnOps(mode, predictions, loss, train_op, measured, served)

    return Estimator(with_metrics, model_dir, config, feature_engineering_fn=feature_engineering_fn)


def _metrics(labels: Any, predictions: Any, thresholds: Sequence[float]) -> dict[str, Metric]:
    found = {
        MetricKey.PREDICTION_MEAN: mean_of(predictions, None),
        MetricKey.LABEL_MEAN: mean_of(labels, None),
        MetricKey.ACCURACY_BASELINE: mean_of(labels, None),
        MetricKey.AUC: area(labels, predictions, None),
    }
    for threshold in thresholds:
        found |= at_threshold(labels, predictions, None, threshold)
    return found
