"""Distributions against themselves: densities, cumulative distributions, moments and samples have to fit each other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf

tfd = tf.distributions
tfc = tf.contrib.distributions


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as one:
        yield one


def f64(*values):
    return [np.float64(value) for value in values]


CONTINUOUS = {
    "normal": (lambda: tfd.Normal(*f64(0.5, 2.0)), (-40, 40)),
    "laplace": (lambda: tfd.Laplace(*f64(0.5, 0.7)), (-40, 40)),
    "student": (lambda: tfd.StudentT(*f64(7.0, 0.5, 0.7)), (-400, 400)),
    "uniform": (lambda: tfd.Uniform(*f64(-1.0, 2.5)), (-2, 3)),
    "gamma": (lambda: tfd.Gamma(*f64(2.5, 1.5)), (1e-9, 60)),
    "exponential": (lambda: tfd.Exponential(np.float64(0.7)), (0, 80)),
    "beta": (lambda: tfd.Beta(*f64(2.5, 3.5)), (1e-9, 1 - 1e-9)),
}


@pytest.mark.parametrize("which", CONTINUOUS)
def test_densities_fit_moments_and_cumulative_distributions(which: str, session: tf.Session) -> None:
    make, (low, high) = CONTINUOUS[which]
    d = make()
    # Denser around 0, where all of them are.
    x = np.unique(np.concatenate([np.linspace(low, high, 40001), np.linspace(max(low, -9), min(high, 9), 60001)]))
    wanted = {"prob": d.prob(x), "log_prob": d.log_prob(x), "cdf": d.cdf(x)}
    found = session.run({**wanted, **{name: getattr(d, name)() for name in ("mean", "variance", "stddev", "entropy")}})

    def integral(y: np.ndarray) -> float:
        return float(np.trapezoid(y, x))

    p = found["prob"]
    assert integral(p) == pytest.approx(1, abs=1e-3)
    assert found["mean"] == pytest.approx(integral(x * p), abs=2e-3)
    assert found["variance"] == pytest.approx(integral((x - found["mean"]) ** 2 * p), rel=5e-3)
    assert found["stddev"] == pytest.approx(np.sqrt(found["variance"]))
    logs = np.where(p > 0, found["log_prob"], 0)
    assert found["entropy"] == pytest.approx(-integral(logs * p), abs=5e-3)
    summed = np.concatenate([[0], np.cumsum((p[1:] + p[:-1]) / 2 * np.diff(x))])
    np.testing.assert_allclose(found["cdf"], summed + found["cdf"][0], atol=2e-3)


@pytest.mark.parametrize("which", CONTINUOUS)
def test_samples_have_the_moments(which: str, session: tf.Session) -> None:
    d = CONTINUOUS[which][0]()
    drawn, mean, stddev = session.run([d.sample(20000, seed=7), d.mean(), d.stddev()])
    assert drawn.shape == (20000,)
    assert drawn.mean() == pytest.approx(mean, abs=5 * stddev / np.sqrt(20000))
    assert drawn.std() == pytest.approx(stddev, rel=0.08)


PAIRS = [
    ("normal", lambda: (tfd.Normal(*f64(0.5, 2.0)), tfd.Normal(*f64(-1.0, 1.5))), (-40, 40)),
    ("gamma", lambda: (tfd.Gamma(*f64(2.5, 1.5)), tfd.Gamma(*f64(3.5, 0.5))), (1e-9, 60)),
    ("beta", lambda: (tfd.Beta(*f64(2.5, 1.5)), tfd.Beta(*f64(3.5, 2.5))), (1e-9, 1 - 1e-9)),
]


@pytest.mark.parametrize(("make", "ends"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS])
def test_divergences(make, ends, session: tf.Session) -> None:
    a, b = make()
    x = np.linspace(*ends, 200001)
    p, log_p, log_q = session.run([a.prob(x), a.log_prob(x), b.log_prob(x)])
    found, cross, entropy = session.run([tfd.kl_divergence(a, b), a.cross_entropy(b), a.entropy()])
    assert found == pytest.approx(np.trapezoid(np.where(p > 0, p * (log_p - log_q), 0), x), rel=1e-3)
    assert cross == pytest.approx(found + entropy)
    assert session.run(a.kl_divergence(a)) == pytest.approx(0, abs=1e-9)


def test_discrete_ones_sum_up(session: tf.Session) -> None:
    b, other = tfd.Bernoulli(probs=np.float64(0.3)), tfd.Bernoulli(logits=np.float64(1.2))
    c = tfd.Categorical(logits=np.array([[0.1, 0.5, -1.0], [2.0, 0.0, 0.3]]))
    even = tfd.Categorical(probs=np.array([0.2, 0.3, 0.5]))
    p, log_q = session.run([b.prob([0, 1]), other.log_prob([0, 1])])
    np.testing.assert_allclose(p, [0.7, 0.3])
    assert session.run(b.kl_divergence(other)) == pytest.approx(np.sum(p * (np.log(p) - log_q)))
    assert session.run([b.mean(), b.variance(), b.entropy()]) == pytest.approx([0.3, 0.21, -np.sum(p * np.log(p))])
    rows = np.stack(session.run([c.prob(k) for k in range(3)]), axis=-1)
    np.testing.assert_allclose(rows.sum(-1), 1)
    np.testing.assert_allclose(session.run(c.entropy()), -(rows * np.log(rows)).sum(-1))
    divergence = (rows * (np.log(rows) - np.log([0.2, 0.3, 0.5]))).sum(-1)
    np.testing.assert_allclose(session.run(c.kl_divergence(even)), divergence)
    np.testing.assert_allclose(session.run(even.cdf([0, 1, 2])), [0, 0.2, 0.5])  # as in TensorFlow: of less than k
    drawn = session.run(c.sample(20000, seed=5))
    assert drawn.shape == (20000, 2)
    np.testing.assert_allclose([(drawn == k).mean(0) for k in range(3)], rows.T, atol=0.02)
    assert session.run(c.mode()).tolist() == [1, 0]


def test_counts(session: tf.Session) -> None:
    """All counts of 3 draws from 3 classes sum to 1, and have the moments."""
    events = np.array([e for e in itertools.product(range(4), repeat=3) if sum(e) == 3], np.float64)
    for d in (
        tfd.Multinomial(np.float64(3), probs=np.array([0.2, 0.3, 0.5])),
        tfd.DirichletMultinomial(np.float64(3), np.array([1.5, 0.5, 2.0])),
    ):
        p = session.run(d.prob(events))
        mean, variance, covariance, drawn = session.run([d.mean(), d.variance(), d.covariance(), d.sample(9000, seed=3)])
        assert p.sum() == pytest.approx(1)
        np.testing.assert_allclose(mean, p @ events)
        wanted = (events - mean).T @ ((events - mean) * p[:, None])
        np.testing.assert_allclose(covariance, wanted, atol=1e-12)
        np.testing.assert_allclose(variance, np.diag(wanted))
        assert (drawn.sum(-1) == 3).all()
        np.testing.assert_allclose(drawn.mean(0), mean, atol=0.05)


def test_batches_of_counts(session: tf.Session) -> None:
    totals = np.float32([2, 5])
    d = tfd.Multinomial(totals, logits=np.zeros((2, 3), np.float32))
    drawn = session.run(d.sample([7, 11], seed=1))
    assert drawn.shape == (7, 11, 2, 3)
    assert (drawn.sum(-1) == totals).all()
    assert (d.batch_shape.as_list(), d.event_shape.as_list()) == ([2], [3])


def test_dirichlet(session: tf.Session) -> None:
    a = np.array([[1.5, 2.5, 3.0], [4.0, 1.2, 2.0]])
    d = tfd.Dirichlet(a)
    drawn, mean, covariance, variance = session.run([d.sample(30000, seed=3), d.mean(), d.covariance(), d.variance()])
    np.testing.assert_allclose(drawn.sum(-1), 1)
    np.testing.assert_allclose(drawn.mean(0), mean, atol=0.01)
    np.testing.assert_allclose(drawn.var(0), variance, atol=0.002)
    np.testing.assert_allclose(np.cov(drawn[:, 0].T), covariance[0], atol=0.002)
    # Of two shares it is a beta distribution.
    pair, beta = tfd.Dirichlet(np.array([2.5, 1.5])), tfd.Beta(*f64(2.5, 1.5))
    np.testing.assert_allclose(*session.run([pair.log_prob([0.3, 0.7]), beta.log_prob(0.3)]))
    np.testing.assert_allclose(*session.run([pair.entropy(), beta.entropy()]))
    other = tfd.Dirichlet(np.array([1.5, 4.5])), tfd.Beta(*f64(1.5, 4.5))
    np.testing.assert_allclose(*session.run([pair.kl_divergence(other[0]), beta.kl_divergence(other[1])]))


def test_tails(session: tf.Session) -> None:
    """Where probabilities are too small for a number of their own, their logarithms are not."""
    d = tfd.Normal(*f64(0.0, 1.0))
    found = session.run([d.log_cdf(-40.0), d.log_survival_function(40.0), d.log_cdf(2.0), d.quantile(0.975)])
    assert found == pytest.approx([-804.608442, -804.608442, np.log(0.9772498680518208), 1.959963984540054], rel=1e-6)
    gradient = session.run(tf.gradients(d.log_cdf(tf.constant([-40.0, 0.0, 40.0], tf.float64)), d.loc)[0])
    assert np.isfinite(gradient)
    laplace = tfd.Laplace(*f64(0.0, 1.0))
    assert session.run(laplace.log_cdf(-800.0)) == pytest.approx(-800 - np.log(2))


def test_gradients_pass_through_samples(session: tf.Session) -> None:
    loc, scale = tf.constant(np.float64(0.3)), tf.constant(np.float64(2.0))
    drawn = tfd.Normal(loc, scale).sample(5, seed=1)
    for_loc, for_scale, values = session.run([*tf.gradients(drawn, [loc, scale]), drawn])
    assert for_loc == 5
    assert for_scale == pytest.approx(((values - 0.3) / 2).sum())
    assert tf.gradients(tfd.Bernoulli(logits=loc).sample(5), loc) == [None]


def test_what_is_refused(session: tf.Session) -> None:
    d = tfd.Normal(0.0, 1.0)
    with pytest.raises(NotImplementedError, match="covariance is not implemented: Normal"):
        d.covariance()
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(tfd.Beta(1.0, 1.0))
    with pytest.raises(ValueError, match="already been registered"):
        tfd.RegisterKL(tfd.Normal, tfd.Normal)(lambda a, b, name=None: None)
    with pytest.raises(ValueError, match="Must pass probs or logits"):
        tfd.Categorical()
    with pytest.raises(tf.errors.InvalidArgumentError):
        session.run(tfd.Normal(0.0, tf.placeholder_with_default(-1.0, []), validate_args=True).scale)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode not defined"):
        session.run(tfd.Gamma(tf.placeholder_with_default(0.5, []), 1.0, allow_nan_stats=False).mode())
    assert np.isnan(session.run(tfd.Gamma(0.5, 1.0).mode()))


def test_copies_and_shapes(session: tf.Session) -> None:
    d = tfd.Normal(tf.zeros([2, 1]), tf.ones([3]), name="p")
    assert str(d) == 'tfp.distributions.Normal("p/", batch_shape=(2, 3), event_shape=(), dtype=float32)'
    assert repr(d) == "<tfp.distributions.Normal 'p/' batch_shape=(2, 3) event_shape=() dtype=float32>"
    other = d.copy(loc=5.0)
    assert session.run(other.mean()).tolist() == [5, 5, 5]
    assert tfd.Normal.param_static_shapes([2, 3]) == {"loc": tf.TensorShape([2, 3]), "scale": tf.TensorShape([2, 3])}
    count = tf.placeholder(tf.int32, [])
    assert session.run(d.sample(count), {count: 5}).shape == (5, 2, 3)
    dims = tf.placeholder(tf.int32, [None])
    assert session.run(d.sample(dims), {dims: [5, 7]}).shape == (5, 7, 2, 3)
    unknown = tfd.Normal(tf.placeholder(tf.float32, None, name="u"), 1.0)
    assert session.run(unknown.sample(2), {"u:0": np.zeros((5, 3))}).shape == (2, 5, 3)


def test_parameters_of_unknown_rank(session: tf.Session) -> None:
    def fed(value):
        return tf.placeholder_with_default(np.float32(value), None)

    two, three = [1.0, -0.5], [[1.0, -0.5, 0.2], [0.1, 0.2, 0.3]]
    low_rank = {"scale_perturb_factor": [[1.0], [0.5]]}
    for make, parameter, event in [
        (lambda logits: tfc.Bernoulli(logits), two, [0.0, 1.0]),
        (lambda logits: tfc.Categorical(logits), three, [0, 2]),
        (lambda logits: tfc.OneHotCategorical(logits), three, [0, 0, 1]),
        (lambda loc: tfc.MultivariateNormalDiag(loc, [1.0, 2.0]), two, [3.0, 1.0]),
        (
            lambda loc: tfc.MultivariateNormalDiagPlusLowRank(
                loc, [1.0, 2.0], **{k: tf.placeholder_with_default(v, None) for k, v in low_rank.items()}
            ),
            two,
            [3.0, 1.0],
        ),
    ]:
        known, unknown = (session.run(make(p(parameter)).log_prob(event)) for p in (tf.constant, fed))
        np.testing.assert_allclose(unknown, known, rtol=1e-6)
    unknown = tfc.Categorical(fed(three))
    np.testing.assert_array_equal(session.run(unknown.mode()), [0, 2])
    assert session.run(unknown.sample(5)).shape == (5, 2)


def test_how_many_trials_succeed_at_most(session: tf.Session) -> None:
    given = tfc.Binomial(tf.constant(5.0), probs=[0.2, 0.5])
    summed = session.run(tf.reduce_sum(given.prob(np.arange(3.0, dtype=np.float32)[:, None]), 0))
    np.testing.assert_allclose(session.run(given.cdf(2.0)), summed, rtol=1e-5)
    np.testing.assert_array_equal(session.run(given.cdf(5.0)), [1.0, 1.0])


@pytest.mark.parametrize(
    ("is_static", "wanted"),
    [
        (False, [[1.5009423, 1.0972774], [3.1676102, 1.1275523], [0.7001749, 2.161043]]),
        (True, [[1.5009423, 3.4372296], [4.0804701, 1.0972774], [-0.003876, 1.4458441]]),
    ],
)
def test_mixtures_draw_tensorflows_numbers(session, is_static, wanted):
    """Recorded from TensorFlow 1.15.0."""
    tf.set_random_seed(12)
    components = [tfd.Normal([0.0, 5.0], 1.0), tfd.Normal([3.0, 2.0], 1.0)]
    mixture = tfc.Mixture(tfd.Categorical(probs=[[0.4, 0.6], [0.1, 0.9]]), components, use_static_graph=is_static)
    np.testing.assert_allclose(session.run(mixture.sample(3, seed=4)), wanted, rtol=1e-5)


def test_counts_of_failures_are_tensorflows_numbers(session):
    """Recorded from TensorFlow 1.15.0."""
    tf.set_random_seed(12)
    assert session.run(tfc.NegativeBinomial(3.0, probs=0.4).sample(5, seed=4)).tolist() == [1.0, 1.0, 2.0, 2.0, 3.0]


def test_what_exponentials_leave_far_out_and_samples_whose_number_is_fed(session: tf.Session) -> None:
    np.testing.assert_allclose(session.run(tfd.Exponential(2.0).log_survival_function([1.0, 40.0, 100.0])), [-2, -80, -200])
    fed = tf.placeholder(tf.int32)
    drawn = tfd.Bernoulli(probs=[0.2, 0.6]).sample(fed, seed=1)
    assert [session.run(drawn, {fed: count}).shape for count in (3, [3], [3, 2])] == [(3, 2), (3, 2), (3, 2, 2)]
    assert tfd.DirichletMultinomial(1, [[1.0, 2.0, 3.0]]).concentration.shape == [1, 3]
