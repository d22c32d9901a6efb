"""Forests as estimators, and their metrics (tf.contrib.tensor_forest.client)."""

import numpy as np
import pytest

import tfexp as tf

client = tf.contrib.tensor_forest.client
random_forest = client.random_forest
X = np.random.RandomState(0).rand(200, 3).astype(np.float32)
Y = (X[:, 0] > 0.5).astype(np.int32)

pytestmark = pytest.mark.usefixtures("quiet")


def params(**settings):
    known = {"num_classes": 2, "num_features": 3, "num_trees": 3, "max_nodes": 50, "split_after_samples": 20}
    forest = tf.contrib.tensor_forest.python.tensor_forest
    return forest.ForestHParams(**{**known, "base_random_seed": 3, **settings})


def given(features=X, labels=Y):
    return lambda: (tf.nest.map_structure(tf.constant, features), tf.constant(labels))


VARIABLES = [f"{kind}-{number}:0" for kind in ("stats", "tree") for number in range(3)]


def test_classes():
    forest = random_forest.TensorForestEstimator(params())
    forest.fit(input_fn=given(), steps=5)
    assert forest.get_variable_names() == [*(f"device_dummy_{n}" for n in range(3)), "global_step", *VARIABLES]
    found = forest.evaluate(input_fn=given(), steps=1)
    assert found["accuracy"] > 0.95 and found["global_step"] == 5
    assert set(found) >= {"auc", "accuracy/baseline_label_mean", "labels/prediction_mean", "loss"}
    one = next(forest.predict(x=X))
    assert set(one) == {"classes", "logistic", "logits", "prediction_variance", "probabilities"}
    assert one["prediction_variance"].shape == one["probabilities"].shape == (2,)
    odds = one["probabilities"][1] / one["probabilities"][0]
    np.testing.assert_allclose(one["logits"], [np.log(odds)], rtol=1e-4)


def test_a_forest_that_is_fitted_goes_on_with_its_trees():
    forest = random_forest.TensorForestEstimator(params(checkpoint_stats=True))
    forest.fit(X, Y, batch_size=50, steps=6)
    before = forest.evaluate(X, Y)
    forest.fit(X, Y, batch_size=50, steps=6)
    after = forest.evaluate(X, Y)
    assert after["global_step"] == 12 and after["loss"] < before["loss"]


def test_numbers():
    forest = random_forest.TensorForestEstimator(params(num_classes=1, regression=True))
    forest.fit(input_fn=given(labels=X[:, :1] * 2), steps=5)
    assert set(forest.evaluate(input_fn=given(labels=X[:, :1] * 2), steps=1)) == {"loss", "global_step"}
    one = next(forest.predict(x=X))
    assert set(one) == {"scores", "prediction_variance"}
    assert abs(one["scores"] - 2 * X[0, 0]) < 0.2


def test_keys_and_weights_are_no_features_of_trees():
    features = {"x": X, "w": np.full(200, 2, np.float32), "id": np.arange(200)}
    forest = random_forest.TensorForestEstimator(
        params(inference_tree_paths=True), keys_column="id", weight_column="w", report_feature_importances=True
    )
    forest.fit(input_fn=given(features, Y[:, np.newaxis]), steps=5)
    found = forest.evaluate(input_fn=given(features, Y[:, np.newaxis]), steps=1)
    assert found["accuracy"] > 0.7
    rows = list(forest.predict(input_fn=lambda: given(features)()[0]))
    assert [row["id"] for row in rows] == list(range(200))
    assert rows[0]["tree_paths"].shape == (3,)


def test_training_ends_when_the_loss_stays():
    forest = random_forest.TensorForestEstimator(params(), early_stopping_rounds=3)
    forest.fit(input_fn=given(), steps=500)
    assert forest.get_variable_value("global_step") < 100


@pytest.mark.parametrize(
    ("losses", "threshold", "taken", "least"),
    [
        ([5, 4, 4, 4, 4, 4, 4], 0.001, 6, 4),
        ([5, 4, 3.9, 3.8, 3.7, 3.6], 0.05, 6, 3.6),
        ([5, 4, 3.9999, 3.9999, 3.8, 3.8, 3.8, 3.8, 3.8, 3.8], 0.001, 9, 3.8),
    ],
)
def test_a_loss_that_is_less_by_too_little_is_none(losses, threshold, taken, least):
    with tf.Graph().as_default():
        step = tf.assign_add(tf.train.get_or_create_global_step(), 1)
        loss = tf.placeholder(tf.float32, [], name=random_forest.LOSS_NAME)
        hook = random_forest.TensorForestLossHook(3, early_stopping_loss_threshold=threshold)
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for value in losses:
                if not session.should_stop():
                    session.run(step, {loss: value})
    assert (hook.last_step, hook.min_loss) == (taken, pytest.approx(least))


