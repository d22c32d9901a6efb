"""Multivariate normal distributions against their density written out, and against each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

tfd = tf.contrib.distributions
LOC = np.array([[0.5, -1.0, 2.0], [1.0, 0.0, -0.5]])
TRIL = np.array([[1.5, 0, 0], [0.3, 0.7, 0], [-0.5, 0.2, 1.1]])
X = np.random.default_rng(5).normal(size=(7, 2, 3))


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def log_density(x, loc, covariance):
    apart = x - loc
    distance = np.einsum("...i,...ij,...j->...", apart, np.linalg.inv(covariance), apart)
    return -0.5 * (distance + np.linalg.slogdet(covariance)[1] + x.shape[-1] * np.log(2 * np.pi))


DIAG = np.array([[1.0, 2.0, 0.5], [0.3, 0.7, 1.5]])
FACTOR = np.array([[0.5, -1.0], [1.0, 0.2], [0.3, 0.7]])
SCALES = DIAG[..., None] * np.eye(3) + FACTOR @ np.diag([2.0, 0.5]) @ FACTOR.T
MAKE = {
    "diag": (lambda: tfd.MultivariateNormalDiag(LOC, DIAG), DIAG[..., None] ** 2 * np.eye(3)),
    "diag of one batch": (lambda: tfd.MultivariateNormalDiag(LOC, DIAG[0]), DIAG[0] ** 2 * np.eye(3)),
    "diag and multiplier": (
        lambda: tfd.MultivariateNormalDiag(LOC, DIAG, np.array([0.5, 1.0])),
        (DIAG + np.array([[0.5], [1.0]]))[..., None] ** 2 * np.eye(3),
    ),
    "multiplier": (lambda: tfd.MultivariateNormalDiag(LOC, scale_identity_multiplier=np.float64(1.5)), 2.25 * np.eye(3)),
    "standard": (lambda: tfd.MultivariateNormalDiag(LOC), np.eye(3)),
    "softplus": (
        lambda: tfd.MultivariateNormalDiagWithSoftplusScale(LOC, DIAG),
        np.log1p(np.exp(DIAG))[..., None] ** 2 * np.eye(3),
    ),
    "low rank": (
        lambda: tfd.MultivariateNormalDiagPlusLowRank(
            LOC, DIAG, scale_perturb_factor=FACTOR, scale_perturb_diag=np.array([2.0, 0.5])
        ),
        SCALES @ SCALES,
    ),
    "low rank of none": (lambda: tfd.MultivariateNormalDiagPlusLowRank(LOC, DIAG), DIAG[..., None] ** 2 * np.eye(3)),
    "low rank of the identity": (
        lambda: tfd.MultivariateNormalDiagPlusLowRank(LOC, scale_perturb_factor=FACTOR),
        (np.eye(3) + FACTOR @ FACTOR.T) @ (np.eye(3) + FACTOR @ FACTOR.T),
    ),
    "tril": (lambda: tfd.MultivariateNormalTriL(LOC, TRIL + np.triu(np.ones((3, 3)), 1)), TRIL @ TRIL.T),
    "trils": (
        lambda: tfd.MultivariateNormalTriL(LOC, np.stack([TRIL, 2 * TRIL]), validate_args=True),
        np.stack([TRIL @ TRIL.T, 4 * TRIL @ TRIL.T]),
    ),
    "full": (lambda: tfd.MultivariateNormalFullCovariance(LOC, TRIL @ TRIL.T, validate_args=True), TRIL @ TRIL.T),
}


@pytest.mark.parametrize("which", MAKE)
def test_what_is_known_of_one(which: str, session: tf.Session) -> None:
    make, covariance = MAKE[which]
    d = make()
    covariance = np.broadcast_to(covariance, (2, 3, 3))
    assert (d.batch_shape.as_list(), d.event_shape.as_list()) == ([2], [3])
    found = session.run(
        {name: getattr(d, name)() for name in ("mean", "mode", "variance", "stddev", "covariance", "entropy")}
    )
    log_prob, prob, drawn = session.run([d.log_prob(X), d.prob(X), d.sample([4000, 5], seed=3)])
    np.testing.assert_allclose(log_prob, log_density(X, LOC, covariance))
    np.testing.assert_allclose(prob, np.exp(log_prob))
    np.testing.assert_allclose(found["mean"], LOC)
    np.testing.assert_allclose(found["mode"], LOC)
    np.testing.assert_allclose(found["covariance"], covariance, atol=1e-12)
    np.testing.assert_allclose(found["variance"], np.diagonal(covariance, 0, 1, 2))
    np.testing.assert_allclose(found["stddev"] ** 2, found["variance"])
    np.testing.assert_allclose(found["entropy"], 0.5 * np.linalg.slogdet(2 * np.pi * np.e * covariance)[1])
    assert drawn.shape == (4000, 5, 2, 3)
    for b in range(2):
        rows = drawn[:, :, b].reshape(-1, 3)
        np.testing.assert_allclose(rows.mean(0), LOC[b], atol=0.05 * np.sqrt(covariance[b].max()))
        np.testing.assert_allclose(np.cov(rows.T), covariance[b], atol=0.06 * covariance[b].max())


def test_divergences(session: tf.Session) -> None:
    """Of independent numbers it is the sum of theirs; between any two it is the mean of the logarithms' difference."""
    a, b = tfd.MultivariateNormalDiag(LOC, DIAG), tfd.MultivariateNormalDiag(LOC[::-1].copy(), 2 * DIAG)
    singly = tf.distributions.Normal(LOC, DIAG).kl_divergence(tf.distributions.Normal(LOC[::-1].copy(), 2 * DIAG))
    np.testing.assert_allclose(*session.run([a.kl_divergence(b), tf.reduce_sum(singly, -1)]))
    c = tfd.MultivariateNormalFullCovariance(LOC, TRIL @ TRIL.T)
    drawn = c.sample(20000, seed=1)
    found, several = session.run([tf.distributions.kl_divergence(c, b), c.log_prob(drawn) - b.log_prob(drawn)])
    np.testing.assert_allclose(found, several.mean(0), rtol=0.05)
    np.testing.assert_allclose(session.run(c.kl_divergence(c)), 0, atol=1e-12)
    np.testing.assert_allclose(*session.run([c.cross_entropy(b), c.entropy() + found]))


