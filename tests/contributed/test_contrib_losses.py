"""`tf.contrib.losses`: predictions first, weights of examples; numbers of weighted pairs are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf

losses = tf.contrib.losses
GUESS, TRUTH = (np.random.RandomState(seed).randn(3, 4).astype(np.float32) for seed in (0, 1))


def value(tensor):
    with tf.Session() as session:
        return session.run(tensor)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_losses_take_predictions_first_and_are_kept():
    mean = losses.mean_squared_error(tf.constant([0.9, 0.2]), tf.constant([1.0, 0.0]), scope="mine")
    entropy = losses.sparse_softmax_cross_entropy(tf.zeros([2, 5]), tf.constant([[1], [3]]))
    assert losses.get_losses() == [mean, entropy] and mean.op.name == "mine/value"
    np.testing.assert_allclose(value([mean, entropy]), [0.025, np.log(5)], rtol=1e-5)


ERRORS = np.abs(GUESS - TRUTH)


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [
        (2.0, 2 * ERRORS.mean()),
        ([1.0, 2.0, 0.0], (ERRORS[0] + 2 * ERRORS[1]).sum() / 8),
        ([[1.0], [2.0], [0.0]], (ERRORS[0] + 2 * ERRORS[1]).sum() / 8),
        ([3.0], 3 * ERRORS.sum() / 4),
        ([[2.0, 1.0, 1.0, 0.0]], (ERRORS * [2, 1, 1, 0]).sum() / 3),
        (np.ones([3, 4, 1], np.float32), ERRORS.mean()),
        (np.zeros(3), 0.0),
    ],
)
def test_a_weight_stands_for_all_losses_of_its_example(weights, wanted):
    np.testing.assert_allclose(value(losses.absolute_difference(GUESS, TRUTH, weights)), wanted, rtol=1e-5)


def test_weights_of_unknown_sizes_are_of_examples():
    weights, guess = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])
    loss = losses.absolute_difference(guess, guess * 2, weights)
    with tf.Session() as session:
        got = session.run(loss, {guess: [[1.0, 2.0], [5.0, 7.0]], weights: [[1.0], [0.0]]})
    assert got == pytest.approx(1.5)


def test_the_type_of_given_losses_stays():
    assert losses.compute_weighted_loss(tf.ones([2], tf.float64)).dtype == tf.float64


@pytest.mark.parametrize(
    ("weights", "wanted"),
    [
        (1.0, 10.6073),
        ([1.0, 2.0, 0.0], 5.3042),
        ([[1.0], [0.0], [0.5]], -37.788),
        ([[2.0, 1.0, 1.0]], 13.182),
        ([0.0, 0.0, 0.0], 0.0),
    ],
)
def test_squared_differences_of_all_pairs(weights, wanted):
    loss = losses.mean_pairwise_squared_error(GUESS, TRUTH, weights)
    assert losses.get_losses() == [loss]
    np.testing.assert_allclose(value(loss), wanted, rtol=1e-4)


@pytest.mark.parametrize("loss", [losses.mean_squared_error, losses.mean_pairwise_squared_error])
def test_ranks_must_be_known_and_fit(loss):
    unknown = tf.placeholder(tf.float32)
    with pytest.raises(ValueError, match=r"weights\.get_shape.*cannot be None"):
        loss(GUESS, TRUTH, unknown)
    with pytest.raises(ValueError, match="cannot be None"):
        loss(unknown, unknown)
    with pytest.raises(ValueError, match="more dimensions than the losses"):
        loss(GUESS, TRUTH, np.ones([3, 4, 2]))
