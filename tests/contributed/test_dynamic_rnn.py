"""tf.contrib.learn.DynamicRnnEstimator, its parts, and the inputs of sequences."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.contributed.learn import dynamic_rnn, recurrent_parts

learn, layers = tf.contrib.learn, tf.contrib.layers
CLASSES, NUMBERS = learn.ProblemType.CLASSIFICATION, learn.ProblemType.LINEAR_REGRESSION
AT_END, OF_STEPS = recurrent_parts.PredictionType.SINGLE_VALUE, recurrent_parts.PredictionType.MULTIPLE_VALUE

pytestmark = pytest.mark.usefixtures("quiet")

X = np.random.RandomState(0).randn(5, 4, 3).astype(np.float32)
LENGTHS = np.array([4, 2, 3, 1, 4], np.int32)
COLUMNS = [layers.real_valued_column("x", 3)]


def estimator(folder, *kinds, columns=COLUMNS, **arguments):
    return learn.DynamicRnnEstimator(*kinds, columns, model_dir=str(folder), **arguments)


def given(labels=None, **features):
    def input_fn():
        named = {name: tf.constant(values) for name, values in features.items()}
        return named if labels is None else (named, tf.constant(labels))

    return input_fn


def predicted(made, **features):
    found = list(made.predict(input_fn=given(**features)))
    return {name: np.stack([one[name] for one in found]) for name in found[0]}


def test_classes_of_steps_are_counted_within_the_lengths(tmp_path):
    labels = np.random.RandomState(1).randint(0, 3, (5, 4))
    made = estimator(tmp_path, CLASSES, OF_STEPS, num_classes=3, num_units=[2], predict_probabilities=True)
    made.fit(input_fn=given(labels, x=X, sequence_length=LENGTHS), steps=2)
    measured = made.evaluate(input_fn=given(labels, x=X, sequence_length=LENGTHS), steps=1)
    found = predicted(made, x=X, sequence_length=LENGTHS)
    is_step = np.arange(4) < LENGTHS[:, None]
    likely = np.take_along_axis(found["probabilities"], labels[..., None], -1)[..., 0]
    np.testing.assert_allclose(measured["loss"], -np.log(likely[is_step]).mean(), rtol=1e-5)
    np.testing.assert_allclose(measured["accuracy"], (found["classes"] == labels)[is_step].mean(), rtol=1e-6)


def test_a_number_is_that_of_the_last_step(tmp_path):
    labels, contexts = np.float32([1, 2, 3, 4, 5]), np.random.RandomState(2).randn(5, 2).astype(np.float32)
    features = {"x": X, "sequence_length": LENGTHS, "c": contexts}
    context = [layers.real_valued_column("c", 2)]
    made = estimator(
        tmp_path, NUMBERS, AT_END, context_feature_columns=context, num_units=2, optimizer="Momentum", momentum=0.5
    )
    made.fit(input_fn=given(labels, **features), steps=2)
    assert made.get_variable_value("rnn/basic_rnn_cell/kernel").shape == (3 + 2 + 2, 2)
    scores = predicted(made, **features)["scores"]
    loss = made.evaluate(input_fn=given(labels, **features), steps=1)["loss"]
    np.testing.assert_allclose(loss, np.square(scores - labels).mean(), rtol=1e-5)
    cut = {**features, "x": X[3:4, :1], "sequence_length": LENGTHS[3:4], "c": contexts[3:4]}
    np.testing.assert_allclose(predicted(made, **cut)["scores"], scores[3:4], rtol=1e-5)


def test_a_sequence_goes_on_from_the_states_of_its_beginning(tmp_path):
    made = estimator(tmp_path, NUMBERS, OF_STEPS, num_units=[3, 2], cell_type="lstm", dropout_keep_probabilities=[0.5] * 3)
    made.fit(input_fn=given(np.zeros((5, 4), np.float32), x=X), steps=1)
    whole, begun = predicted(made, x=X), predicted(made, x=X[:, :2])
    states = {name: values for name, values in begun.items() if name != "scores"}
    assert sorted(states) == [f"rnn_cell_state_{number}" for number in range(4)]
    np.testing.assert_allclose(predicted(made, x=X[:, 2:], **states)["scores"], whole["scores"][:, 2:], rtol=1e-5)


def test_inputs_of_sequences_are_those_of_their_steps():
    words = layers.sparse_column_with_keys("w", ["a", "b", "c"])
    sparse = tf.SparseTensor([[0, 0, 0], [0, 0, 1], [0, 2, 0], [1, 1, 0]], [b"a", b"b", b"c", b"a"], [2, 3, 2])
    features = {"w": sparse, "x": tf.constant(X[:2, :3]), "n": tf.constant([[1.0, 2, 3], [4, 5, 6]])}
    columns = [layers.one_hot_column(words), layers.real_valued_column("n"), *COLUMNS]
    made = layers.sequence_input_from_feature_columns(features, columns)
    assert made.shape.as_list() == [2, 3, 1 + 3 + 3]
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        found = session.run(made)
    hot = [[[1, 1, 0], [0, 0, 0], [0, 0, 1]], [[0, 0, 0], [1, 0, 0], [0, 0, 0]]]
    np.testing.assert_array_equal(found, np.concatenate([[[[1], [2], [3]], [[4], [5], [6]]], hot, X[:2, :3]], -1))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (layers.bucketized_column(layers.real_valued_column("x"), [0.0]), "x_bucketized is BucketizedColumn"),
        (layers.one_hot_column(layers.crossed_column([layers.sparse_column_with_keys("w", ["a"])] * 2, 5)), "CrossedColumn"),
        (layers.real_valued_column("flat"), r"is to be \[batch, time\]"),
    ],
)
def test_what_is_no_column_of_sequences(column, message):
    features = {"x": tf.constant([[1.0]]), "w": tf.constant([["a"]]), "flat": tf.constant([1.0])}
    with pytest.raises(ValueError, match=message):
        layers.sequence_input_from_feature_columns(features, [column])


@pytest.mark.parametrize(
    ("kinds", "arguments", "message"),
    [
        ((CLASSES, AT_END), {}, "num_classes must be specified"),
        ((CLASSES, AT_END), {"num_classes": 1}, "n_classes must be > 1"),
        ((NUMBERS, AT_END), {"predict_probabilities": True}, "can only be set to True for"),
        ((7, AT_END), {}, "problem_type must be either"),
        ((NUMBERS, 7), {}, "prediction_type must be one of"),
    ],
)
def test_models_that_there_are_not(tmp_path, kinds, arguments, message):
    with pytest.raises(ValueError, match=message):
        estimator(tmp_path, *kinds, num_units=[2], **arguments)


def test_cells_and_their_states():
    layered = recurrent_parts.construct_rnn_cell([3, 2], "lstm", [0.5, 0.6, 0.7])
    assert [tuple(size) for size in layered.state_size] == [(3, 3), (2, 2)]
    assert recurrent_parts.construct_rnn_cell(4, tf.nn.rnn_cell.GRUCell).state_size == 4
    with pytest.raises(ValueError, match="supported cell types"):
        recurrent_parts.construct_rnn_cell(3, "foo")
    with pytest.raises(ValueError, match="one greater than the number of cells"):
        recurrent_parts.construct_rnn_cell(3, "gru", [0.5])
    parts = dynamic_rnn.state_tuple_to_dict(layered.zero_state(5, tf.float32))
    assert dynamic_rnn.dict_to_state_tuple({}, layered) is None
    tf.nest.assert_same_structure(dynamic_rnn.dict_to_state_tuple(parts, layered), layered.zero_state(5, tf.float32))
    del parts["rnn_cell_state_1"]
    with pytest.raises(ValueError, match="partially specified"):
        dynamic_rnn.dict_to_state_tuple(parts, layered)


def test_all_steps_count_without_lengths():
    with tf.Session() as session:
        last, masked = session.run(
            [
                recurrent_parts.select_last_activations(tf.constant(X), None),
                recurrent_parts.mask_activations_and_labels(tf.constant(X), tf.constant(X[..., 0]), None),
            ]
        )
    np.testing.assert_array_equal(last, X[:, -1])
    np.testing.assert_array_equal(masked[0], X.reshape(-1, 3))
    np.testing.assert_array_equal(masked[1], X[..., 0].ravel())