def test_without_a_loc_and_of_unknown_shapes(session: tf.Session) -> None:
    tril, loc = tf.placeholder(tf.float64, None), tf.placeholder(tf.float64, [None, None])
    centred, moved = tfd.MultivariateNormalTriL(scale_tril=TRIL), tfd.MultivariateNormalDiag(loc)
    assert centred.loc is None
    mean, log_prob = session.run([centred.mean(), centred.log_prob(X)])
    np.testing.assert_array_equal(mean, np.zeros(3))
    np.testing.assert_allclose(log_prob, log_density(X, 0, TRIL @ TRIL.T))
    wanted = [moved.batch_shape_tensor(), moved.event_shape_tensor(), moved.log_prob(X)]
    batch, event, log_prob = session.run(wanted, {loc: LOC})
    assert (batch.tolist(), event.tolist()) == ([2], [3])
    np.testing.assert_allclose(log_prob, log_density(X, LOC, np.eye(3)))
    of_feed = tfd.MultivariateNormalTriL(LOC, tril)
    np.testing.assert_allclose(session.run(of_feed.log_prob(X), {tril: TRIL}), log_density(X, LOC, TRIL @ TRIL.T))


def test_gradients_pass_through_samples(session: tf.Session) -> None:
    loc, diag = tf.constant(LOC), tf.constant(DIAG)
    d = tfd.MultivariateNormalDiag(loc, diag)
    drawn = d.sample(11, seed=2)
    sample, by_loc, by_diag = session.run([drawn, *tf.gradients(drawn, [loc, diag])])
    np.testing.assert_allclose(by_loc, np.full((2, 3), 11.0))
    np.testing.assert_allclose(by_diag, ((sample - LOC) / DIAG).sum(0))


def test_refusals(session: tf.Session) -> None:
    for make in (tfd.MultivariateNormalDiag, tfd.MultivariateNormalTriL, tfd.MultivariateNormalFullCovariance):
        with pytest.raises(ValueError, match="how long is an event"):
            make()
    diag, matrix = tf.placeholder(tf.float64, [3]), tf.placeholder(tf.float64, [3, 3])
    checked = tfd.MultivariateNormalDiag(LOC, diag, validate_args=True).log_prob(X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="singular"):
        session.run(checked, {diag: [1.0, 0.0, 1.0]})
    checked = tfd.MultivariateNormalFullCovariance(LOC, matrix, validate_args=True).log_prob(X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not symmetric"):
        session.run(checked, {matrix: TRIL})


def test_copies_keep_their_arguments() -> None:
    with tf.Graph().as_default():
        d = tfd.MultivariateNormalFullCovariance(LOC, TRIL @ TRIL.T, name="own")
        assert set(d.parameters) == {"loc", "covariance_matrix", "validate_args", "allow_nan_stats", "name"}
        assert repr(d.copy(loc=LOC[0])) == (
            "<tfp.distributions.MultivariateNormalFullCovariance 'own_1/' batch_shape=() event_shape=(3,) dtype=float64>"
        )
