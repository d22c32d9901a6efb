"""Keras's metrics: TensorFlow's results, and what metrics are."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.metrics.metric_cases import CASES, RECORDING, key, results
from tfexp.keras.metrics import clone_metric
from tfexp.runtime.eager import eager_mode

metrics = tf.keras.metrics
K = tf.keras.backend
RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=key)
def test_results_are_tensorflow_s(case: Any) -> None:
    for found, wanted in zip(results(tf, case), RECORDED[key(case)], strict=True):
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


# --- points of curves, which TensorFlow 2 finds otherwise --------------------------------------------------------------


TRUES, GUESSES = [0, 0, 1, 0, 1, 1, 1], [0.12, 0.33, 0.37, 0.64, 0.58, 0.77, 0.94]


def at_nearest(of: Any, nearest_to: float, other: Any) -> float:
    """The share of one kind at the threshold where the other share is nearest to a value, by definition."""
    y_true, y_pred = np.float32(TRUES), np.float32(GUESSES)
    points = [(of(y_true, y_pred > t), other(y_true, y_pred > t)) for t in np.linspace(0, 1, 11)]
    return float(points[int(np.argmin([abs(o - nearest_to) for _, o in points]))][0])


def _found(y_true: Any, above: Any) -> Any:
    return (y_true * above).sum() / y_true.sum()


def rejected(y_true: Any, above: Any) -> Any:
    return ((1 - y_true) * ~above).sum() / (1 - y_true).sum()


@pytest.mark.parametrize("value", [0.0, 0.4, 0.7, 1.0])
def test_sensitivity_and_specificity(value: float) -> None:
    with eager_mode():
        sensitivity = metrics.SensitivityAtSpecificity(value, num_thresholds=11)
        np.testing.assert_allclose(sensitivity(TRUES, GUESSES).numpy(), at_nearest(_found, value, rejected), rtol=1e-6)
        specificity = metrics.SpecificityAtSensitivity(value, num_thresholds=11)
        np.testing.assert_allclose(specificity(TRUES, GUESSES).numpy(), at_nearest(rejected, value, _found), rtol=1e-6)


# --- what metrics are ---------------------------------------------------------------------------------------------------


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as opened:
        K.set_session(opened)
        yield opened
        K.set_session(None)


def test_variables_are_in_no_collection(session: Any) -> None:
    metric = metrics.Mean()
    assert [v.name for v in metric.weights] == ["total:0", "count:0"]
    assert not any(v.trainable for v in metric.weights)
    assert not tf.global_variables() and not tf.local_variables()


def test_updates_and_results_in_a_graph(session: Any) -> None:
    metric, x = metrics.Mean(), tf.placeholder(tf.float32, [None])
    result = metric(x)
    assert result._metric_obj is metric and len(metric.updates) == 1
    session.run([v.initializer for v in metric.weights])
    assert session.run(result, {x: [1.0, 2.0]}) == 1.5
    assert session.run(result, {x: [3.0]}) == 2.0
    metric.reset_states()
    assert session.run(metric.result()) == 0.0


class Taken(metrics.Metric):  # type: ignore[name-defined,misc]
    """Sums predictions of trues; its `update_state` gives nothing back."""

    def __init__(self, name: str = "taken", **kwargs: Any):
        super().__init__(name=name, **kwargs)
        self.sum = self.add_weight("sum", initializer="zeros")
        self.times = self.add_weight("times", initializer="zeros", dtype="int32")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.sum.assign_add(tf.reduce_sum(tf.cast(y_true, tf.float32) * y_pred))
        self.times.assign_add(1)

    def result(self) -> Any:
        return self.sum / tf.cast(self.times, tf.float32)


def test_a_metric_of_one_s_own(session: Any) -> None:
    metric = Taken()
    result = metric(tf.constant([1, 2]), tf.constant([2.0, 3.0]))
    session.run([v.initializer for v in metric.weights])
    assert [session.run(result) for _ in range(2)] == [8.0, 8.0]
    assert session.run(metric.times) == 2
    with eager_mode():
        eager = Taken()
        first = eager([1.0], tf.constant([2.0]))
        assert first.numpy() == 2.0 and first._metric_obj is eager  # `add_metric` takes its name
        assert eager([1.0], tf.constant([4.0])).numpy() == 3.0
        other = copy.copy(eager)
        assert other.update_state._metric is other and other.sum is eager.sum


def test_metrics_in_eager_execution_and_functions() -> None:
    with eager_mode():
        mean = metrics.Mean()

        @tf.function
        def take(x: Any) -> None:
            mean.update_state(x, sample_weight=2.0)

        take(tf.constant([1.0, 2.0]))
        take(tf.constant([6.0, 7.0]))
        assert mean.result().numpy() == 4.0
        assert mean.count.numpy() == 8.0
        mean.reset_states()
        assert mean(5.0).numpy() == 5.0


def test_means_of_tensors_have_one_shape() -> None:
    with eager_mode():
        metric = metrics.MeanTensor()
        assert metric.weights == [] and metric.total is None
        metric.reset_states()
        with pytest.raises(ValueError, match="MeanTensor does not have any value yet"):
            metric.result()
        metric.update_state([1.0, 2.0])
        with pytest.raises(ValueError, match=r"Expected shape \(set during the first call\): \(2,\). Got: \(3,\)"):
            metric.update_state([1.0, 2.0, 3.0])
        metric.reset_states()
        np.testing.assert_array_equal(metric([3.0, 4.0]).numpy(), [3.0, 4.0])


def test_predictions_have_to_be_probabilities() -> None:
    with eager_mode():
        with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be <= 1"):
            metrics.AUC().update_state([0, 1], [0.3, 2.0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be >= 0"):
            metrics.Precision().update_state([0, 1], [0.3, -2.0])


def test_default_names_are_unique(session: Any) -> None:
    assert [metrics.Precision().name for _ in range(2)] == ["precision", "precision_1"]
    assert [metrics.Mean().name for _ in range(2)] == ["mean", "mean"]


KINDS = {name: arguments for name, arguments, _ in CASES} | {
    "SensitivityAtSpecificity": {"specificity": 0.5},
    "SpecificityAtSensitivity": {"sensitivity": 0.5, "num_thresholds": 1},
}


@pytest.mark.parametrize("name", KINDS)
def test_configurations_come_back(session: Any, name: str) -> None:
    made = getattr(metrics, name)(name="mine", **KINDS[name])
    for again in (metrics.get(metrics.serialize(made)), clone_metric(made)):
        assert type(again) is type(made)
        np.testing.assert_equal(again.get_config(), made.get_config())
        assert again.get_config()["name"] == "mine"


def test_names(session: Any) -> None:
    assert metrics.get("mse") is tf.keras.losses.mse
    assert metrics.get("accuracy").__name__ == "accuracy"
    assert isinstance(metrics.get("AUC"), metrics.AUC)
    assert metrics.serialize(metrics.binary_accuracy) == "binary_accuracy"
    assert float(session.run(metrics.cosine_proximity([1.0, 0.0], [2.0, 0.0]))) == pytest.approx(1.0)
    for unknown in ("foo", "acc"):  # which is for `compile` to know
        with pytest.raises(ValueError, match=f"Unknown metric function:{unknown}"):
            metrics.get(unknown)
    for nothing in (None, 3):
        with pytest.raises(ValueError, match="Could not interpret metric function identifier"):
            metrics.get(nothing)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: metrics.Precision(thresholds=[2.0]), r"Threshold values must be in \[0, 1\]. Invalid values: \[2.0\]"),
        (lambda: metrics.Precision(thresholds=[None]), r"Threshold values must be in \[0, 1\]. Invalid values: \[None\]"),
        (lambda: metrics.AUC(num_thresholds=1), "Argument `num_thresholds` must be an integer > 1"),
        (lambda: metrics.AUC(curve="foo"), 'Invalid AUC curve value: "foo". Expected values are'),
        (lambda: metrics.AUC(summation_method="foo"), 'Invalid AUC summation method value: "foo"'),
        (lambda: metrics.SensitivityAtSpecificity(2.0), r"Argument `specificity` must be in the range \[0, 1\]"),
        (lambda: metrics.SpecificityAtSensitivity(0.5, 0), "Argument `num_thresholds` must be an integer > 0"),
    ],
)
def test_arguments_that_cannot_be(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


def test_the_interpolated_area_is_a_method_too() -> None:
    with eager_mode():
        metric = metrics.AUC(curve="PR", num_thresholds=5)
        metric.update_state([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        assert metric.interpolate_pr_auc().numpy() == metric.result().numpy() == pytest.approx(0.8873, abs=1e-4)


def test_an_area_says_its_thresholds() -> None:
    assert metrics.AUC(num_thresholds=5).get_config()["thresholds"] == [0.25, 0.5, 0.75]
    assert metrics.AUC(thresholds=[0.6, 0.2]).get_config()["thresholds"] == [0.2, 0.6]


def test_a_subclass_may_return_what_its_base_class_does() -> None:
    class Doubled(metrics.Mean):
        def update_state(self, values: Any) -> Any:
            return super().update_state(2.0 * values)

    with tf.Graph().as_default(), tf.Session() as session:
        metric = Doubled()
        metric.update_state(tf.constant([1.0, 4.0]))
        session.run(tf.variables_initializer(metric.variables))
        session.run(metric.updates)
        assert session.run(metric.result()) == 5.0


def test_updates_of_means_give_the_count_that_was_added_to() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        metric = metrics.Mean()
        updated = metric.update_state([1.0, 2.0])
        assert updated.shape.as_list() == [] and updated.dtype.base_dtype == tf.float32
        session.run([variable.initializer for variable in metric.variables])
        assert session.run(updated) == 2.0
        assert session.run(metric.variables) == [3.0, 2.0]
    with eager_mode():
        assert metrics.Mean().update_state([1.0, 2.0]).numpy() == 2.0
