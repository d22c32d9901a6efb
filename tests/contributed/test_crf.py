"""Conditional random fields against all sequences of tags, one by one."""

import itertools

import numpy as np
import pytest

import tfexp as tf

crf = tf.contrib.crf
RANDOM = np.random.RandomState(7)
TRANSITIONS = RANDOM.randn(3, 3).astype(np.float32)
SCORES = RANDOM.randn(2, 5, 3).astype(np.float32)
LENGTHS = [5, 2]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def score(scores, tags):
    pairs = itertools.pairwise(tags)
    return sum(row[tag] for row, tag in zip(scores, tags, strict=False)) + sum(TRANSITIONS[a, b] for a, b in pairs)


def all_scores(row, length):
    return {tags: score(SCORES[row], tags) for tags in itertools.product(range(3), repeat=length)}


@pytest.mark.parametrize("known", [True, False])
def test_likelihoods_are_shares_of_all_sequences(known):
    inputs = tf.placeholder_with_default(SCORES, [2, 5, 3] if known else [None, None, 3])
    tags = np.array([[0, 2, 1, 1, 0], [2, 1, 0, 0, 0]], np.int32)
    with tf.variable_scope("crf"):
        likelihood, transitions = crf.crf_log_likelihood(inputs, tags, LENGTHS)
    bitmap = np.zeros([2, 5, 3], bool)
    bitmap[:, :, :2] = True
    several = crf.crf_multitag_sequence_score(inputs, bitmap, LENGTHS, transitions)
    gradient = tf.gradients(likelihood, transitions)[0]
    with tf.Session() as session:
        transitions.load(TRANSITIONS, session)
        found, low, slope = session.run([likelihood, several, gradient])
    assert transitions.name == "crf/transitions:0" and np.isfinite(slope).all()
    for row, length in enumerate(LENGTHS):
        scores = all_scores(row, length)
        share = scores[tuple(tags[row, :length])] - np.log(np.exp(list(scores.values())).sum())
        np.testing.assert_allclose(found[row], share, rtol=1e-5)
        some = np.log(np.exp([value for key, value in scores.items() if 2 not in key]).sum())
        np.testing.assert_allclose(low[row], some, rtol=1e-5)


@pytest.mark.parametrize("known", [True, False])
def test_the_best_tags_are_found(known):
    inputs = tf.placeholder_with_default(SCORES, [2, 5, 3] if known else [None, None, 3])
    with tf.Session() as session:
        tags, best = session.run(crf.crf_decode(inputs, TRANSITIONS, LENGTHS))
    for row, length in enumerate(LENGTHS):
        scores = all_scores(row, length)
        wanted = max(scores, key=scores.get)
        assert tuple(tags[row, :length]) == wanted
        np.testing.assert_allclose(best[row], scores[wanted], rtol=1e-5)
        alone, value = crf.viterbi_decode(SCORES[row, :length], TRANSITIONS)
        assert tuple(alone) == wanted
        np.testing.assert_allclose(value, scores[wanted], rtol=1e-5)


def test_rows_of_one_place_and_of_none():
    one = SCORES[:, :1]
    fetches = [
        crf.crf_decode(tf.constant(one), TRANSITIONS, [1, 1]),
        crf.crf_log_norm(one, [1, 0], TRANSITIONS),
        crf.crf_sequence_score(one, [[2], [1]], [1, 0], TRANSITIONS),
    ]
    with tf.Session() as session:
        (tags, best), norms, scores = session.run(fetches)
    assert tags.tolist() == one.argmax(2).tolist() and best.tolist() == one.max(2).ravel().tolist()
    np.testing.assert_allclose(norms, [np.log(np.exp(one[0]).sum()), 0], rtol=1e-5)
    np.testing.assert_allclose(scores, [one[0, 0, 2], 0], rtol=1e-6)
