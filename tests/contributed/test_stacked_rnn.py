"""Bidirectional layers on top of each other."""

import numpy as np
import pytest

import tfexp as tf

rnn = tf.contrib.rnn


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_the_dynamic_and_the_static_form_agree():
    values = np.random.RandomState(1).rand(3, 5, 2).astype(np.float32)
    x = tf.constant(values)
    cells = [[rnn.GRUCell(n) for n in (4, 7)] for _ in range(2)]
    with tf.variable_scope("both", reuse=tf.AUTO_REUSE):
        outputs, forward, backward = rnn.stack_bidirectional_dynamic_rnn(*cells, x, dtype=tf.float32)
    assert outputs.shape.as_list() == [3, 5, 14] and [s.shape.as_list() for s in forward] == [[3, 4], [3, 7]]
    names = {v.op.name.split("/gru_cell")[0] for v in tf.trainable_variables()}
    below = "both/stack_bidirectional_rnn"
    assert names == {f"{below}/cell_{i}/bidirectional_rnn/{way}" for i in range(2) for way in ("fw", "bw")}
    steps, ends, _ = rnn.stack_bidirectional_rnn(*cells, tf.unstack(x, 5, 1), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dynamic, static, first, second = session.run([outputs, tf.stack(steps, 1), forward[1], ends[1]])
    np.testing.assert_allclose(dynamic, static, rtol=1e-5)
    np.testing.assert_allclose(first, second, rtol=1e-5)
    assert len(backward) == 2


def test_refusals():
    cell = rnn.GRUCell(2)
    for arguments, message in (
        (([], [cell]), "cells_fw must be a list of RNNCells"),
        (([cell], cell), "cells_bw must be a list of RNNCells"),
        (([cell], [cell, cell]), "must have the same depth"),
        (([cell], [cell], tf.zeros([1, 2, 3]), []), "initial_states_fw must be a list of state tensors"),
    ):
        given = (*arguments, tf.zeros([1, 2, 3]))[: max(3, len(arguments))]
        with pytest.raises(ValueError, match=message):
            rnn.stack_bidirectional_dynamic_rnn(*given, dtype=tf.float32)
