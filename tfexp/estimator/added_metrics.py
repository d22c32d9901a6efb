"""`tf.estimator.add_metrics`: an Estimator with more metrics. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.estimator.arguments import call_with_wanted, unexpected
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec

_ARGUMENTS = ("features", "labels", "predictions", "config")


def add_metrics(estimator: Estimator, metric_fn: Callable[..., Any]) -> Estimator:
    """An Estimator of the same folder, whose evaluations have the metrics of `metric_fn` too.

    That takes what it wants of `features`, `labels`, `predictions` and `config`, ValueError for others, and gives pairs
    (value, update) by name; of one name with the model's, it takes their place.
    """
    strange = unexpected(metric_fn, _ARGUMENTS)
    if strange:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {strange}")
    inner = estimator.model_fn

    def model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        spec = inner(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        own = call_with_wanted(metric_fn, features=features, labels=labels, predictions=spec.predictions, config=config)
        made: EstimatorSpec = spec._replace(eval_metric_ops={**spec.eval_metric_ops, **own})
        return EstimatorSpec(**made._asdict())

    return Estimator(model_fn, estimator.model_dir, estimator.config, warm_start_from=estimator._warm_start)
