"""Heads of `tf.contrib.estimator`: losses in parts, and areas by trapezoids. Numbers are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

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


class _Squares(stand_for("tensorflow.python.estimator.canned.head")._Head):
    """A program's own head, which minimizes the mean square of what is missing."""

    logits_dimension = 1

    def create_loss(self, features, mode, logits, labels):
        return tf.reduce_mean(tf.square(logits - labels))

    def create_estimator_spec(
        self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None, regularization_losses=None
    ):
        loss = self.create_loss(features, mode, logits, labels)
        step = optimizer.minimize(loss, tf.train.get_global_step()) if mode == "train" else None
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def test_heads_of_ones_own(tmp_path):
    """After three steps of a linear model from zero, as TF 1.15 counts."""

    def inputs():
        return tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[2.0], [4.0]])).repeat()

    columns = [tf.feature_column.numeric_column("x")]
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    config = tf.estimator.RunConfig(str(tmp_path))
    made = tf.estimator.LinearEstimator(_Squares(), columns, optimizer=optimizer, config=config).train(inputs, steps=3)
    assert made.evaluate(inputs, steps=1)["loss"] == pytest.approx(0.08345796, rel=1e-5)
    assert made.get_variable_value("linear/linear_model/bias_weights") == pytest.approx(0.828)
    with pytest.raises(NotImplementedError):
        _Squares().name  # noqa: B018 (reading it is what raises)


def test_heads_of_that_kind():
    base = stand_for("tensorflow_estimator.python.estimator.canned.head")._Head
    assert isinstance(heads.regression_head(), base) and not isinstance(tf.estimator.RegressionHead(), base)
