"""Metrics against scikit-learn and NumPy, and what they refuse. Their graphs: tests/golden/programs/metrics.py."""

import numpy as np
import pytest
import sklearn.metrics

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def streamed(metric, *batches):
    """The value after all batches, each the arrays that `metric` takes."""
    placed = [tf.placeholder(array.dtype, [None]) for array in batches[0]]
    value, update = metric(*placed)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for batch in batches:
            session.run(update, dict(zip(placed, batch, strict=True)))
        return session.run(value)


def batches(count=3, size=101):
    state = np.random.RandomState(0)
    return [(state.rand(size) > 0.4, state.rand(size).astype(np.float32)) for _ in range(count)]


def joined(found):
    return [np.concatenate(part) for part in zip(*found, strict=True)]


def test_area_under_the_curve():
    labels, scores = joined(batches())
    found = streamed(lambda a, b: tf.metrics.auc(a, b, num_thresholds=1000), *batches())
    assert found == pytest.approx(sklearn.metrics.roc_auc_score(labels, scores), abs=2e-3)
    careful = streamed(
        lambda a, b: tf.metrics.auc(a, b, num_thresholds=1000, summation_method="careful_interpolation"), *batches()
    )
    assert careful == found


def test_precision_and_recall():
    rounded = [(labels, scores > 0.5) for labels, scores in batches()]
    labels, chosen = joined(rounded)
    assert streamed(tf.metrics.precision, *rounded) == pytest.approx(sklearn.metrics.precision_score(labels, chosen))
    assert streamed(tf.metrics.recall, *rounded) == pytest.approx(sklearn.metrics.recall_score(labels, chosen))
    assert streamed(tf.metrics.accuracy, *rounded) == pytest.approx(np.mean(labels == chosen))
    assert streamed(tf.metrics.true_negatives, *rounded) == np.sum(~labels & ~chosen)


def test_nothing_found_is_no_precision():
    nothing = np.zeros(3, bool), np.zeros(3, bool)
    assert streamed(tf.metrics.precision, nothing) == 0
    assert streamed(tf.metrics.recall, nothing) == 0


def test_errors_over_batches():
    found = batches()
    a, b = joined(found)
    pairs = [(labels.astype(np.float32), scores) for labels, scores in found]
    assert streamed(tf.metrics.mean_squared_error, *pairs) == pytest.approx(np.mean((a - b) ** 2), rel=1e-5)
    assert streamed(tf.metrics.root_mean_squared_error, *pairs) == pytest.approx(np.sqrt(np.mean((a - b) ** 2)), rel=1e-5)
    assert streamed(tf.metrics.mean_absolute_error, *pairs) == pytest.approx(np.mean(np.abs(a - b)), rel=1e-5)


def test_mean_of_nothing_is_zero():
    assert streamed(tf.metrics.mean, (np.zeros(0, np.float32),)) == 0


def test_intersection_over_union():
    labels, found = np.array([0, 1, 1, 2, 2]), np.array([0, 1, 2, 2, 2])
    value = streamed(lambda a, b: tf.metrics.mean_iou(a, b, 3), (labels, found))
    assert value == pytest.approx(sklearn.metrics.jaccard_score(labels, found, average="macro"))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda a, b: tf.metrics.auc(a, b, curve="XY"), "XY unknown"),
        (lambda a, b: tf.metrics.auc(a, b, summation_method="guess"), "Invalid summation_method: guess"),
        (lambda a, b: tf.metrics.sensitivity_at_specificity(a, b, 1.5), r"`specificity` must be in the range \[0, 1\]"),
        (lambda a, b: tf.metrics.specificity_at_sensitivity(a, b, -1), r"`sensitivity` must be in the range \[0, 1\]"),
        (lambda a, b: tf.metrics.accuracy(a, b[:2]), "are incompatible"),
    ],
)
def test_what_they_refuse(build, text):
    with pytest.raises(ValueError, match=text):
        build(tf.constant([True, False, True]), tf.constant([0.25, 0.5, 0.75]))


def test_scores_outside_of_the_thresholds_fail():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"predictions must be in \[0, 1\]"):
        streamed(tf.metrics.auc, (np.array([1]), np.array([1.5], np.float32)))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mean", [[1.0]]),
        ("recall", [[1], [1]]),
        ("true_positives", [[1], [1]]),
        ("recall_at_thresholds", [[1], [0.5], [0.5]]),
    ],
)
def test_metrics_live_in_graphs(name, arguments):
    with eager_mode(), pytest.raises(RuntimeError, match=f"tf.metrics.{name} is not supported when eager"):
        getattr(tf.metrics, name)(*arguments)
