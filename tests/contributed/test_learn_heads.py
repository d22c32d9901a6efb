"""Heads of tf.contrib.learn, and models with them. Numbers are by hand, or those of TensorFlow 1.15."""

import contextlib

import numpy as np
import pytest

import tfexp as tf

learn = tf.contrib.learn
pytestmark = pytest.mark.usefixtures("quiet")

WEIGHTS = np.float32([1, 3, 0])
LOGITS = np.float32([[2], [-1], [0.5]])
CLASS_LOGITS = np.float32([[1, 0, 2], [0, 3, 1], [1, 2, 0]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step()
        yield graph


def given(head, mode, labels, logits=LOGITS, train_op_fn=lambda loss: tf.no_op(), **more):
    features = {"w": tf.constant(WEIGHTS)}
    return head.create_model_fn_ops(features, mode, labels, train_op_fn, tf.constant(logits), **more)


@contextlib.contextmanager
def begun():
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        yield session


def values(fetches):
    with begun() as session:
        return session.run(fetches)


def metrics(ops):
    with begun() as session:
        session.run([update for _, update in ops.eval_metric_ops.values()])
        return session.run({key: value for key, (value, _) in ops.eval_metric_ops.items()})


def test_weighted_losses_are_minimized_by_examples_and_shown_by_weights():
    ops = given(learn.regression_head(weight_column_name="w", head_name="h"), "eval", tf.constant([1.0, 1.0, 1.0]))
    assert values(ops.loss) == pytest.approx((1 + 3 * 4) / 3)
    assert metrics(ops) == {"loss/h": pytest.approx((1 + 3 * 4) / 4)}
    [summary] = tf.get_collection(tf.GraphKeys.SUMMARIES)
    assert summary.op.name == "loss/h"
    alone = given(learn.regression_head(weight_column_name="w"), "eval", tf.constant([1.0, 1.0, 1.0]))
    losses = [alone.loss, alone.estimator_spec().loss, alone.served(None).loss]
    assert values(losses) == pytest.approx([(1 + 3 * 4) / 3, (1 + 3 * 4) / 3, (1 + 3 * 4) / 4])
    assert values(ops.predictions)["scores"].tolist() == LOGITS[:, 0].tolist()


def test_a_link_and_counts():
    counts = np.float32([1, 2, 3])
    ops = given(learn.poisson_regression_head(), "eval", tf.constant(counts))
    np.testing.assert_allclose(values(ops.predictions)["scores"], np.exp(LOGITS[:, 0]), rtol=1e-6)
    factorials = np.where(counts > 1, counts * np.log(counts) - counts + np.log(2 * np.pi * counts) / 2, 0)  # by Stirling
    assert values(ops.loss) == pytest.approx((np.exp(LOGITS[:, 0]) - counts * LOGITS[:, 0] + factorials).mean())
    squared = given(learn.regression_head(link_fn=tf.square), "infer", None)
    assert values(squared.predictions)["scores"].tolist() == [4, 1, 0.25]


def test_two_classes():
    ops = given(learn.multi_class_head(2, thresholds=[0.25, 0.7]), "eval", tf.constant([1, 0, 0]))
    found, probabilities = metrics(ops), 1 / (1 + np.exp(-LOGITS[:, 0]))
    assert found["loss"] == pytest.approx(-np.log([probabilities[0], 1 - probabilities[1], 1 - probabilities[2]]).mean())
    assert found["accuracy"] == pytest.approx(2 / 3) and found["auc"] == pytest.approx(1, abs=1e-5)
    assert found["labels/prediction_mean"] == pytest.approx(probabilities.mean())
    assert found["labels/actual_label_mean"] == found["accuracy/baseline_label_mean"] == pytest.approx(1 / 3)
    assert found["precision/positive_threshold_0.250000_mean"] == pytest.approx(1 / 3)
    assert found["accuracy/threshold_0.700000_mean"] == 1
    assert found["recall/positive_threshold_0.700000_mean"] == pytest.approx(1)
    predicted = values(ops.predictions)
    assert predicted["classes"].tolist() == [1, 0, 1]
    np.testing.assert_allclose(predicted["probabilities"][:, 1], probabilities, rtol=1e-6)
    [(_, exported)] = ops.output_alternatives.values()
    assert values(exported["classes"]).tolist() == [[b"0", b"1"]] * 3


def test_classes_by_numbers_and_words():
    numbered = given(learn.multi_class_head(3, metric_class_ids=[1]), "eval", tf.constant([2, 1, 0]), CLASS_LOGITS)
    softmax = np.exp(CLASS_LOGITS) / np.exp(CLASS_LOGITS).sum(1, keepdims=True)
    found = metrics(numbered)
    assert found["loss"] == pytest.approx(-np.log(softmax[[0, 1, 2], [2, 1, 0]]).mean())
    assert found["labels/prediction_mean/class1"] == pytest.approx(2 / 3)
    assert found["labels/actual_label_mean/class1"] == pytest.approx(1 / 3)
    assert found["labels/probability_mean/class1"] == pytest.approx(softmax[:, 1].mean())
    assert found["labels/logits_mean/class1"] == pytest.approx(5 / 3)
    named = given(learn.multi_class_head(3, label_keys=["a", "b", "c"]), "eval", tf.constant(["c", "b", "a"]), CLASS_LOGITS)
    assert metrics(named) == {"loss": pytest.approx(found["loss"]), "accuracy": pytest.approx(2 / 3)}
    assert values(named.predictions)["classes"].tolist() == [b"c", b"b", b"b"]


def test_metrics_count_examples_by_their_weights():
    two = given(learn.multi_class_head(2, weight_column_name="w"), "eval", tf.constant([[1], [1], [0]]))
    found, probabilities = metrics(two), 1 / (1 + np.exp(-LOGITS[:, 0]))
    assert found["accuracy"] == found["recall/positive_threshold_0.500000_mean"] == pytest.approx(1 / 4)
    assert found["labels/prediction_mean"] == pytest.approx(np.average(probabilities, weights=WEIGHTS))
    head = learn.multi_class_head(3, weight_column_name="w", metric_class_ids=[1])
    found = metrics(given(head, "eval", tf.constant([[1], [0], [1]]), CLASS_LOGITS))
    assert (found["labels/actual_label_mean/class1"], found["labels/prediction_mean/class1"]) == (1 / 4, 3 / 4)
    assert found["labels/logits_mean/class1"] == pytest.approx((0 * 1 + 3 * 3) / 4)


def test_the_hinge_loss_separates_two_classes():
    ops = given(learn.binary_svm_head(), "eval", tf.constant([[1], [1], [0]]))
    assert metrics(ops) == {"loss": pytest.approx((0 + 2 + 1.5) / 3), "accuracy": pytest.approx(1 / 3)}


def test_several_classes_at_once():
    labels = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([0, 2, 1], tf.int64), [3, 2])
    ops = given(learn.multi_label_head(3, metric_class_ids=[2]), "eval", labels, CLASS_LOGITS)
    truth = np.float32([[1, 0, 1], [0, 0, 0], [0, 1, 0]])
    found = metrics(ops)
    assert found["loss"] == pytest.approx((np.log1p(np.exp(CLASS_LOGITS)) - truth * CLASS_LOGITS).mean())
    assert found["labels/actual_label_mean/class2"] == pytest.approx(1 / 3)
    assert found["auc/class2"] == pytest.approx(1, abs=1e-4)
    assert values(ops.predictions)["classes"].tolist() == [[1, 0, 1], [0, 1, 1], [1, 1, 0]]


def test_a_loss_of_ones_own():
    def twice(labels, logits, weights=1.0):
        return 2 * tf.losses.sparse_softmax_cross_entropy(labels, logits, weights)

    labels = tf.constant([2, 1, 0])
    own, usual = (given(learn.multi_class_head(3, loss_fn=f), "eval", labels, CLASS_LOGITS).loss for f in (twice, None))
    doubled, once = values([own, usual])
    assert doubled == pytest.approx(2 * once)


def test_a_centered_bias_is_learned_beside_the_model():
    head = learn.binary_svm_head(weight_column_name="w", enable_centered_bias=True)
    ops = given(head, "train", tf.constant([[1], [1], [0]]))
    [bias] = tf.trainable_variables()
    assert bias.op.name == "binary_svm_head/centered_bias_weight"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(ops.train_op)
        # The gradient of the mean of both losses, divided by Adagrad, which begins with 0.1.
        gradient = (4 / 3 + 4 / 4) / 2
        np.testing.assert_allclose(session.run(bias), [0.1 * gradient / np.sqrt(0.1 + gradient**2)], rtol=1e-6)


def several(**more):
    return learn.multi_head(
        [learn.multi_class_head(3, "a", head_name="A"), learn.regression_head("b", head_name="B")], **more
    )


def test_heads_side_by_side():
    logits, labels = np.hstack([CLASS_LOGITS, LOGITS]), {"a": tf.constant([2, 1, 0]), "b": tf.constant([1.0, 1.0, 1.0])}
    ops = given(several(loss_weights=[2.0, 0.5]), "eval", labels, logits)
    found = metrics(ops)
    assert sorted(found) == ["accuracy/A", "loss/A", "loss/B"]
    assert values(ops.loss) == pytest.approx(2 * found["loss/A"] + found["loss/B"] / 2)
    predicted = given(several(), "infer", None, logits)
    assert predicted.predictions.keys() == {("A", "logits"), ("A", "probabilities"), ("A", "classes"), ("B", "scores")}
    assert [kind for kind, _ in predicted.output_alternatives.values()] == [1, 2]
    parts = {"A": tf.constant(CLASS_LOGITS), "B": tf.constant(LOGITS)}
    trained = several().create_model_fn_ops({}, "train", labels, learn.no_op_train_fn, parts)
    assert values(trained.loss) == pytest.approx(found["loss/A"] + found["loss/B"])


def test_logits_of_the_layer_below():
    ops = learn.multi_class_head(3).create_model_fn_ops({}, "infer", logits_input=tf.constant(LOGITS))
    assert ops.predictions["logits"].shape.as_list() == [3, 3]
    assert sorted(v.op.name for v in tf.global_variables()) == [
        "global_step", "multi_class_head/logits/biases", "multi_class_head/logits/weights"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: learn.multi_class_head(1), "n_classes must be > 1"),
        (lambda: learn.multi_class_head(2, metric_class_ids=[0]), "metric_class_ids invalid"),
        (lambda: learn.multi_class_head(2, label_keys=["a", "b"]), "label_keys is not supported"),
        (lambda: learn.multi_class_head(3, label_keys=["a"]), "Length of label_keys"),
        (lambda: learn.multi_class_head(3, metric_class_ids=[3]), r"Class ID 3 not in \[0, 3\)"),
        (lambda: learn.multi_class_head(3, loss_fn=lambda labels: labels), "Argument logits not found"),
        (lambda: learn.multi_label_head(1), "n_classes must be > 1"),
        (lambda: learn.regression_head(label_dimension=0), "Invalid logits_dimension"),
        (lambda: learn.multi_head([learn.regression_head()]), "must have names"),
        (lambda: learn.multi_head([learn.regression_head(head_name="a")], [1, 2]), "same size"),
        (lambda: given(learn.regression_head(), "other", None), "mode=other unrecognized"),
        (lambda: given(learn.regression_head(), "train", tf.ones([3]), train_op_fn=None), "train_op_fn can not be None"),
        (lambda: given(learn.regression_head(), "train", None), "Missing train_op"),
        (lambda: given(learn.regression_head(), "eval", tf.ones([3, 2])), "incompatible"),
        (lambda: given(learn.multi_class_head(3), "eval", tf.ones([3]), CLASS_LOGITS), "Labels dtype should be integer"),
        (lambda: given(learn.multi_class_head(3), "infer", None), "Dimensions 1 and 3 are not compatible"),
        (lambda: given(learn.regression_head(weight_column_name="v"), "eval", tf.ones([3])), "Weights v missing"),
        (lambda: learn.regression_head().create_model_fn_ops({}, "infer"), "Neither logits nor logits_input"),
        (
            lambda: given(learn.regression_head(), "infer", None, logits_input=tf.ones([3, 1])),
            "Both logits and logits_input",
        ),
        (lambda: given(learn.regression_head(), "eval", tf.SparseTensor([[0]], [1.0], [3])), "SparseTensor is not"),
    ],
)
def test_what_does_not_fit(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# --- models

COLUMNS = [tf.feature_column.numeric_column("x")]


def inputs():
    return {"x": tf.constant([[1.0], [-1.0]])}, {"a": tf.constant([2, 0]), "b": tf.constant([0.5, -0.5])}


def examples():
    serialized = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(serialized, {"x": tf.FixedLenFeature([1], tf.float32)})
    return learn.utils.input_fn_utils.InputFnOps(parsed, None, {"examples": serialized})


def test_a_linear_model_has_several_heads(tmp_path):
    made = learn.LinearEstimator(COLUMNS, several(), str(tmp_path), optimizer=tf.train.GradientDescentOptimizer(0.5))
    assert isinstance(made, learn.Estimator)
    assert made.fit(input_fn=inputs, steps=20).evaluate(input_fn=inputs, steps=1)["accuracy/A"] == 1
    predicted = list(made.predict(input_fn=lambda: inputs()[0]))
    assert [one["A", "classes"] for one in predicted] == [2, 0]
    with pytest.raises(ValueError, match=r"specify a default_output_alternative\. Available .*: \['A', 'B'\]"):
        made.export_savedmodel(str(tmp_path / "out"), examples)
    with pytest.raises(ValueError, match="Requested default_output_alternative: C"):
        made.export_savedmodel(str(tmp_path / "out"), examples, "C")
    folder = made.export_savedmodel(str(tmp_path / "out"), examples, "B")
    with tf.Graph().as_default(), tf.Session() as session:
        served = tf.saved_model.loader.load(session, ["serve"], folder).signature_def
    methods = {name: one.method_name.rpartition("/")[2] for name, one in served.items()}
    alternatives = {"default_input_alternative:A": "classify", "default_input_alternative:B": "regress"}
    assert methods == {**alternatives, "serving_default": "regress"}


@pytest.mark.parametrize(
    "make",
    [
        lambda head, folder: learn.DNNEstimator(head, [2], COLUMNS, folder, gradient_clip_norm=1.0),
        lambda head, folder: learn.DNNLinearCombinedEstimator(
            head, folder, COLUMNS, None, False, COLUMNS, None, [2], fix_global_step_increment_bug=True
        ),
    ],
)
def test_networks_have_any_head(tmp_path, make):
    made = make(learn.regression_head("b"), str(tmp_path))
    assert made.fit(input_fn=inputs, steps=2).evaluate(input_fn=inputs, steps=1)["global_step"] == 2
    assert [sorted(one) for one in made.predict(input_fn=lambda: inputs()[0])] == [["scores"]] * 2


def test_layers_have_activations_by_name(tmp_path):
    def trained(name, *monitors):
        made = learn.DNNEstimator(learn.regression_head("b"), [2], COLUMNS, str(tmp_path / name), activation_fn=name)
        return made.fit(input_fn=inputs, steps=1, monitors=monitors)

    kinds = []

    class Seen(tf.train.SessionRunHook):
        def begin(self):
            kinds.extend(op.type for op in tf.get_default_graph().get_operations())

    trained("tanh", Seen())
    assert "Tanh" in kinds and "Relu" not in kinds
    with pytest.raises(ValueError, match=r"one of \[relu, tanh, sigmoid\], you provided gelu"):
        trained("gelu")


def test_a_specification_for_the_core():
    ops = given(learn.regression_head(), "infer", None)
    assert isinstance(ops.estimator_spec().export_outputs["serving_default"], tf.estimator.export.RegressionOutput)
    measured = given(learn.multi_class_head(3), "eval", tf.constant([2, 1, 0]), CLASS_LOGITS).estimator_spec()
    assert list(measured.eval_metric_ops) == ["accuracy"]
    assert len(ops) == 9 and (ops.mode, ops.loss) == (ops[-1], ops[1]) == ("infer", None)
    both = given(several(), "infer", None, np.hstack([CLASS_LOGITS, LOGITS]))
    assert sorted(both.estimator_spec("B").export_outputs) == ["A", "B", "serving_default"]
    with pytest.raises(KeyError):
        both.estimator_spec()
    only = given(learn.regression_head(head_name="h"), "infer", None)
    served = ["default_input_alternative:h", "serving_default"]
    assert sorted(only.served(None).export_outputs) == sorted(only.served("h").export_outputs) == served
    with pytest.raises(ValueError, match=r"Requested default_output_alternative: C, but available .*: \['h'\]"):
        only.served("C")


def test_an_evaluation_shows_the_loss_by_weights(tmp_path):
    def data():
        return {"x": tf.constant([[1.0], [1.0], [2.0]]), "w": tf.constant(WEIGHTS)}, tf.constant([[1.0], [2.0], [5.0]])

    columns, head = [tf.feature_column.numeric_column("x")], learn.regression_head(weight_column_name="w")
    model = learn.LinearEstimator(columns, head, str(tmp_path), optimizer=tf.train.GradientDescentOptimizer(0.0))
    model.fit(input_fn=data, steps=1)
    assert model.evaluate(input_fn=data, steps=1)["loss"] == pytest.approx((1 * 1 + 3 * 4) / 4)
