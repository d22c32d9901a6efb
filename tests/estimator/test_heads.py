"""`tf.estimator.Head`: losses by themselves, and what heads refuse. Whole models are in test_against_tensorflow.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf

E = tf.estimator
LOGITS = np.array([[0.5], [-1.0], [2.0]], np.float32)
WEIGHTS = {"w": np.array([[1.0], [2.0], [3.0]], np.float32)}


def sigmoid_loss(labels: Any, logits: Any) -> Any:
    return np.log1p(np.exp(-np.abs(logits))) + np.maximum(logits, 0) - logits * labels


def value(tensor: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(tensor)


@pytest.mark.parametrize(
    ("reduction", "divisor"),
    [("sum", 1), ("auto", 3), ("sum_over_batch_size", 3), ("weighted_mean", 6), ("weighted_sum", 1)],
)
def test_rows_are_weighted_and_reduced(reduction: str, divisor: int) -> None:
    labels = np.array([1, 0, 1])
    head = E.BinaryClassHead("w", loss_reduction=reduction)
    expected = (sigmoid_loss(labels[:, None], LOGITS) * WEIGHTS["w"]).sum() / divisor
    np.testing.assert_allclose(value(head.loss(labels, LOGITS, WEIGHTS)), expected, rtol=1e-6)
    extra = head.loss(labels, LOGITS, WEIGHTS, regularization_losses=[tf.constant(2.0), tf.constant(3.0)])
    np.testing.assert_allclose(value(extra), expected + 5, rtol=1e-6)


def test_words_booleans_and_sparse_labels_are_classes() -> None:
    words = E.BinaryClassHead(label_vocabulary=["no", "yes"])
    numbers = E.BinaryClassHead()
    assert value(words.loss(["yes", "no", "yes"], LOGITS)) == value(numbers.loss([1, 0, 1], LOGITS))
    assert value(numbers.loss([True, False, True], LOGITS)) == value(numbers.loss([1, 0, 1], LOGITS))
    several = E.MultiLabelHead(3, label_vocabulary=["p", "q", "r"])
    logits = np.array([[0.5, 1.0, -2.0], [0.0, 3.0, 1.0]], np.float32)
    sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["r", "p", "q"], [2, 2])
    made = value(several.loss(sparse, logits))
    assert made == value(several.loss(np.array([[1, 0, 1], [0, 1, 0]]), logits))
    np.testing.assert_allclose(made, sigmoid_loss(np.array([[1, 0, 1], [0, 1, 0]]), logits).mean(), rtol=1e-6)


def test_losses_may_be_ones_own() -> None:
    head = E.RegressionHead(loss_fn=lambda labels, logits: tf.abs(labels - logits), loss_reduction="sum")
    np.testing.assert_allclose(value(head.loss([1.0, 1.0, 1.0], LOGITS)), np.abs(LOGITS - 1).sum(), rtol=1e-6)
    poisson = E.PoissonRegressionHead(compute_full_loss=False)
    np.testing.assert_allclose(value(poisson.loss([[2.0]], [[0.5]])), np.exp(0.5) - 1.0, rtol=1e-6)


def test_only_what_is_asked_for_is_predicted() -> None:
    head = E.MultiClassHead(3)
    assert list(head.predictions(np.zeros((2, 3), np.float32), keys=["class_ids"])) == ["class_ids"]
    with pytest.raises(ValueError, match=r"must be among logits, probabilities, .*\. Given: other"):
        head.predictions(np.zeros((2, 3), np.float32), keys=["other"])
    several = E.MultiHead([E.BinaryClassHead(name="a"), E.RegressionHead(name="b", label_dimension=2)])
    assert (several.name, several.logits_dimension) == ("a_b", 3)
    made = several.predictions({"a": LOGITS, "b": np.zeros((3, 2), np.float32)}, keys=[("b", "predictions")])
    assert list(made) == [("b", "predictions")]


def test_labels_out_of_range_fail_the_step() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Labels must be <= n_classes - 1"):
        value(E.BinaryClassHead().loss([2, 0, 1], LOGITS))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Labels must be in range \[0, 1\]"):
        value(E.LogisticRegressionHead().loss([2.0, 0.0, 1.0], LOGITS))
    with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be an integer indicator Tensor"):
        value(E.MultiLabelHead(2).loss([[2, 0]], [[0.5, 0.5]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Labels must be >= 0"):
        value(E.PoissonRegressionHead().loss([-1.0, 0.0, 1.0], LOGITS))


def spec(head: Any, **more: Any) -> Any:
    return head.create_estimator_spec({}, "train", LOGITS, [0, 1, 0], **more)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: E.BinaryClassHead(loss_reduction="none"), "Invalid loss_reduction: none. It must be one of auto, sum, "),
        (lambda: E.BinaryClassHead(thresholds=[1.0]), r"thresholds not in \(0, 1\)"),
        (lambda: E.BinaryClassHead(label_vocabulary="ab"), "label_vocabulary should be a list or a tuple"),
        (
            lambda: E.MultiClassHead(3, label_vocabulary=["a"]),
            r'not have "n_classes" items. len\(label_vocabulary\)=1, n_classes=3',
        ),
        (
            lambda: E.BinaryClassHead(loss_fn=lambda labels: 0),
            r"loss_fn must contain argument: logits. Given .*\('labels',\)",
        ),
        (lambda: E.BinaryClassHead(loss_fn=lambda labels, logits, a: 0), r"loss_fn has unexpected args: \['a'\]"),
        (lambda: E.BaselineRegressor(loss_reduction="sum"), "Invalid loss_reduction: sum"),
        (lambda: E.MultiClassHead(None), "n_classes cannot be None"),
        (lambda: E.MultiClassHead(2), "n_classes must be > 2: 2"),
        (lambda: E.MultiLabelHead(1), "n_classes must be > 1"),
        (lambda: E.MultiLabelHead(2, classes_for_class_based_metrics=["a"]), "label_vocabulary must be provided"),
        (lambda: E.MultiLabelHead(2, classes_for_class_based_metrics=[2]), r"must be in range \[0, 1\]. Given: 2"),
        (lambda: E.RegressionHead(0), "Invalid label_dimension 0"),
        (lambda: E.MultiHead([]), "Must specify heads"),
        (lambda: E.MultiHead([E.BinaryClassHead()]), "All given heads must have name specified"),
        (lambda: E.MultiHead([E.BinaryClassHead(name="a")] * 2), "All heads must have different names"),
        (lambda: E.BinaryClassHead().loss(None, LOGITS), "You must provide a labels Tensor"),
        (lambda: E.BinaryClassHead().loss({"a": [1]}, LOGITS), "labels must be a Tensor, not a dict of a"),
        (lambda: E.BinaryClassHead().loss([[1, 2]], LOGITS), "Expected labels dimension=1.  Received 2."),
        (lambda: E.BinaryClassHead().loss([[1]], LOGITS), r"labels shape must be \[batch, 1\]"),
        (lambda: E.BinaryClassHead().loss([1], [1.0]), "must have rank at least 2.  Received rank 1"),
        (lambda: E.BinaryClassHead().loss(["a", "b", "c"], LOGITS), "Labels that are words need label_vocabulary"),
        (
            lambda: E.BinaryClassHead().loss([1], [[1.0, 2.0]]),
            r"shape must be \[D0, D1, ... DN, logits_dimension\], got \(1, 2\)",
        ),
        (lambda: E.BinaryClassHead("w").loss([1, 0, 1], LOGITS, LOGITS), "features, which must be a dict"),
        (lambda: spec(E.BinaryClassHead()), "train_op_fn and optimizer cannot both be None"),
        (
            lambda: spec(E.BinaryClassHead(), optimizer=1, train_op_fn=1),
            "train_op_fn and optimizer cannot both be set",
        ),
    ],
)
def test_what_does_not_fit_is_refused(action: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: E.DNNLinearCombinedRegressor(), "Either linear_feature_columns or dnn_feature_columns must be defined"),
        (
            lambda: E.DNNLinearCombinedRegressor(dnn_feature_columns=tf.feature_column.numeric_column("a")),
            "dnn_hidden_units must be defined",
        ),
        (lambda: trained(E.BaselineClassifier(optimizer="Other")), "Unsupported optimizer name: Other. Supported names are"),
        (lambda: trained(E.BaselineClassifier(optimizer=lambda: 3)), "The given object is not an Optimizer instance"),
        (
            lambda: trained(E.BaselineClassifier(), features=LOGITS),
            "features should be a dictionary of `Tensor`s for Baseline",
        ),
    ],
)
def test_canned_estimators_refuse(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def trained(model: Any, features: Any = None) -> None:
    model.train(lambda: ({"a": tf.constant(LOGITS)} if features is None else features, tf.constant([0, 1, 0])), steps=1)


def test_functions_to_logits_are_called_with_what_they_take() -> None:
    call = E.experimental.call_logit_fn
    assert call(lambda features, mode: tf.constant(1.0), {}, "train", {}, None).shape == ()
    with pytest.raises(ValueError, match="must include features argument"):
        call(lambda mode: 1, {}, "train", {}, None)
    with pytest.raises(ValueError, match=r"should return a Tensor or a dictionary of Tensors\. Given: 1"):
        call(lambda features: 1, {}, "train", {}, None)


@pytest.mark.parametrize("head", [E.RegressionHead(), E.MultiHead([E.RegressionHead(name="a")])])
def test_keras_optimizers_train_and_count_the_global_step(head: Any) -> None:
    v = tf.Variable([[1.0]], use_resource=True, name="v")
    x = tf.constant([[1.0], [2.0]])
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.iterations = step = tf.train.get_or_create_global_step()
    labels = tf.constant([[3.0], [4.0]])
    arguments = {"features": {"x": x}, "mode": "train", "logits": tf.matmul(x, v), "optimizer": optimizer}
    arguments["labels"] = labels if isinstance(head, E.RegressionHead) else {"a": labels}
    with tf.Session() as session:
        made = head.create_estimator_spec(**arguments, trainable_variables=[v])
        session.run(tf.global_variables_initializer())
        session.run(made.train_op)
        assert session.run([v, step]) == [pytest.approx(1.6), 1]
    assert "training/SGD/learning_rate:0" in [one.name for one in tf.global_variables()]
    for given, message in [(None, "cannot be None"), (3, "should be a list or a tuple. Given type: <class 'int'>")]:
        with pytest.raises(ValueError, match=message):
            head.create_estimator_spec(**arguments, trainable_variables=given)
    with pytest.raises(ValueError, match=r"not a tf\.keras\.optimizers\.Optimizer instance\. Given: 3"):
        head.create_estimator_spec(**arguments | {"optimizer": 3})
