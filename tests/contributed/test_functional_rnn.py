"""Recurrent networks that run forwards or backwards: as tf.nn.dynamic_rnn over what is turned around."""

import numpy as np
import pytest

import tfexp as tf

recurrent = tf.contrib.recurrent
X = np.random.RandomState(1).randn(3, 4, 2).astype(np.float32)
LENGTHS = [2, 4, 1]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph, tf.variable_scope("model", initializer=tf.constant_initializer(0.3)):
        yield graph


def cell():
    return tf.nn.rnn_cell.GRUCell(2)


def dynamic(x, lengths=None):
    with tf.variable_scope("", reuse=tf.AUTO_REUSE):
        return tf.nn.dynamic_rnn(cell(), tf.constant(x), lengths, dtype=tf.float32)


def values(*found):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(found)


def test_forwards_it_is_dynamic():
    found = recurrent.functional_rnn(cell(), tf.constant(X), LENGTHS, dtype=tf.float32)
    assert tf.trainable_variables()[0].op.name == "model/rnn/gru_cell/gates/kernel"
    (outputs, state), (expected, last) = values(found, dynamic(X, LENGTHS))
    np.testing.assert_array_equal(outputs, expected)
    np.testing.assert_array_equal(state, last)


@pytest.mark.parametrize("time_major", [False, True])
def test_backwards_it_begins_beyond_the_length(time_major):
    x = X.transpose(1, 0, 2) if time_major else X
    found = recurrent.functional_rnn(cell(), tf.constant(x), LENGTHS, dtype=tf.float32, time_major=time_major, reverse=True)
    (outputs, state), (expected, last) = values(found, dynamic(X[:, ::-1]))
    outputs = outputs.transpose(1, 0, 2) if time_major else outputs
    own = np.arange(4) < np.array(LENGTHS)[:, None]
    np.testing.assert_allclose(outputs, expected[:, ::-1] * own[..., None], rtol=1e-6)
    np.testing.assert_allclose(state, last, rtol=1e-6)


def test_backwards_without_lengths_all_steps_count():
    found = recurrent.functional_rnn(cell(), tf.constant(X), dtype=tf.float32, reverse=True)
    (outputs, _), (expected, _) = values(found, dynamic(X[:, ::-1]))
    np.testing.assert_allclose(outputs, expected[:, ::-1], rtol=1e-6)


def test_both_directions():
    def both(scope, **options):
        return recurrent.bidirectional_functional_rnn(
            cell(), cell(), tf.constant(X), dtype=tf.float32, sequence_length=LENGTHS, scope=scope, **options
        )

    exact, fast = values(both("exact"), both("fast", fast_reverse=True))
    (forwards, backwards), _ = exact
    (fast_forwards, fast_backwards), _ = fast
    np.testing.assert_allclose(forwards, fast_forwards, rtol=1e-6)
    np.testing.assert_allclose(backwards[1], fast_backwards[1], rtol=1e-6)  # the longest
    assert not np.allclose(backwards[0], fast_backwards[0])
    assert {v.op.name.split("/")[2] for v in tf.trainable_variables()} == {"fw", "bw"}
