"""Heads of `tf.contrib.estimator`: losses in parts, and areas by trapezoids. Numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf

heads = tf.contrib.estimator
LOGITS = np.random.RandomState(0).randn(4, 3).astype(np.float32)
SEVERAL = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 0], [1, 1, 1]])


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_the_loss_in_parts(session):
    head = heads.multi_label_head(3, weight_column="w")
    weights = tf.constant([[1.0], [2.0], [0.0], [4.0]])
    parts = head.create_loss({"w": weights}, "eval", tf.constant(LOGITS), tf.constant(SEVERAL))
    found = session.run(parts)
    np.testing.assert_allclose(found.unreduced_loss[:, 0], [0.91806, 0.81058, 0.84674, 0.44747], rtol=1e-4)
    np.testing.assert_allclose(found.training_loss, 4.3291 / 4, rtol=1e-4)
    assert found.weights.ravel().tolist() == [1, 2, 0, 4] and (found.processed_labels == SEVERAL).all()
    numbers = heads.regression_head().create_loss({}, "eval", tf.zeros([2, 1]), tf.constant([[1.0], [2.0]]))
    assert numbers.weights == 1.0 and session.run(numbers.training_loss) == 2.5


@pytest.mark.parametrize(
    ("head", "logits", "labels", "wanted"),
    [
        (heads.multi_label_head(3, classes_for_class_based_metrics=[0]), LOGITS, SEVERAL, 0.62292),
        (heads.binary_classification_head(), LOGITS.reshape(-1)[:4, None], [[0], [1], [1], [0]], 0.29167),
    ],
)
def test_areas_by_trapezoids(session, head, logits, labels, wanted):
    spec = head.create_estimator_spec({}, "eval", tf.constant(logits), labels=tf.constant(labels))
    session.run(tf.local_variables_initializer())
    assert session.run(spec.eval_metric_ops["auc_precision_recall"][1]) == pytest.approx(wanted, rel=1e-4)


def test_names_of_classes_are_exported_alone():
    spec = heads.multi_label_head(3).create_estimator_spec({}, "infer", tf.constant(LOGITS))
    assert spec.predictions.keys() == {"logits", "probabilities"}
    assert spec.export_outputs["classification"].classes.shape.as_list() == [4, 3]
