"""`tf.metrics`: local variables that streams of batches add up in, and the values that they give."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values

SOURCE = "features T6, issue 4.1"

_MEANS = ("mean_absolute_error", "mean_squared_error", "root_mean_squared_error")
_COUNTS = ("true_positives", "true_negatives", "false_positives", "false_negatives", "precision", "recall")


def _weights(*shape: int) -> np.ndarray[Any, Any]:
    return values("weights", *shape, low=0.5, high=2.0)


def _scores(*shape: int) -> np.ndarray[Any, Any]:
    return values("scores", *shape, low=0.0, high=1.0)


def _bits(name: str, *shape: int) -> np.ndarray[Any, Any]:
    return values(name, *shape) > 0


def _streamed(tf: Any, result: Any, feeds: dict[Any, Any]) -> Outcome:
    value, update = result
    steps = Run(tf.local_variables_initializer()), Run(update, feeds), Run(update, feeds), Run(value, feeds)
    return runs(
        *steps,
        variables=[v.name for v in tf.local_variables()],
        collections=sorted(tf.get_default_graph().get_all_collection_keys()),
    )


def _register(name: str, build: Any) -> None:
    program(SOURCE, name)(build)


def _pair(name: str, *, weighted: bool, **options: Any) -> Any:
    def build(tf: Any) -> Outcome:
        labels = tf.placeholder(tf.float32, [None, 3], name="labels")
        predictions = tf.placeholder(tf.float32, [None, 3], name="predictions")
        weights = tf.placeholder(tf.float32, [None, 1] if weighted else None, name="weights")
        feeds = {labels: _bits("l", 5, 3) * 1.0, predictions: _scores(5, 3)}
        if name in _COUNTS:
            feeds[predictions] = _bits("p", 5, 3) * 1.0
        if weighted:
            feeds[weights] = _weights(5, 1)
            options["weights"] = weights
        return _streamed(tf, getattr(tf.metrics, name)(labels, predictions, **options), feeds)

    return build


for _name in (*_MEANS, *_COUNTS, "auc"):
    for _weighted in (False, True):
        _register(f"{_name}{'_weighted' if _weighted else ''}", _pair(_name, weighted=_weighted))
_register("cosine", _pair("mean_cosine_distance", weighted=True, dim=1))
_register("auc_pr", _pair("auc", weighted=False, curve="PR", num_thresholds=7, summation_method="careful_interpolation"))
_register("auc_minoring", _pair("auc", weighted=False, num_thresholds=7, summation_method="minoring"))
_register("auc_majoring", _pair("auc", weighted=True, curve="PR", num_thresholds=7, summation_method="majoring"))
for _name in ("sensitivity_at_specificity", "specificity_at_sensitivity"):
    _register(_name, _pair(_name, weighted=True, **{_name.split("_at_")[1]: 0.6}, num_thresholds=11))
for _name in (*(f"{kind}_at_thresholds" for kind in _COUNTS),):
    _register(_name, _pair(_name, weighted="positives" in _name or "recall" in _name, thresholds=[0.25, 0.5, 0.75]))


def _values(name: str, *arguments: Any, weighted: bool = False) -> Any:
    def build(tf: Any) -> Outcome:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        feeds = {x: values("x", 5, 3)}
        options = {}
        if weighted:
            options["weights"] = tf.placeholder(tf.float32, [None, 3], name="weights")
            feeds[options["weights"]] = _weights(5, 3)
        return _streamed(tf, getattr(tf.metrics, name)(x, *arguments, **options), feeds)

    return build


for _weighted in (False, True):
    _suffix = "_weighted" if _weighted else ""
    _register(f"mean{_suffix}", _values("mean", weighted=_weighted))
    _register(f"percentage_below{_suffix}", _values("percentage_below", 0.25, weighted=_weighted))


@program(SOURCE)
def mean_tensor(tf: Any) -> Outcome:
    x, weights = tf.placeholder(tf.float32, [2, 3], name="x"), tf.placeholder(tf.float32, [2, 1], name="weights")
    return _streamed(tf, tf.metrics.mean_tensor(x, weights), {x: values("x", 2, 3), weights: _weights(2, 1)})


@program(SOURCE)
def mean_relative_error(tf: Any) -> Outcome:
    a, b = (tf.placeholder(tf.float32, [None, 3], name=name) for name in ("labels", "predictions"))
    feeds = {a: values("a", 5, 3), b: values("b", 5, 3)}
    return _streamed(tf, tf.metrics.mean_relative_error(a, b, normalizer=tf.abs(a)), feeds)


def _classes(name: str, *arguments: Any, weighted: bool = False) -> Any:
    def build(tf: Any) -> Outcome:
        labels, predictions = (tf.placeholder(tf.int64, [None], name=n) for n in ("labels", "predictions"))
        feeds: dict[Any, Any] = {labels: np.array([0, 2, 1, 2, 2]), predictions: np.array([0, 1, 1, 2, 0])}
        options = {}
        if weighted:
            options["weights"] = tf.placeholder(tf.float32, [None], name="weights")
            feeds[options["weights"]] = _weights(5)
        return _streamed(tf, getattr(tf.metrics, name)(labels, predictions, *arguments, **options), feeds)

    return build


for _weighted in (False, True):
    _suffix = "_weighted" if _weighted else ""
    _register(f"accuracy{_suffix}", _classes("accuracy", weighted=_weighted))
    _register(f"mean_iou{_suffix}", _classes("mean_iou", 3, weighted=_weighted))
    _register(f"mean_per_class_accuracy{_suffix}", _classes("mean_per_class_accuracy", 3, weighted=_weighted))


@program(SOURCE)
def named_and_collected(tf: Any) -> Outcome:
    labels, predictions = (tf.placeholder(tf.int32, [None], name=n) for n in ("labels", "predictions"))
    with tf.variable_scope("eval"):
        for name in (None, "second"):
            tf.metrics.accuracy(labels, predictions, metrics_collections=["m"], updates_collections=["u"], name=name)
    found = {key: [t.name for t in tf.get_collection(key)] for key in ("m", "u", tf.GraphKeys.METRIC_VARIABLES)}
    return runs(found=found)


@program(SOURCE)
def ranks_of_a_step(tf: Any) -> Outcome:
    labels, predictions, weights = (tf.placeholder(tf.float32, name=n) for n in ("labels", "predictions", "weights"))
    value, update = tf.metrics.accuracy(labels, predictions, weights)
    batches = ([1, 2, 3], [1, 2, 5], [[1], [0], [1]]), ([[1], [2], [3]], [1, 2, 5], 2), ([[1], [2]], [[1], [5]], [1, 3])
    steps = [Run(update, dict(zip((labels, predictions, weights), batch, strict=True))) for batch in batches]
    return runs(Run(tf.local_variables_initializer()), *steps, Run(value, {}))
