"""The Wishart distributions against TensorFlow 1.15's answers, the gamma distribution, and their samples."""

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

tfd = tf.contrib.distributions
SCALE = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 3.0]])
FACTOR = np.linalg.cholesky(SCALE)


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def test_answers_of_tensorflow(session: tf.Session) -> None:
    one = tfd.WishartCholesky(5.0, FACTOR.astype(np.float32), cholesky_input_output_matrices=True)
    found = session.run([one.entropy(), one.log_normalization(), one.log_prob(2 * FACTOR.astype(np.float32))])
    np.testing.assert_allclose(found, [16.248274, 11.191611, -14.289767], rtol=1e-6)
    full = tfd.WishartFull(np.array([5.0, 3.5]), SCALE)
    entropy, normalization = session.run([full.entropy(), full.log_normalization()])
    np.testing.assert_allclose(entropy, [16.248274, 14.169735], rtol=1e-6)
    np.testing.assert_allclose(normalization, [11.191611, 8.255134], rtol=1e-6)


def test_one_number_is_of_a_gamma_distribution(session: tf.Session) -> None:
    one = tfd.WishartFull(np.array([3.0, 7.0]), np.array([[2.0]]))
    gamma = tfd.Gamma(np.array([1.5, 3.5]), np.float64(0.25))
    x = np.array([0.7, 5.0])
    found, wanted = session.run([one.log_prob(x[:, None, None]), gamma.log_prob(x)])
    np.testing.assert_allclose(found, wanted)
    found, wanted = session.run([one.entropy(), gamma.entropy()])
    np.testing.assert_allclose(found, wanted)


def test_moments_are_those_of_samples(session: tf.Session) -> None:
    one = tfd.WishartFull(np.array([5.0, 8.0]), SCALE)
    assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([2], [3, 3])
    drawn, mean, variance, logarithm = session.run(
        [one.sample(4000, seed=5), one.mean(), one.variance(), one.mean_log_det()]
    )
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.4)
    np.testing.assert_allclose(mean, np.array([5.0, 8.0])[:, None, None] * SCALE)
    np.testing.assert_allclose(drawn.var(0), variance, rtol=0.1)
    np.testing.assert_allclose(np.linalg.slogdet(drawn)[1].mean(0), logarithm, atol=0.08)
    mode = session.run(one.mode())
    np.testing.assert_allclose(mode, np.array([1.0, 4.0])[:, None, None] * SCALE)
    np.testing.assert_allclose(session.run(one.stddev()), np.linalg.cholesky(variance))


def test_factors_go_in_and_out(session: tf.Session) -> None:
    factors = tfd.WishartCholesky(np.float64(5.0), FACTOR, cholesky_input_output_matrices=True)
    whole = tfd.WishartCholesky(np.float64(5.0), FACTOR)
    questions = [lambda one: one.sample(4, seed=3), lambda one: one.mean(), lambda one: one.scale(), lambda one: one.mode()]
    for ask in questions:
        factor, matrix = session.run([ask(factors), ask(whole)])
        np.testing.assert_allclose(factor @ np.swapaxes(factor, -1, -2), matrix)
    with pytest.raises(ValueError, match=r"std. dev"):
        factors.stddev()


def test_too_few_degrees_of_freedom(session: tf.Session) -> None:
    with pytest.raises(ValueError, match="Degrees of freedom"):
        tfd.WishartFull(np.float64(2.0), SCALE)
    few = tfd.WishartFull(tf.placeholder_with_default(np.float64(2.0), []), SCALE, validate_args=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="df"):
        session.run(few.mean())
    assert np.isnan(session.run(tfd.WishartFull(np.float64(3.5), SCALE).mode())).all()