def test_several_forests_have_columns_of_the_labels():
    labels = np.stack([Y, (X[:, 1] * 3).astype(np.int32)], 1)
    forests = random_forest.MultiForestMultiHeadEstimator([params(), params(num_classes=3, num_trees=2)])
    forests.fit(input_fn=given(labels=labels), steps=6)
    names = forests.get_variable_names()
    assert {"label_0/tree-2:0", "label_1/tree-1:0"} < set(names) and "label_1/tree-2:0" not in names
    assert set(forests.evaluate(input_fn=given(labels=labels), steps=1)) == {"loss", "global_step"}
    rows = list(forests.predict(x=X))
    assert rows[0]["probabilities"].shape == (5,)
    assert np.mean([row["classes"] for row in rows] == labels) > 0.8


def test_a_forest_of_tf_estimator(tmp_path):
    forest = random_forest.CoreTensorForestEstimator(params(), keys_column="id", include_all_in_serving=True)

    def batches():
        return tf.data.Dataset.from_tensor_slices(({"x": X, "id": np.arange(200)}, Y)).batch(50).repeat(5)

    forest.train(batches)
    found = forest.evaluate(batches, steps=1)
    assert found["accuracy"] > 0.9 and set(found) >= {"average_loss", "accuracy_baseline", "label/mean"}
    one = next(forest.predict(batches))
    assert set(one) >= {"class_ids", "classes", "id", "logits", "prediction_variance", "probabilities"}
    with tf.Graph().as_default():
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 3])})
        path = forest.export_saved_model(str(tmp_path), receiver)
    with tf.Graph().as_default(), tf.Session() as session:
        served = tf.saved_model.loader.load(session, ["serve"], path.decode()).signature_def
    assert set(served["tensorforest_all"].outputs) >= {"prediction_variance", "probabilities"}


def test_columns_are_refused():
    with pytest.raises(ValueError, match="feature_columns"):
        random_forest.TensorForestEstimator(params(), feature_columns=[tf.feature_column.numeric_column("x")])


TARGETS = np.array([0, 1, 1, 2])
PROBABILITIES = np.array([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1], [0.3, 0.3, 0.4]], np.float32)


@pytest.mark.parametrize(
    ("name", "key", "targets", "value"),
    [
        ("accuracy", "classes", TARGETS, 0.75),
        ("auc", "probabilities", TARGETS, 1.0),
        ("precision", "classes", TARGETS, 1.0),
        ("recall", "classes", TARGETS, 2 / 3),
        ("softmax_entropy", "probabilities", TARGETS, 0.9537879),
        ("sigmoid_entropy", "probabilities", TARGETS[:, np.newaxis], 0.71198463),
        ("classification_log_loss", "probabilities", TARGETS[:, np.newaxis], 0.46313655),
        ("r2", "scores", TARGETS, 0.8),
    ],
)
def test_metrics(name, key, targets, value):
    assert client.eval_metrics.get_prediction_key(name) == key
    said = {"classes": PROBABILITIES.argmax(1), "probabilities": PROBABILITIES}
    said["scores"] = np.array([0.2, 1.4, 0.8, 1.6], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        measured, update = client.eval_metrics.get_metric(name)(tf.constant(said[key]), tf.constant(targets))
        session.run(tf.local_variables_initializer())
        session.run(update)
        assert session.run(measured) == pytest.approx(value, rel=1e-4)


def test_metrics_of_thresholds_and_of_the_best():
    spec = tf.contrib.learn.MetricSpec(client.eval_metrics.get_metric("recall_at_thresholds"), "probabilities")
    forest = random_forest.TensorForestEstimator(params())
    forest.fit(input_fn=given(), steps=5)
    found = forest.evaluate(input_fn=given(), steps=1, metrics={"recalls": spec})
    assert found["recalls"].shape == (100,) and found["recalls"][0] == 1
    many = np.eye(7, dtype=np.float32) + np.arange(7, dtype=np.float32) / 10
    with tf.Graph().as_default(), tf.Session() as session:
        among, update = client.eval_metrics.get_metric("top_5")(tf.constant(many[:1].repeat(7, 0)), tf.range(7))
        session.run(tf.local_variables_initializer())
        session.run(update)
        assert session.run(among) == pytest.approx(5 / 7)
    with pytest.raises(KeyError):
        client.eval_metrics.get_metric("other")
