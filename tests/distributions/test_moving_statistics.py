"""Moving means and variances, and normals whose mean is learned."""

import numpy as np
import pytest

import tfexp as tf

distributions = tf.contrib.distributions


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_mean_and_variance_move():
    x = tf.placeholder(tf.float32, [3])
    moved = distributions.moving_mean_variance(x, 0.9)
    assert {v.op.name for v in tf.global_variables()} == {
        *("moving_mean_variance/moving_mean", "moving_mean_variance/moving_variance")
    }
    values = np.random.RandomState(0).randn(5, 3).astype(np.float32)
    mean, variance = np.zeros(3), np.zeros(3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in values:
            distance = value - mean
            mean, variance = mean + 0.1 * distance, 0.9 * (variance + 0.1 * distance**2)
            np.testing.assert_allclose(session.run(moved, {x: value}), [mean, variance], rtol=1e-4, atol=1e-6)
    with pytest.raises(TypeError, match="float"):
        distributions.assign_moving_mean_variance(tf.Variable(0), tf.Variable(0), 1, 0.5)


def test_logarithms_of_means_move():
    variable = tf.Variable([0.5, -1.0])
    moved = distributions.assign_log_moving_mean_exp(variable, [3.0, 200.0], 0.9)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(moved)
    np.testing.assert_allclose(found, [np.log(0.9 * np.exp(0.5) + 0.1 * np.exp(3.0)), 200 + np.log(0.1)], rtol=1e-5)


def test_the_mean_of_a_normal_is_learned():
    prior = tf.distributions.Normal(1.0, 2.0)
    given = (prior, 3.0, tf.constant(8.0), tf.constant(4.0))
    posterior = distributions.normal_conjugates_known_scale_posterior(*given)
    predictive = distributions.normal_conjugates_known_scale_predictive(*given)
    precision = 1 / 4 + 4 / 9
    with tf.Session() as session:
        found = session.run([posterior.loc, posterior.scale, predictive.loc, predictive.scale])
    mean = (1 / 4 + 8 / 9) / precision
    np.testing.assert_allclose(found, [mean, precision**-0.5, mean, (1 / precision + 9) ** 0.5], rtol=1e-6)
    with pytest.raises(TypeError, match="Normal"):
        distributions.normal_conjugates_known_scale_posterior(tf.distributions.Gamma(1.0, 1.0), 3.0, 8.0, 4.0)
    with pytest.raises(TypeError, match=r"s\.dtype"):
        distributions.normal_conjugates_known_scale_posterior(prior, 3.0, tf.constant(8), 4.0)
