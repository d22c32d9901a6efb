"""Kumaraswamy's and the sinh-arcsinh distributions against what they are by definition; vectors against numbers."""

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

tfd = tf.contrib.distributions
LOC, DIAG = np.array([1.0, -1.0]), np.array([[2.0, 3.0], [1.0, 0.5], [0.7, 1.1]])


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def test_kumaraswamy_by_its_quantiles(session: tf.Session) -> None:
    a, b = np.array([2.0, 3.0]), np.array([[1.5], [4.0], [2.2]])
    one = tfd.Kumaraswamy(a, b)
    assert one.batch_shape.as_list() == [3, 2] and one.event_shape.as_list() == []
    shares = (np.arange(200_000) + 0.5).reshape(-1, 1, 1) / 200_000
    x = (1 - (1 - shares) ** (1 / b)) ** (1 / a)
    density = a * b * x ** (a - 1) * (1 - x**a) ** (b - 1)
    cdf, prob, quantile = session.run([one.cdf(x[777]), one.prob(x[777]), one.quantile(shares[777])])
    np.testing.assert_allclose(cdf, np.broadcast_to(shares[777], [3, 2]))
    np.testing.assert_allclose(prob, density[777])
    np.testing.assert_allclose(quantile, x[777])
    found = session.run([one.mean(), one.variance(), one.stddev(), one.entropy()])
    for value, wanted in zip(found, [x.mean(0), x.var(0), x.std(0), -np.log(density).mean(0)], strict=True):
        np.testing.assert_allclose(value, wanted, rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(session.run(one.mode()), ((a - 1) / (a * b - 1)) ** (1 / a))


def test_kumaraswamy_of_an_edge_has_no_mode(session: tf.Session) -> None:
    assert np.isnan(session.run(tfd.Kumaraswamy(0.5, 2.0).mode()))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Mode undefined"):
        session.run(tfd.Kumaraswamy(0.5, 2.0, allow_nan_stats=False).mode())


def test_sinh_arcsinh(session: tf.Session) -> None:
    skew, tail = np.array([0.5, -0.1]), 2.0
    one = tfd.SinhArcsinh(loc=np.array([1.0, 2.0]), scale=np.float64(3.0), skewness=skew, tailweight=np.float64(tail))
    assert one.batch_shape.as_list() == [2]
    z = np.array([[0.3, -1.2], [2.0, 0.1], [0.0, 0.7]])
    y = np.array([1.0, 2.0]) + 3 * np.sinh((np.arcsinh(z) + skew) * tail) * 2 / np.sinh(np.arcsinh(2) * tail)
    normal = tfd.Normal(np.float64(0), np.float64(1))
    cdf, wanted, slope, prob = session.run(
        [one.cdf(y), normal.cdf(z), (one.cdf(y + 1e-6) - one.cdf(y - 1e-6)) / 2e-6, one.prob(y)]
    )
    np.testing.assert_allclose(cdf, wanted)
    np.testing.assert_allclose(prob, slope, rtol=1e-6)
    with pytest.raises(NotImplementedError, match="mean"):
        one.mean()


def test_sinh_arcsinh_of_another_distribution_keeps_two_scales_in_place(session: tf.Session) -> None:
    laplace = tfd.Laplace(0.0, 1.0)
    one = tfd.SinhArcsinh(1.0, 2.0, tailweight=3.0, distribution=laplace)
    found, wanted = session.run([one.cdf(5.0), laplace.cdf(2.0)])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    straight, line = session.run([tfd.SinhArcsinh(1.0, 2.0).log_prob(0.3), tfd.Normal(1.0, 2.0).log_prob(0.3)])
    np.testing.assert_allclose(straight, line, rtol=1e-6)


@pytest.mark.parametrize(
    ("vector", "number", "mean", "variance"),
    [
        (tfd.VectorExponentialDiag, lambda: tfd.Exponential(np.float64(1)), LOC + DIAG, DIAG**2),
        (tfd.VectorLaplaceDiag, lambda: tfd.Laplace(np.float64(0), np.float64(1)), LOC + 0 * DIAG, 2 * DIAG**2),
    ],
)
def test_vectors_are_of_independent_numbers(vector, number, mean, variance, session: tf.Session) -> None:
    one = vector(LOC, DIAG)
    assert (one.batch_shape.as_list(), one.event_shape.as_list()) == ([3], [2])
    z = np.array([0.3, 1.7])
    alone = number()
    found, of_each, own, entropy = session.run(
        [one.log_prob(LOC + DIAG * z), alone.log_prob(z), one.entropy(), alone.entropy()]
    )
    np.testing.assert_allclose(found, of_each.sum() - np.log(DIAG).sum(-1))
    np.testing.assert_allclose(own, 2 * entropy + np.log(DIAG).sum(-1))
    moments = session.run([one.mean(), one.variance(), one.stddev(), one.covariance(), one.mode()])
    covariance = variance[..., None] * np.eye(2)
    for value, wanted in zip(moments, [mean, variance, variance**0.5, covariance, LOC + 0 * DIAG], strict=True):
        np.testing.assert_allclose(value, wanted)
    drawn = session.run(one.sample(4000, seed=3))
    assert drawn.shape == (4000, 3, 2)
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.25)
    times = vector(LOC, scale_identity_multiplier=np.float64(1.5)).variance()
    np.testing.assert_allclose(session.run(times), np.full(2, variance[0, 0] / 4 * 2.25))


def test_vectors_without_a_size(session: tf.Session) -> None:
    with pytest.raises(ValueError, match="scale_diag"):
        tfd.VectorLaplaceDiag()


def test_vectors_of_bent_numbers(session: tf.Session) -> None:
    one = tfd.VectorSinhArcsinhDiag(LOC, DIAG, skewness=0.3, tailweight=np.array([1.0, 2.0]))
    alone = tfd.SinhArcsinh(LOC, DIAG, skewness=np.float64(0.3), tailweight=np.array([1.0, 2.0]))
    y = np.random.default_rng(5).normal(size=(7, 3, 2))
    found, of_each = session.run([one.log_prob(y), alone.log_prob(y)])
    np.testing.assert_allclose(found, of_each.sum(-1))
    assert one.sample(5).shape.as_list() == [5, 3, 2]
