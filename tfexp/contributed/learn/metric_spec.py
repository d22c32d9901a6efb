"""`tf.contrib.learn.MetricSpec`: a metric, and which predictions, labels and weights it is of. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.estimator.arguments import argument_names

# What metrics call their arguments; the first that a metric has is meant.
_CALLED = {
    "predictions": ("predictions", "prediction", "input", "inputs", "logits", "x"),
    "labels": ("labels", "label", "target", "targets", "y"),
    "weights": ("weights", "weight"),
}


class MetricSpec:
    """`metric_fn` of the predictions, labels and weights of these names; by default of the only ones.

    metric_fn gives a pair (value, update), or a tensor. Its arguments are found by what they are called, or else are the
    predictions and labels by their places.
    """

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ):
        self.metric_fn = metric_fn
        self.prediction_key, self.label_key, self.weight_key = prediction_key, label_key, weight_key

    @property
    def metric_fn_name(self) -> str:
        return getattr(self.metric_fn, "__name__", str(self.metric_fn))

    def __str__(self) -> str:
        return (
            f"MetricSpec(metric_fn={self.metric_fn_name}, prediction_key={self.prediction_key}, "
            f"label_key={self.label_key}, weight_key={self.weight_key})"
        )

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """What the metric gives. inputs: the features, for weights.

        KeyError for a name that there is not, ValueError without a name where there are several, and for a metric without
        an argument for weights when there are some.
        """
        given = {
            "predictions": _one(predictions, self.prediction_key, "prediction"),
            "labels": _one(labels, self.label_key, "label"),
        }
        if self.weight_key is not None:
            given["weights"] = inputs[self.weight_key]
        names = argument_names(self.metric_fn)
        called = {role: next((n for n in _CALLED[role] if n in names), None) for role in given}
        if called.get("weights", "") is None:
            raise ValueError(f"{list(_CALLED['weights'])} missing from {self.metric_fn_name}({names}).")
        if called["predictions"] is None or called["labels"] is None:
            weights = {str(called["weights"]): given["weights"]} if "weights" in given else {}
            return self.metric_fn(given["predictions"], given["labels"], **weights)
        return self.metric_fn(**{str(called[role]): value for role, value in given.items()})


def _one(given: Any, key: str | None, what: str) -> Any:
    if key is not None:
        if not isinstance(given, Mapping):
            raise ValueError(f"MetricSpec with {what}_key specified requires {what}s dict, got {given}")
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {given.keys()}.")
        return given[key]
    if isinstance(given, Mapping):
        if len(given) != 1:
            raise ValueError(
                f"MetricSpec without specified {what}_key requires {what}s tensor or single element dict, got {given}"
            )
        return next(iter(given.values()))
    return given
