"""tf.contrib.sparsemax, against the projection found by bisection."""

import numpy as np
import pytest

import tfexp as tf

sparsemax = tf.contrib.sparsemax
LOGITS = np.float32([[0.1, 0.9, 0.3, -2.0], [3.0, 0.0, 0.0, 1.0], [5.0, 5.0, 5.0, 5.0]])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def projected(row):
    low, high = row.min() - 1.0, row.max()
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(row - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(row - low, 0)


def test_rows_are_projected_onto_the_simplex():
    with tf.Session() as session:
        found = session.run(sparsemax.sparsemax(LOGITS))
    np.testing.assert_allclose(found, [projected(row) for row in LOGITS.astype(float)], atol=1e-6)
    assert found[1, 1] == 0.0


def test_the_gradient_of_the_loss_is_the_error():
    labels = np.float32([[0, 1, 0, 0], [0, 1, 0, 0], [0.5, 0.5, 0, 0]])
    logits = tf.constant(LOGITS)
    found = sparsemax.sparsemax(logits)
    loss = sparsemax.sparsemax_loss(logits, found, labels)
    with tf.Session() as session:
        gradient, probabilities, losses = session.run([tf.gradients(loss, logits)[0], found, loss])
    np.testing.assert_allclose(gradient, probabilities - labels, atol=1e-6)
    assert losses.shape == (3,)
    assert (losses >= 0).all()


def test_a_logit_may_be_minus_infinity():
    logits = tf.constant([[0.0, -np.inf]])
    found = sparsemax.sparsemax(logits)
    with tf.Session() as session:
        values = session.run([found, sparsemax.sparsemax_loss(logits, found, tf.constant([[1.0, 0.0]]))])
    np.testing.assert_array_equal(values[0], [[1.0, 0.0]])
    np.testing.assert_array_equal(values[1], [0.0])
