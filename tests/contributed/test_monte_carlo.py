"""Expectations by samples."""

import numpy as np
import pytest

import tfexp as tf

monte_carlo = tf.contrib.bayesflow.monte_carlo


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_both_gradients_are_those_of_the_expectation():
    q = tf.distributions.Normal(tf.constant(1.0), 2.0)
    z = q.sample(20000, seed=3)
    reparametrized = monte_carlo.expectation(tf.square, z)
    scored = monte_carlo.expectation(tf.square, z, q.log_prob, use_reparametrization=False)
    with tf.Session() as session:
        values = session.run([reparametrized, scored])
        slopes = session.run([tf.gradients(value, q.loc)[0] for value in (reparametrized, scored)])
    assert values[0] == pytest.approx(values[1], rel=1e-5) and values[0] == pytest.approx(5, rel=0.05)
    assert slopes == pytest.approx([2, 2], rel=0.1)
    with pytest.raises(ValueError, match="log_prob"):
        monte_carlo.expectation(tf.square, z, use_reparametrization=False)


def test_samples_are_weighted_by_importance():
    p, q = tf.distributions.Normal(0.5, 1.0), tf.distributions.Normal(0.0, 2.0)
    values = np.linspace(-1, 1, 7, dtype=np.float32)
    plain = monte_carlo.expectation_importance_sampler(tf.identity, p.log_prob, q, z=values)
    logs = monte_carlo.expectation_importance_sampler_logspace(lambda z: 2 * z, p.log_prob, q, z=values)
    with tf.Session() as session:
        weights = session.run(tf.exp(p.log_prob(values) - q.log_prob(values)))
        found = session.run([plain, logs])
    np.testing.assert_allclose(found, [np.mean(values * weights), np.log(np.mean(np.exp(2 * values) * weights))], rtol=1e-4)
    with pytest.raises(ValueError, match="exactly one"):
        monte_carlo.expectation_importance_sampler(tf.identity, p.log_prob, q)
