"""Recurrent models of feature columns (tf.contrib.estimator.RNNClassifier, RNNEstimator)."""

import numpy as np
import pytest

import tfexp as tf

estimator, columns = tf.contrib.estimator, tf.contrib.feature_column

pytestmark = pytest.mark.usefixtures("quiet")

PLACES = [[0, 0], [0, 1], [2, 0]]


def steps():
    words = columns.sequence_categorical_column_with_identity("word", 5)
    return [tf.feature_column.embedding_column(words, 3), columns.sequence_numeric_column("x")]


def input_fn():
    words = tf.SparseTensor(PLACES, tf.constant([1, 4, 2], tf.int64), [3, 2])
    numbers = tf.SparseTensor(PLACES, [0.5, -1.0, 2.0], [3, 2])
    features = {"word": words, "x": numbers, "context": tf.constant([[1.0, 2.0], [3.0, -4.0], [0.5, 0.0]])}
    return tf.data.Dataset.from_tensors((features, tf.constant([[0], [1], [1]])))


def test_classes_come_from_the_last_step_of_each_sequence(tmp_path):
    contexts = [tf.feature_column.numeric_column("context", (2,))]
    model = estimator.RNNClassifier(steps(), contexts, [4], model_dir=str(tmp_path))
    model.train(input_fn)
    shapes = {name: np.shape(model.get_variable_value(name)) for name in model.get_variable_names()}
    kernel = "rnn/rnn/basic_rnn_cell/kernel"
    assert shapes[kernel] == shapes[f"{kernel}/t_0/Adagrad"] == (3 + 1 + 2 + 4, 4)
    assert shapes["rnn/sequence_input_layer/sequence_input_layer/word_embedding/embedding_weights"] == (5, 3)
    assert shapes["rnn/logits/dense/kernel"] == (4, 1)

    def value(name):
        return model.get_variable_value(f"rnn/{name}")

    table = value("sequence_input_layer/sequence_input_layer/word_embedding/embedding_weights")
    context, state = np.array([1.0, 2.0]), np.zeros(4)
    for word, x in ((1, 0.5), (4, -1.0)):
        given = np.concatenate([table[word], [x], context, state])
        state = np.tanh(given @ value("rnn/basic_rnn_cell/kernel") + value("rnn/basic_rnn_cell/bias"))
    wanted = state @ value("logits/dense/kernel") + value("logits/dense/bias")
    predicted = [one["logits"] for one in model.predict(input_fn)]
    np.testing.assert_allclose(predicted[0], wanted, rtol=1e-4)
    np.testing.assert_allclose(predicted[1], value("logits/dense/bias"), rtol=1e-5)  # the sequence without steps


def built(model):
    """The EstimatorSpec of a training, in the default graph."""
    tf.train.create_global_step()
    features, labels = input_fn().make_one_shot_iterator().get_next()
    return model.model_fn(features, labels, tf.estimator.ModeKeys.TRAIN, model.config)


@pytest.mark.parametrize(("optimizer", "is_clipped"), [("SGD", True), (tf.train.GradientDescentOptimizer(0.05), False)])
def test_gradients_of_optimizers_by_name_are_clipped(optimizer, is_clipped, tmp_path):
    head = estimator.regression_head(loss_fn=lambda labels, logits: 100.0 * logits)
    model = estimator.RNNEstimator(head, steps(), num_units=[2], model_dir=str(tmp_path), optimizer=optimizer)
    with tf.Graph().as_default(), tf.Session() as session:
        spec = built(model)
        session.run(tf.global_variables_initializer())
        session.run(spec.train_op)
        [bias] = [one for one in tf.trainable_variables() if one.op.name.startswith("rnn/logits/dense/bias")]
        # A step of 0.05 along a gradient of norm 5 at most; all of it otherwise.
        assert (abs(session.run(bias)[0]) <= 0.05 * 5) == is_clipped


@pytest.mark.parametrize(("cell_type", "kernel"), [("lstm", "basic_lstm_cell/kernel"), ("gru", "gru_cell/gates/kernel")])
def test_cells_go_by_their_names(cell_type, kernel, tmp_path):
    with tf.Graph().as_default():
        built(estimator.RNNClassifier(steps(), num_units=[3, 2], cell_type=cell_type, model_dir=str(tmp_path), n_classes=3))
        names = {variable.op.name.removesuffix("/part_0") for variable in tf.trainable_variables()}
    assert {f"rnn/rnn/multi_rnn_cell/cell_{number}/{kernel}" for number in (0, 1)} <= names


def test_cells_are_given_for_each_mode(tmp_path):
    modes = []

    def cell_of(mode):
        modes.append(mode)
        return tf.nn.rnn_cell.GRUCell(2)

    with tf.Graph().as_default():
        built(estimator.RNNClassifier(steps(), rnn_cell_fn=cell_of, model_dir=str(tmp_path)))
    assert modes == [tf.estimator.ModeKeys.TRAIN]
    with pytest.raises(ValueError, match="must not be specified when using rnn_cell_fn"):
        estimator.RNNClassifier(steps(), num_units=[2], rnn_cell_fn=cell_of)


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(ValueError, match="return_sequences"):
        estimator.RNNEstimator(estimator.regression_head(), steps(), num_units=[1], return_sequences=True)
    with pytest.raises(ValueError, match="Supported cell types are"):
        estimator.RNNClassifier(steps(), num_units=[1], cell_type=int, model_dir=str(tmp_path)).train(input_fn)
    with pytest.raises(ValueError, match="features should be a dictionary"):
        estimator.RNNClassifier(steps(), num_units=[1], model_dir=str(tmp_path)).train(
            lambda: tf.data.Dataset.from_tensors((tf.zeros([1]), tf.zeros([1])))
        )
