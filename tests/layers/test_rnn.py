"""Recurrent networks: what they refuse, and values against NumPy. Their graphs: tests/golden/programs/rnn.py."""

import numpy as np
import pytest

import tfexp as tf

rnn = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_lstm_over_time_is_numpys():
    x = np.random.RandomState(0).uniform(-1, 1, (2, 5, 3)).astype(np.float32)
    cell = rnn.BasicLSTMCell(4)
    outputs, (c, h) = tf.nn.dynamic_rnn(cell, tf.constant(x), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        (kernel, bias), found, found_c, found_h = session.run((cell.trainable_variables, outputs, c, h))
    memory = output = np.zeros((2, 4), np.float32)
    for time in range(5):
        gates = np.concatenate([x[:, time], output], 1) @ kernel + bias
        i, j, f, o = np.split(gates, 4, axis=1)
        memory = memory * sigmoid(f + 1) + sigmoid(i) * np.tanh(j)
        output = np.tanh(memory) * sigmoid(o)
        np.testing.assert_allclose(found[:, time], output, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found_c, memory, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found_h, output, rtol=1e-4, atol=1e-6)


def test_gradient_through_time_is_numeric():
    x = np.random.RandomState(0).uniform(-1, 1, (2, 3, 2))
    placed = tf.placeholder(tf.float64, [2, None, 2])
    outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(3), placed, [3, 2], dtype=tf.float64)
    loss = tf.reduce_sum(outputs**2)
    grad = tf.gradients(loss, placed)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(grad, {placed: x})
        for where in np.ndindex(*x.shape):
            step = np.zeros_like(x)
            step[where] = 1e-5
            above, below = (session.run(loss, {placed: x + sign * step}) for sign in (1, -1))
            assert found[where] == pytest.approx((above - below) / 2e-5, abs=1e-7)


def test_a_wrong_number_of_lengths_fails_at_run_time():
    lengths = tf.placeholder(tf.int32, [None])
    outputs, _ = tf.nn.dynamic_rnn(rnn.GRUCell(3), tf.zeros([2, 3, 2]), lengths, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected shape for Tensor"):
            session.run(outputs, {lengths: [1, 2, 3]})


def test_steps_drop_out_differently_unless_held():
    def kept(**options):
        cell = rnn.DropoutWrapper(rnn.BasicRNNCell(50, activation=tf.ones_like), output_keep_prob=0.5, seed=1, **options)
        return tf.nn.dynamic_rnn(cell, tf.zeros([1, 3, 2]), dtype=tf.float32)[0]

    with tf.variable_scope("a"):
        each = kept()
    with tf.variable_scope("b"):
        held = kept(variational_recurrent=True, dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        each, held = session.run([each, held])
    assert {*np.unique(each), *np.unique(held)} == {0.0, 2.0}
    assert (held[:, 0] == held[:, 1]).all() and not (each[:, 0] == each[:, 1]).all()


def sequence():
    return tf.zeros([2, 3, 4])


@pytest.mark.parametrize(
    ("build", "error", "text"),
    [
        (lambda: tf.nn.dynamic_rnn(rnn.GRUCell(3), sequence()), ValueError, "you must give a dtype"),
        (lambda: tf.nn.dynamic_rnn("cell", sequence(), dtype=tf.float32), TypeError, "is not an RNNCell"),
        (
            lambda: tf.nn.dynamic_rnn(rnn.GRUCell(3), sequence(), [[1]], dtype=tf.float32),
            ValueError,
            "sequence_length must be a vector",
        ),
        (
            lambda: tf.nn.dynamic_rnn(rnn.GRUCell(3), tf.placeholder(tf.float32, [2, 3, None]), dtype=tf.float32),
            ValueError,
            "Input size",
        ),
        (lambda: tf.nn.static_rnn(rnn.GRUCell(3), sequence(), dtype=tf.float32), TypeError, "must be a sequence"),
        (lambda: tf.nn.static_rnn(rnn.GRUCell(3), [], dtype=tf.float32), ValueError, "must not be empty"),
        (lambda: rnn.MultiRNNCell([]), ValueError, "at least one cell"),
        (lambda: rnn.MultiRNNCell([rnn.LSTMCell(3)], state_is_tuple=False), ValueError, "tuples of states"),
        (lambda: rnn.DropoutWrapper(rnn.GRUCell(3), 1.5), ValueError, "input_keep_prob must be between 0 and 1"),
        (
            lambda: rnn.DropoutWrapper(rnn.GRUCell(3), variational_recurrent=True),
            ValueError,
            "dtype must be provided",
        ),
        (lambda: rnn.GRUCell(3)(tf.zeros([2, 3, 4]), tf.zeros([2, 3])), ValueError, "expected ndim=2"),
        (
            lambda: [tf.nn.dynamic_rnn(rnn.GRUCell(3), sequence(), dtype=tf.float32) for _ in range(2)],
            ValueError,
            "already exists",
        ),
    ],
)
def test_what_they_refuse(build, error, text):
    with pytest.raises(error, match=text):
        build()


def test_sequence_loss_of_sure_logits_is_nothing():
    legacy = tf.contrib.legacy_seq2seq
    logits = [tf.constant([[50.0, 0.0], [0.0, 50.0]])] * 2
    targets, weights = [tf.constant([0, 1])] * 2, [tf.ones([2])] * 2
    wrong = [tf.constant([1, 1])] * 2
    with tf.Session() as session:
        assert session.run(legacy.sequence_loss(logits, targets, weights)) == pytest.approx(0, abs=1e-6)
        assert session.run(legacy.sequence_loss_by_example(logits, wrong, weights)).tolist() == [50.0, 0.0]
        assert session.run(legacy.sequence_loss(logits, wrong, weights)) == 25.0
    with pytest.raises(ValueError, match="Lengths of logits"):
        legacy.sequence_loss(logits, targets, weights[:1])


def test_contrib_names_are_those_of_nn():
    assert tf.contrib.rnn.BasicLSTMCell is rnn.BasicLSTMCell
    assert tf.contrib.rnn.static_rnn is tf.nn.static_rnn
