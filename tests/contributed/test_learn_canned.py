"""Networks and linear models of tf.contrib.learn: names, metrics and numbers are those of TensorFlow 1.15."""

import numpy as np
import pytest

import tfexp as tf

learn, fc = tf.contrib.learn, tf.feature_column
pytestmark = pytest.mark.usefixtures("quiet")

POINTS = np.random.RandomState(0).randn(12, 2).astype(np.float32)
SIDES = (POINTS[:, 0] > 0).astype(np.int64)
THIRDS = np.arange(12) % 3
SUMS = (POINTS @ np.float32([[1], [2]]) + 0.5).astype(np.float32)
X, WORDS = fc.numeric_column("x", (2,)), fc.categorical_column_with_hash_bucket("s", 7)
LETTERS = fc.categorical_column_with_vocabulary_list("s", list("abcde"))
EMBEDDED = fc.embedding_column(WORDS, 3)
OF_TWO_CLASSES = {
    "accuracy",
    "accuracy/baseline_label_mean",
    "accuracy/threshold_0.500000_mean",
    "auc",
    "auc_precision_recall",
    "global_step",
    "labels/actual_label_mean",
    "labels/prediction_mean",
    "loss",
    "precision/positive_threshold_0.500000_mean",
    "recall/positive_threshold_0.500000_mean",
}


def inputs(labels):
    words = [["abcde"[number % 5]] for number in range(12)]
    weights = np.linspace(0.5, 2, 12).astype(np.float32)
    return lambda: ({"x": tf.constant(POINTS), "s": tf.constant(words), "w": tf.constant(weights)}, tf.constant(labels))


class Noted(tf.train.SessionRunHook):
    def begin(self):
        graph = tf.get_default_graph()
        self.summaries = {op.name for op in graph.get_operations() if op.type.endswith("Summary")}


def measured(made, labels, noted=None):
    made.fit(input_fn=inputs(labels), steps=3, monitors=[noted or Noted()])
    return made.evaluate(input_fn=inputs(labels), steps=1)


def config():
    return learn.RunConfig(tf_random_seed=1)


def own(made):
    """The variables of the model, without those of its head, its optimizer, and the step."""
    slots = ("Adagrad", "Ftrl", "Ftrl_1", "learning_rate", "global_step")
    return [name for name in made.get_variable_names() if name.rpartition("/")[2] not in slots]


def test_a_network_of_two_classes(tmp_path):
    made, noted = learn.DNNClassifier([4, 3], [X, EMBEDDED], str(tmp_path), config=config()), Noted()
    found = measured(made, SIDES, noted)
    assert set(found) == OF_TWO_CLASSES
    assert own(made) == [
        "dnn/hiddenlayer_0/biases",
        "dnn/hiddenlayer_0/weights",
        "dnn/hiddenlayer_1/biases",
        "dnn/hiddenlayer_1/weights",
        "dnn/input_from_feature_columns/input_layer/s_embedding/embedding_weights",
        "dnn/logits/biases",
        "dnn/logits/weights",
    ]
    assert made.get_variable_value("dnn/binary_logistic_head/dnn/learning_rate") == pytest.approx(0.05)
    layers = ("hiddenlayer_0", "hiddenlayer_1", "logits")
    kinds = ("activation", "fraction_of_zero_values")
    assert noted.summaries == {"loss", *(f"dnn/dnn/{layer}_{kind}" for layer in layers for kind in kinds)}
    np.testing.assert_allclose(next(made.predict_proba(input_fn=inputs(SIDES))), [0.3480979, 0.65190214], rtol=1e-5)
    [*classes] = made.predict(input_fn=inputs(SIDES))
    assert classes[0] == 1 and classes == list(made.predict_classes(input_fn=inputs(SIDES)))


