"""Monotonic attention and scheduled outputs of tf.contrib.seq2seq."""

import numpy as np
import pytest

import tfexp as tf

seq2seq = tf.contrib.seq2seq
MEMORY = np.random.RandomState(2).randn(2, 5, 3).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def by_hand(p, before):
    return np.array(
        [
            [
                ps[j] * sum(bs[k] * np.prod([1 - ps[step] for step in range(k, j)]) for k in range(j + 1))
                for j in range(len(ps))
            ]
            for ps, bs in zip(p, before, strict=True)
        ]
    )


def test_chances_of_attending():
    p = np.random.RandomState(3).rand(2, 5)
    before = np.array([[0.6, 0.4, 0, 0, 0], [0, 0.1, 0.2, 0.3, 0.4]])
    hard = (p > 0.5).astype(float)
    attend = seq2seq.monotonic_attention
    for got in run([attend(p, before, "recursive"), attend(p, before, "parallel")]):
        np.testing.assert_allclose(got, by_hand(p, before), rtol=1e-6)
    first = np.eye(5)[[1, 3]]
    np.testing.assert_allclose(run(attend(hard, first, "hard")), by_hand(hard, first))
    with pytest.raises(ValueError, match="mode must be"):
        attend(p, before, "soft")


def test_products_have_gradients_at_zero():
    x = tf.constant([[0.5, 0.0, 0.25]])
    y = seq2seq.safe_cumprod(x, axis=1, exclusive=True)
    got, gradient = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(got, [[1, 0.5, 0]], atol=1e-7)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("kind", ["Bahdanau", "Luong"])
def test_a_monotonic_mechanism_begins_at_the_first_entry(kind):
    mechanism = getattr(seq2seq, f"{kind}MonotonicAttention")(
        4, tf.constant(MEMORY), [5, 3], sigmoid_noise=0.5, sigmoid_noise_seed=1, score_bias_init=-9.0
    )
    state = mechanism.initial_state(2, tf.float32)
    alignments, following = mechanism(tf.ones([2, 4]), state)
    assert alignments is following
    names = {v.op.name for v in tf.global_variables()}
    assert f"{kind.lower()}_monotonic_attention/attention_score_bias" in names
    start, got = run([state, alignments])
    np.testing.assert_array_equal(start, [[1, 0, 0, 0, 0]] * 2)
    assert (got[1, 3:] == 0).all() and 0 < got.sum() < 0.5  # the bias keeps it from stopping at all


def test_hard_attention_in_a_cell():
    mechanism = seq2seq.LuongMonotonicAttention(4, tf.constant(MEMORY), scale=True, mode="hard", score_bias_init=100.0)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(4), mechanism)
    _, state = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    np.testing.assert_array_equal(run(state.alignments), [[1, 0, 0, 0, 0]] * 2)


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_outputs_are_fed_by_chance(chance):
    helper = seq2seq.ScheduledOutputTrainingHelper(
        tf.constant(MEMORY),
        [5, 3],
        chance,
        seed=3,
        next_inputs_fn=lambda outputs: outputs * 2,
        auxiliary_inputs=tf.reshape(tf.range(10.0), [2, 5, 1]),
    )
    _, first = helper.initialize()
    outputs = tf.fill([2, 3], 7.0)
    ids = helper.sample(tf.constant(1), outputs, ())
    finished, following, _ = helper.next_inputs(tf.constant(1), outputs, (), ids)
    first, ids, finished, following = run([first, ids, finished, following])
    np.testing.assert_allclose(first, np.concatenate([MEMORY[:, 0], [[0], [5]]], 1))
    fed = np.full([2, 3], 14) if chance else MEMORY[:, 2]
    np.testing.assert_allclose(following, np.concatenate([fed, [[2], [7]]], 1))
    np.testing.assert_array_equal(ids, [chance] * 2)
    assert not finished.any()
