"""tf.contrib.learn: models of probabilities, runs of parts of a graph, tables as arrays, estimators that were not fitted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf

learn = tf.contrib.learn

pytestmark = pytest.mark.usefixtures("quiet")


def test_a_model_of_probabilities_is_measured_at_thresholds(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The numbers are those of TensorFlow 1.15.0."""
    x = np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32)
    y = np.float32([[0], [1], [0], [1], [1], [1]])

    def model(features: Any, labels: Any, mode: str) -> Any:
        weights = tf.get_variable("w", [2, 1], initializer=tf.constant_initializer(0.5))
        found = tf.sigmoid(tf.matmul(features, weights))
        if labels is None:
            return found, None, None
        loss = tf.losses.log_loss(labels, found)
        return found, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())

    regressor = learn.LogisticRegressor(model, [0.3, 0.6], str(tmp_path))

    def examples() -> Any:
        return tf.constant(x), tf.constant(y)

    with pytest.raises(learn.NotFittedError, match="Couldn't find trained model"):
        regressor.evaluate(input_fn=examples, steps=1)
    found = regressor.fit(input_fn=examples, steps=3).evaluate(input_fn=examples, steps=1)
    wanted = {
        "accuracy/baseline_label_mean": 0.6667,
        "accuracy/threshold_0.300000_mean": 0.8333,
        "accuracy/threshold_0.600000_mean": 0.6667,
        "auc": 0.875,
        "global_step": 3,
        "labels/actual_label_mean": 0.6667,
        "labels/prediction_mean": 0.5002,
        "loss": 0.5534,
        "precision/positive_threshold_0.300000_mean": 0.8,
        "precision/positive_threshold_0.600000_mean": 1.0,
        "recall/positive_threshold_0.300000_mean": 1.0,
        "recall/positive_threshold_0.600000_mean": 0.5,
    }
    assert found == pytest.approx(wanted, abs=1e-4)
    once = list(regressor.predict(input_fn=lambda: tf.constant(x)))
    assert len(once) == 6 and "yields forever" not in caplog.text


def test_parts_of_a_graph_are_run_in_a_session_of_their_own(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        variable = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        more, fed = tf.assign_add(variable, 1.0), tf.placeholder_with_default(2.0, [])
        assert [one["more"] for one in learn.run_n({"more": more}, n=3)] == [1.0, 2.0, 3.0]
        assert learn.run_feeds({"twice": fed * 2}, [{fed: 1.0}, None]) == [{"twice": 2.0}, {"twice": 4.0}]
        with tf.Session() as session:
            session.run(variable.assign(7.0))
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
        assert learn.run_n({"more": more}, restore_checkpoint_path=path) == [{"more": 8.0}]
        assert learn.infer(path, {"v": variable * 2, "fed": fed}, {fed: 3.0}) == {"v": 14.0, "fed": 3.0}
        with tf.Graph().as_default():
            assert learn.infer(path, {"alone": tf.constant(2.0)}) == {"alone": 2.0}
        with pytest.raises(ValueError, match="output_dict is invalid"):
            learn.run_n({})
        with pytest.raises(ValueError, match="feed_dicts is invalid"):
            learn.run_feeds({"more": more}, [])


def test_arrays_are_shuffled_unless_that_is_refused() -> None:
    for shuffled in (True, False):
        options = {} if shuffled else {"shuffle": False}
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            rows = learn.io.numpy_input_fn({"x": np.arange(64)}, batch_size=64, **options)()
            with tf.train.MonitoredSession() as session:
                found = session.run(rows["x"])
        assert sorted(found) == list(range(64)) and (found.tolist() != sorted(found)) is shuffled


def test_tables_are_arrays() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.0]})
    assert learn.extract_pandas_data(table).tolist() == [[1.0, 0.5], [2.0, 1.0]]
    assert learn.io.extract_pandas_matrix(table).shape == (2, 2)
    assert learn.extract_pandas_labels(pandas.DataFrame({"y": [True, False]})).tolist() == [[True], [False]]
    assert learn.extract_pandas_data([1, 2]) == learn.extract_pandas_labels([1, 2]) == [1, 2]
    with pytest.raises(ValueError, match="Only one column"):
        learn.extract_pandas_labels(table)
    with pytest.raises(ValueError, match="must be int, float, or bool"):
        learn.extract_pandas_data(pandas.DataFrame({"word": ["x"]}))
