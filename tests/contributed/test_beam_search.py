"""Beam search against a search that follows every sequence by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

seq2seq = tf.contrib.seq2seq
BATCH, WIDTH, WORDS, UNITS, END, STEPS = 2, 3, 5, 7, 1, 6


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        tf.set_random_seed(3)
        yield one


def drawn(*shape: int, seed: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


TABLE = 2 * drawn(WORDS, WORDS)
STATES = drawn(BATCH, WORDS, seed=7)


class Chain(tf.nn.rnn_cell.RNNCell):
    """Logits are the input and the state; the state is half of itself and the logits."""

    output_size = state_size = WORDS

    def call(self, inputs, state):
        logits = inputs + state
        return logits, 0.5 * (state + logits)


def log_softmax(x: np.ndarray) -> np.ndarray:
    return x - np.log(np.exp(x).sum())


def search(state, start: int, length_weight: float, steps: int):
    """The best sequences, their scores and lengths, after so many steps."""
    beams = [((), 0.0, state, 0, False)]
    for _ in range(steps):
        following = []
        for ids, total, kept, length, finished in beams:
            if finished:
                following.append(((*ids, END), total, kept, length, True))
                continue
            logits = TABLE[ids[-1] if ids else start] + kept
            for word, gain in enumerate(log_softmax(logits)):
                following.append(((*ids, word), total + gain, 0.5 * (kept + logits), length + 1, word == END))

        def score(beam):
            ids, total, _, length, finished = beam
            # The end token is not counted where the step that brings it is scored, and is from then on.
            now = length - (finished and ids[-2:] != (END, END) and END not in ids[:-1])
            return total / ((5 + now) / 6) ** length_weight

        beams = sorted(following, key=score, reverse=True)[:WIDTH]
        scores = [score(beam) for beam in beams]
    return [list(beam[0]) for beam in beams], scores, [beam[3] for beam in beams]


@pytest.mark.parametrize("length_weight", [0.0, 1.3])
def test_the_best_sequences_are_found(length_weight: float, session: tf.Session) -> None:
    for start in ([0, 2], [3, 4]):
        tokens = tf.placeholder(tf.int32, [None] if start[0] else [BATCH])
        decoder = seq2seq.BeamSearchDecoder(
            Chain(), TABLE, tokens, END, seq2seq.tile_batch(STATES, WIDTH), WIDTH, length_penalty_weight=length_weight
        )
        outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS)
        assert isinstance(outputs, seq2seq.FinalBeamSearchDecoderOutput)
        assert outputs.predicted_ids.shape.as_list() == [None if start[0] else BATCH, None, WIDTH]
        fetched = [outputs.predicted_ids, outputs.beam_search_decoder_output.scores, state.lengths]
        ids, scores, lengths = session.run(fetched, {tokens: start})
        for example in range(BATCH):
            wanted, totals, counted = search(STATES[example], start[example], length_weight, ids.shape[1])
            assert ids[example].T.tolist() == wanted
            np.testing.assert_allclose(scores[example, -1], totals, rtol=1e-5)
            assert lengths[example].tolist() == counted


def test_one_beam_is_greedy_decoding(session: tf.Session) -> None:
    cell = tf.nn.rnn_cell.LSTMCell(UNITS)
    layer = tf.layers.Dense(WORDS, use_bias=False)
    start, zero = tf.constant([0, 2]), cell.zero_state(BATCH, tf.float32)
    helper = seq2seq.GreedyEmbeddingHelper(TABLE, start, END)
    greedy, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, zero, layer), maximum_iterations=STEPS)
    decoder = seq2seq.BeamSearchDecoder(cell, TABLE, start, END, seq2seq.tile_batch(zero, 1), 1, layer)
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        beams, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS)
    session.run(tf.global_variables_initializer())
    a, b = session.run([greedy.sample_id, beams.predicted_ids])
    np.testing.assert_array_equal(a, b[..., 0])


def attended(session: tf.Session, memory_lengths: tuple[int, int] = (4, 4), **settings: object):
    """A search over a memory, and the alignments of its beams [time, batch, beams, memory]."""
    memory, lengths = (seq2seq.tile_batch(one, WIDTH) for one in (drawn(BATCH, 4, WORDS), tf.constant(memory_lengths)))
    mechanism = seq2seq.LuongAttention(WORDS, memory, lengths)
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(WORDS), mechanism, alignment_history=True)
    zero = cell.zero_state(BATCH * WIDTH, tf.float32)
    start = zero.clone(cell_state=seq2seq.tile_batch(STATES, WIDTH))
    decoder = seq2seq.BeamSearchDecoder(cell, TABLE, [0, 2], END, start, WIDTH, **settings)
    outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS)
    session.run(tf.global_variables_initializer())
    return outputs, state


@pytest.mark.parametrize("memory_lengths", [(4, 4), (4, 2)])
def test_alignments_follow_their_beams(memory_lengths: tuple[int, int], session: tf.Session) -> None:
    layer = tf.layers.Dense(WORDS, bias_initializer=tf.constant_initializer(np.eye(WORDS)[END]))
    outputs, state = attended(session, memory_lengths, output_layer=layer, coverage_penalty_weight=tf.constant(0.7))
    steps = outputs.beam_search_decoder_output
    fetched = [state.cell_state.alignment_history, state.accumulated_attention_probs, state.log_probs, steps.scores]
    history, total, log_probs, scores, lengths = session.run([*fetched, state.lengths])
    assert history.shape[1:] == (BATCH, WIDTH, 4)
    for b, w in np.ndindex(BATCH, WIDTH):
        np.testing.assert_allclose(history[: lengths[b, w], b, w].sum(0), total[b, w], rtol=1e-5)
    # What no memory is there for does not count, and nothing does before a beam has ended.
    coverage = np.log(np.where(total == 0, 1, np.minimum(total, 1))).sum(-1)
    ended = lengths < scores.shape[1]
    assert ended.any() and not ended.all()
    np.testing.assert_allclose(scores[:, -1], log_probs + 0.7 * coverage * ended, rtol=1e-5)


def test_weights_of_penalties_are_scalars() -> None:
    for name in ("length_penalty_weight", "coverage_penalty_weight"):
        with pytest.raises(ValueError, match=f"{name} should be a scalar"):
            seq2seq.BeamSearchDecoder(Chain(), TABLE, [0, 2], END, seq2seq.tile_batch(STATES, WIDTH), WIDTH, **{name: [1.0]})


def test_arrays_stay_arrays_when_asked_to(session: tf.Session) -> None:
    _, state = attended(session, reorder_tensor_arrays=False)
    assert state.cell_state.alignment_history.stack().shape.as_list()[1:] == [BATCH * WIDTH, 4]


def test_tile_batch(session: tf.Session) -> None:
    x, y = drawn(2, 3), drawn(2, seed=9)
    first, (second,) = seq2seq.tile_batch((x, (y,)), 5)
    assert first.shape.as_list() == [10, 3]
    np.testing.assert_array_equal(session.run(first), np.repeat(x, 5, 0))
    np.testing.assert_array_equal(session.run(second), np.repeat(y, 5))
    with pytest.raises(ValueError, match="statically known rank"):
        seq2seq.tile_batch(tf.placeholder(tf.float32), 2)
    with pytest.raises(ValueError, match="a batch dimension"):
        seq2seq.tile_batch(1.0, 2)


def test_refusals() -> None:
    with tf.Graph().as_default():
        state = seq2seq.tile_batch(STATES, WIDTH)
        with pytest.raises(ValueError, match="start_tokens must be a vector"):
            seq2seq.BeamSearchDecoder(Chain(), TABLE, 0, END, state, WIDTH)
        with pytest.raises(ValueError, match="end_token must be a scalar"):
            seq2seq.BeamSearchDecoder(Chain(), TABLE, [0, 2], [END], state, WIDTH)
        with pytest.raises(TypeError, match="output_layer must be a Layer"):
            seq2seq.BeamSearchDecoder(Chain(), TABLE, [0, 2], END, state, WIDTH, output_layer=3)
        with pytest.raises(ValueError, match="AttentionWrapper"):
            seq2seq.BeamSearchDecoder(Chain(), TABLE, [0, 2], END, state, WIDTH, coverage_penalty_weight=1.0).initialize()


def test_gather_tree_from_array(session: tf.Session) -> None:
    values = np.arange(3 * 1 * 2).reshape(3, 1, 2, 1)
    parents = np.int32([[[0, 0]], [[1, 0]], [[0, 0]]])
    found = session.run(seq2seq.gather_tree_from_array(values, parents, [[3, 2]]))
    np.testing.assert_array_equal(found[:, 0, 0, 0], [1, 2, 4])
    np.testing.assert_array_equal(found[:, 0, 1, 0], [1, 2, 5])  # over after two steps
