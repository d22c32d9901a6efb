"""Metrics of tf.contrib that keep all values, or count them in equal steps."""

import numpy as np
import pytest

import tfexp as tf

metrics = tf.contrib.metrics


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def batch(seed=0, count=37):
    """(labels, predictions with ties, weights)"""
    random = np.random.RandomState(seed)
    return (
        random.rand(count) > 0.5,
        np.round(random.rand(count), 1).astype(np.float32),
        random.rand(count).astype(np.float32),
    )


def pairs_in_order(labels, predictions, weights):
    """The share of pairs of a positive and a negative in which the positive is higher; ties count half."""
    higher = (predictions[:, None] > predictions) + 0.5 * (predictions[:, None] == predictions)
    pairs = (weights * labels)[:, None] * (weights * ~labels)
    return np.sum(higher * pairs) / np.sum(pairs)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_area_under_the_roc_curve_is_exact(weighted):
    labels, predictions, weights = batch()
    value, update = metrics.streaming_dynamic_auc(
        tf.constant(labels), tf.constant(predictions), weights=tf.constant(weights) if weighted else None
    )
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(value) == 0
        for _ in range(2):
            session.run(update)
        weights = weights if weighted else np.ones(37)
        assert session.run(value) == pytest.approx(pairs_in_order(labels, predictions, weights))


def test_the_area_under_the_precision_recall_curve():
    value, update = metrics.streaming_dynamic_auc([1, 0, 1, 1], [0.9, 0.8, 0.8, 0.1], curve="PR")
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(update)
        # precision 1, 1, 2/3, 3/4 at recall 0, 1/3, 2/3, 1
        assert session.run(value) == pytest.approx((1 + (1 + 2 / 3) / 2 + (2 / 3 + 3 / 4) / 2) / 3)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, [0.8333333, 0.2650024, 0.985783]),
        ({"logit_transformation": False}, [0.8333333, 0.4681156, 1.198551]),
        ({"alpha": 0.5}, [0.8333333, 0.6691879, 0.9251422]),
        ({"weights": [1.0, 2.0, 1.0, 3.0, 1.0]}, [0.71875, 0.41406, 0.9023616]),
    ],
)
def test_the_interval_of_an_area(options, wanted):
    """Numbers of TensorFlow 1.15."""
    data, update = metrics.auc_with_confidence_intervals([0, 1, 1, 0, 1], [0.1, 0.2, 0.2, 0.2, 0.3], **options)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(data) == (0, 0, 0)
        session.run(update)
        np.testing.assert_allclose(session.run([data.auc, data.lower, data.upper]), wanted, rtol=2e-6)
        session.run(update)  # each example twice
        assert session.run(data.upper) < wanted[2]


def test_areas_of_0_and_1_and_of_one_class_are_their_own_interval():
    for labels, wanted in (([0, 0, 1, 1], 1), ([1, 1, 0, 0], 0), ([1, 1, 1, 1], 0)):
        data, update = metrics.auc_with_confidence_intervals(labels, [0.1, 0.2, 0.3, 0.4])
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            session.run(update)
            assert session.run(data) == (wanted,) * 3
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        metrics.auc_with_confidence_intervals([0], [0.5], alpha=1.5)


def test_other_curves_and_labels_are_refused():
    with pytest.raises(ValueError, match="curve must be"):
        metrics.streaming_dynamic_auc([1], [0.5], curve="LIFT")
    with pytest.raises(TypeError):
        metrics.precision_recall_at_equal_thresholds(tf.constant([1]), tf.constant([0.5]))
    with pytest.raises(ValueError, match="incompatible"):
        metrics.streaming_dynamic_auc([1, 0, 1], [0.1, 0.5])
    with pytest.raises(ValueError, match="should have dtype bool"):
        metrics.auc_using_histogram([1, 0], [0.1, 0.5], [0.0, 1.0])
    _, update = metrics.streaming_dynamic_auc([2], [0.5])
    with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be in"):
        metrics.precision_recall_at_equal_thresholds([True], [1.5])
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be 0 or 1"):
            session.run(update)


def test_counts_at_equal_thresholds():
    labels, predictions, weights = batch()
    data, update = metrics.precision_recall_at_equal_thresholds(
        tf.constant(labels), tf.constant(predictions), tf.constant(weights), num_thresholds=5
    )
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(update)
        found = session.run(data)
    np.testing.assert_allclose(found.thresholds, [0, 0.25, 0.5, 0.75, 1])
    above = predictions >= found.thresholds[:, None]
    for name, chosen in (("tp", above & labels), ("fp", above & ~labels), ("fn", ~above & labels), ("tn", ~above & ~labels)):
        np.testing.assert_allclose(getattr(found, name), np.sum(chosen * weights, 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found.precision, found.tp / (found.tp + found.fp), rtol=1e-6)
    np.testing.assert_allclose(found.recall, found.tp / (found.tp + found.fn), rtol=1e-6)


def test_areas_from_histograms():
    labels, predictions, _ = batch()
    value, update = metrics.auc_using_histogram(tf.constant(labels), tf.constant(predictions), [0.0, 1.0], nbins=100)
    assert [v.op.name for v in tf.local_variables()] == [
        *("auc_using_histogram/hist_accumulate/hist_true_acc", "auc_using_histogram/hist_accumulate/hist_false_acc")
    ]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(update)
        assert session.run(value) == pytest.approx(pairs_in_order(labels, predictions, np.ones(37)), rel=1e-5)
