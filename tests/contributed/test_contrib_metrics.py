"""tf.contrib.metrics: what tf.metrics does not have, against NumPy over several batches."""

import numpy as np
import pytest

import tfexp as tf

metrics = tf.contrib.metrics
RNG = np.random.RandomState(5)
PREDICTIONS, LABELS, WEIGHTS = (RNG.rand(3, 7).astype(np.float32) for _ in range(3))
CLASSES, GUESSES = (RNG.randint(0, 3, (3, 7)) for _ in range(2))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def streamed(metric, *columns, **settings):
    """The value after all batches; the last update gives the same."""
    feeds = [tf.placeholder(column.dtype, [None]) for column in columns]
    value, update = metric(*feeds, **settings)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for batch in zip(*columns, strict=True):
            last = session.run(update, dict(zip(feeds, batch, strict=True)))
        found = session.run(value)
    np.testing.assert_allclose(found, last, rtol=1e-6)
    return found


def test_covariance_and_correlation_are_those_of_all_batches():
    x, y, w = PREDICTIONS.ravel(), LABELS.ravel(), WEIGHTS.ravel()
    assert streamed(metrics.streaming_covariance, PREDICTIONS, LABELS) == pytest.approx(np.cov(x, y)[0, 1], rel=1e-5)
    assert streamed(metrics.streaming_pearson_correlation, PREDICTIONS, LABELS) == pytest.approx(
        np.corrcoef(x, y)[0, 1], rel=1e-5
    )
    weighted = np.sum(w * (x - np.average(x, weights=w)) * (y - np.average(y, weights=w))) / (w.sum() - 1)
    assert streamed(metrics.streaming_covariance, PREDICTIONS, LABELS, WEIGHTS) == pytest.approx(weighted, rel=1e-4)
    names = [variable.op.name for variable in tf.local_variables()]
    assert names[:4] == [f"covariance/{part}" for part in ("count", "mean_prediction", "mean_label", "comoment")]


def test_covariance_of_one_example_is_not_a_number():
    assert np.isnan(streamed(metrics.streaming_covariance, PREDICTIONS[:1, :1], LABELS[:1, :1]))


def test_count():
    assert streamed(metrics.count, PREDICTIONS) == 21
    assert streamed(metrics.count, PREDICTIONS, WEIGHTS) == pytest.approx(WEIGHTS.sum())


def test_kappa_is_agreement_beyond_chance():
    shares = [np.bincount(column.ravel(), minlength=3) / 21 for column in (CLASSES, GUESSES)]
    chance, agreed = shares[0] @ shares[1], (CLASSES == GUESSES).mean()
    found = streamed(metrics.cohen_kappa, CLASSES, GUESSES, num_classes=3)
    assert found == pytest.approx((agreed - chance) / (1 - chance)) and found.dtype == np.float64


def test_f1_is_the_best_over_thresholds():
    truths = CLASSES == 0
    scores = []
    for threshold in (-1e-7, 0.25, 0.5, 0.75, 1 + 1e-7):
        above = threshold < PREDICTIONS
        scores.append(2 * (above & truths).sum() / (above.sum() + truths.sum()))
    assert streamed(metrics.f1_score, truths, PREDICTIONS, num_thresholds=5) == pytest.approx(max(scores), abs=1e-6)


def test_rates():
    truths, guesses = CLASSES == 0, GUESSES == 0
    found = streamed(metrics.streaming_false_negative_rate, guesses, truths)
    assert found == pytest.approx((truths & ~guesses).sum() / truths.sum())
    found = streamed(metrics.streaming_false_positive_rate, guesses, truths)
    assert found == pytest.approx((~truths & guesses).sum() / (~truths).sum())
    assert streamed(metrics.streaming_false_positive_rate, truths[:, :0], truths[:, :0]) == 0


def test_counts_at_thresholds():
    truths = CLASSES == 0
    for name, of in (("true_positives", truths), ("false_positives", ~truths)):
        found = streamed(getattr(metrics, f"streaming_{name}_at_thresholds"), PREDICTIONS, truths, thresholds=[0.2, 0.6])
        assert found.tolist() == [(of & (threshold < PREDICTIONS)).sum() for threshold in (0.2, 0.6)]


def test_accuracy_of_a_batch():
    classes, guesses, weights = (tf.constant(column[0]) for column in (CLASSES, GUESSES, WEIGHTS))
    right = CLASSES[0] == GUESSES[0]
    with tf.Session() as session:
        assert session.run(metrics.accuracy(guesses, classes)) == pytest.approx(right.mean())
        expected = np.average(right, weights=WEIGHTS[0])
        assert session.run(metrics.accuracy(guesses, classes, weights)) == pytest.approx(expected)
    with pytest.raises(ValueError, match="should match"):
        metrics.accuracy(guesses, tf.cast(classes, tf.int32))
    with pytest.raises(ValueError, match="not float32"):
        metrics.accuracy(weights, weights)


def test_recall_at_k():
    scores, labels = tf.constant([[0.1, 0.9, 0.5], [0.8, 0.1, 0.2]]), tf.constant([2, 1])
    _, update = metrics.streaming_recall_at_k(scores, labels, 2)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update) == 0.5
    assert [variable.op.name for variable in tf.local_variables()] == ["recall_at_2/total", "recall_at_2/count"]


