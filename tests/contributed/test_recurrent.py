"""A cell over the steps of a sequence: its states by NumPy, and gradients of its own and of the caller's."""

import numpy as np
import pytest

import tfexp as tf

random = np.random.default_rng(5)
WEIGHTS = random.normal(size=(3, 3)).astype(np.float32)
X = random.normal(size=(5, 2, 3)).astype(np.float32)
START = random.normal(size=(2, 3)).astype(np.float32)


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def cell(theta, state, x):
    h = tf.tanh(tf.matmul(state["h"], theta) + x)
    return {"h": h, "count": state["count"] + 1.0}, h


def twice_the_gradient(theta, state, x, h, slopes):
    slope = 2 * (1 - h**2) * slopes["h"]
    before = {"h": tf.matmul(slope, theta, transpose_b=True), "count": slopes["count"]}
    return tf.matmul(state["h"], slope, transpose_a=True), before, slope


def run(x, **how):
    """(all states, the last, gradients of a loss by weights, start and inputs)."""
    weights, start = tf.constant(WEIGHTS), tf.constant(START)
    states, last = tf.contrib.recurrent.Recurrent(weights, {"h": start, "count": 0.0}, x, cell, **how)
    loss = tf.reduce_sum(states["h"] ** 2) + 3 * tf.reduce_sum(last["h"])
    return states, last, tf.gradients(loss, [weights, start, x])


def by_numpy(x):
    states, h = [], START
    for one in x:
        h = np.tanh(h @ WEIGHTS + one)
        states.append(h)
    return np.stack(states)


def test_states_are_those_after_each_step(session):
    states, last, _ = session.run(run(tf.constant(X)))
    np.testing.assert_allclose(states["h"], by_numpy(X), rtol=1e-5)
    np.testing.assert_allclose(last["h"], by_numpy(X)[-1], rtol=1e-5)
    assert states["count"].tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("aligned_end", [False, True])
def test_other_steps_are_left_out(session, aligned_end):
    steps = slice(2, 5) if aligned_end else slice(0, 3)
    x = tf.constant(X)
    found = session.run(run(x, max_input_length=tf.constant(3), aligned_end=aligned_end))
    expected = session.run(run(tf.constant(X[steps])))
    (states, last, gradients), (their_states, their_last, their_gradients) = found, expected
    np.testing.assert_allclose(states["h"][steps], their_states["h"], rtol=1e-5)
    assert np.count_nonzero(states["h"]) == their_states["h"].size
    np.testing.assert_allclose(last["h"], their_last["h"], rtol=1e-5)
    for one, other in zip(gradients[:2], their_gradients[:2], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)
    np.testing.assert_allclose(gradients[2][steps], their_gradients[2], rtol=1e-4)
    assert np.count_nonzero(gradients[2]) == their_gradients[2].size


def test_gradients_are_the_callers(session):
    _, _, found = session.run(run(tf.constant(X), cell_grad=twice_the_gradient))
    states = np.concatenate([[START], by_numpy(X)])
    slope, weights, inputs = np.full_like(START, 3), np.zeros_like(WEIGHTS), []
    for before, h in zip(states[-2::-1], states[:0:-1], strict=True):
        inside = 2 * (1 - h**2) * (slope + 2 * h)
        weights, slope = weights + before.T @ inside, inside @ WEIGHTS.T
        inputs.insert(0, inside)
    for one, expected in zip(found, [weights, slope, np.stack(inputs)], strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-3, atol=1e-4)