def test_a_weighted_network_of_numbers(tmp_path):
    made = learn.DNNRegressor([4], [X], str(tmp_path), "w", config=config())
    found = measured(made, SUMS)
    assert set(found) == {"loss", "global_step"}
    assert found["loss"] == pytest.approx(6.28849, rel=1e-5)
    assert next(made.predict_scores(input_fn=inputs(SUMS))) == pytest.approx(-1.2139034, rel=1e-5)


def test_linear_models(tmp_path):
    two, noted = learn.LinearClassifier([X, WORDS], str(tmp_path / "two"), config=config()), Noted()
    found = measured(two, SIDES, noted)
    assert (set(found), noted.summaries) == (OF_TWO_CLASSES, {"loss"})
    assert found["loss"] == pytest.approx(0.40928, abs=1e-5)
    names = ["bias_weights", "s/weights", "x/weights"]
    assert own(two) == [f"linear/linear_model/{name}" for name in names]
    three = learn.LinearClassifier([X, LETTERS], str(tmp_path / "three"), 3, gradient_clip_norm=1.0, config=config())
    measured(three, THIRDS)
    np.testing.assert_allclose(next(three.predict_proba(input_fn=inputs(THIRDS))), [0.383752, 0.203824, 0.412424], rtol=1e-5)


def test_a_bias_beside_a_linear_model_is_the_heads(tmp_path):
    made = learn.LinearClassifier([X, WORDS], str(tmp_path), enable_centered_bias=True, config=config())
    # Nothing says which of a step's two updates is first.
    assert measured(made, SIDES)["loss"] == pytest.approx(0.38653, abs=1e-3)
    assert made.get_variable_value("linear/binary_logistic_head/centered_bias_weight") == pytest.approx(0.17666, abs=1e-2)


@pytest.mark.parametrize(("fixed", "steps", "first"), [(False, 4, 0.5510898), (True, 3, 0.6223832)])
def test_wide_and_deep_models_count_a_step_twice_unless_it_is_fixed(tmp_path, fixed, steps, first):
    made = learn.DNNLinearCombinedClassifier(
        str(tmp_path),
        linear_feature_columns=[WORDS],
        dnn_feature_columns=[X, EMBEDDED],
        dnn_hidden_units=[4],
        fix_global_step_increment_bug=fixed,
        config=config(),
    )
    assert measured(made, SIDES)["global_step"] == steps
    assert next(made.predict_proba(input_fn=inputs(SIDES)))[1] == pytest.approx(first, rel=1e-5)
    assert "binary_logistic_head/linear/learning_rate" in made.get_variable_names()


def test_wide_and_deep_models_need_columns_and_layers(tmp_path):
    with pytest.raises(ValueError, match="must be defined"):
        learn.DNNLinearCombinedRegressor()
    made = learn.DNNLinearCombinedRegressor(str(tmp_path), dnn_feature_columns=[X])
    with pytest.raises(ValueError, match="dnn_hidden_units must be defined"):
        made.fit(input_fn=inputs(SUMS), steps=1)


def test_tables_of_embeddings_learn_at_rates_of_their_own(tmp_path):
    table = "dnn/input_from_feature_columns/input_layer/s_embedding/embedding_weights"
    squares = []
    for number, factor in enumerate((1.0, 0.5)):
        folder, factors = str(tmp_path / str(number)), {EMBEDDED: factor}
        made = learn.DNNClassifier([4], [X, EMBEDDED], folder, config=config(), embedding_lr_multipliers=factors)
        made.fit(input_fn=inputs(SIDES), steps=1)
        [kept] = [name for name in made.get_variable_names() if name.startswith(table) and name.endswith("Adagrad")]
        squares.append(made.get_variable_value(kept) - 0.1)
    assert squares[0].max() > 1e-3
    np.testing.assert_allclose(squares[1], squares[0] * 0.5**2, atol=1e-6)
    made = learn.DNNRegressor([4], [X], str(tmp_path / "other"), embedding_lr_multipliers={X: 0.1})
    with pytest.raises(ValueError, match="for an embedding column"):
        made.fit(input_fn=inputs(SUMS), steps=1)