def test_rates_of_errors_at_thresholds():
    scores = tf.constant([0.1, 0.3, 0.35, 0.6, 0.7, 0.9])
    truth = tf.constant([False, True, False, True, False, True])
    pairs = [
        metrics.streaming_false_negative_rate_at_thresholds(scores, truth, [0.2, 0.65]),
        metrics.streaming_false_positive_rate_at_thresholds(scores, truth, [0.2, 0.65], weights=tf.constant(2.0)),
    ]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        updates = session.run([update for _, update in pairs])
        np.testing.assert_allclose(updates, [[0, 2 / 3], [2 / 3, 1 / 3]], atol=1e-6)
        np.testing.assert_array_equal(session.run([value for value, _ in pairs]), updates)


def test_classes_that_are_ranked_already():
    ranked, labels = np.array([[1, 2, 3], [4, 0, 2], [5, 1, 0]]), np.array([[2, 7], [3, 6], [1, 0]])
    with tf.Session() as session:
        pairs = [
            metrics.streaming_sparse_precision_at_top_k(tf.constant(ranked), tf.constant(labels)),
            metrics.streaming_sparse_precision_at_top_k(
                tf.constant(ranked), tf.constant(labels), 1, tf.constant([0.5, 1, 2])
            ),
            metrics.sparse_recall_at_top_k(tf.constant(labels), tf.constant(ranked)),
            metrics.streaming_sparse_average_precision_at_top_k(tf.constant(ranked), tf.constant(labels)),
        ]
        session.run(tf.local_variables_initializer())
        got = session.run([update for _, update in pairs])
    np.testing.assert_allclose(got, [3 / 9, 0.8, 3 / 6, (1 / 4 + 0 + (1 / 2 + 2 / 3) / 2) / 3], rtol=1e-6)


@pytest.fixture
def hits():
    """(predictions, which of them are true, weights) in batches, and (precision, recall) at the inner thresholds of 20."""
    p, y, w = PREDICTIONS, LABELS < 0.6, WEIGHTS
    above = p.ravel()[None] > np.arange(1, 19)[:, None] / 19
    found = (above * y.ravel() * w.ravel()).sum(1)
    return p, y, w, found / np.maximum((above * w.ravel()).sum(1), 1e-7), found / (y * w).sum()


def on_hits(metric, hits, *target, **settings):
    return streamed(lambda p, y, w: metric(y, p, *target, weights=w, num_thresholds=20, **settings), *hits[:3])


def test_precision_and_recall_at_each_other(hits):
    precision, recall = hits[3:]
    last = (recall >= 0.4).sum() - 1
    assert on_hits(metrics.precision_at_recall, hits, 0.4) == pytest.approx(precision[last], rel=1e-5)
    target = (np.sort(np.unique(precision))[-2:] * [0.6, 0.4]).sum()  # below the middle: the nearest one is smaller
    nearest = np.argmin(abs(precision - target))
    assert on_hits(metrics.recall_at_precision, hits, target) == pytest.approx(recall[nearest], rel=1e-5)
    found = on_hits(metrics.recall_at_precision, hits, target, strict_mode=True)
    assert found in [pytest.approx(recall[i], rel=1e-5) for i in np.flatnonzero(precision >= target)]


def test_no_precision_is_reached():
    feeds = np.float32([[0.9, 0.4]]), np.array([[False, True]])
    found = streamed(lambda p, y: metrics.recall_at_precision(y, p, 0.9, strict_mode=True), *feeds)
    assert found == 0
    nothing = streamed(lambda p, y: metrics.precision_at_recall(y, p, 0.9), feeds[0], ~feeds[1] & feeds[1])
    assert nothing == 1
    for metric in (metrics.precision_at_recall, metrics.recall_at_precision):
        with pytest.raises(ValueError, match=r"in the range \[0, 1\]"):
            metric([True], [0.5], 1.5)


def test_points_of_curves(hits):
    p, y, w, precision, recall = hits
    with tf.Session() as session:
        points = {}
        for curve in ("ROC", "PR"):
            points[curve], update = metrics.streaming_curve_points(y, p, w, num_thresholds=20, curve=curve)
            session.run(tf.local_variables_initializer())
            assert session.run(update) is None
            points[curve] = session.run(points[curve])
    np.testing.assert_allclose(points["PR"][1:-1, 0], recall, atol=1e-5)
    np.testing.assert_allclose(points["ROC"][:, 1], points["PR"][:, 0])
    some = recall > 0
    np.testing.assert_allclose(points["PR"][1:-1, 1][some], precision[some], atol=1e-4)
    with pytest.raises(ValueError, match="XX unknown"):
        metrics.streaming_curve_points(y, p, curve="XX")


@pytest.mark.parametrize("most", [None, 5])
def test_streams_are_put_together(most):
    values = tf.placeholder(tf.float32, [2, None])
    whole, update = metrics.streaming_concat(values, axis=-1, max_size=most)
    assert whole.shape.as_list() == [2, None]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(whole).shape == (2, 0)
        batches = [PREDICTIONS[:2, :3], LABELS[:2, :4]]
        assert [session.run(update, {values: batch}) for batch in batches] == [3, most or 7]
        np.testing.assert_array_equal(session.run(whole), np.concatenate(batches, 1)[:, :most])
    with pytest.raises(ValueError, match="axis = 2"):
        metrics.streaming_concat(values, axis=2)
    with pytest.raises(ValueError, match="statically known"):
        metrics.streaming_concat(values)
