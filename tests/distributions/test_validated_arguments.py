"""What distributions of `tf.contrib` refuse, at once or in the run where arguments are validated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf

d = tf.contrib.distributions
NORMAL = d.Normal([0.0, 1.0], 1.0)
FED = {"validate_args": True}


@pytest.mark.parametrize(
    ("make", "error", "told"),
    [
        (lambda: d.Poisson(), ValueError, "exactly one of"),
        (lambda: d.Poisson(1.0, log_rate=0.0), ValueError, "exactly one of"),
        (lambda: d.Poisson(2), TypeError, "floating"),
        (lambda: d.Geometric(), ValueError, "probs or logits"),
        (lambda: d.Binomial(3.0, 0.5, 0.5), ValueError, "probs or logits"),
        (lambda: d.Cauchy(0.0, 1.0, allow_nan_stats=False).mean(), ValueError, "undefined"),
        (lambda: d.Independent(NORMAL, 2), ValueError, "cannot exceed"),
        (lambda: d.Mixture(NORMAL, [NORMAL]), TypeError, "cat must be"),
        (lambda: d.Mixture(d.Categorical([0.0, 1.0]), []), ValueError, "non-empty"),
        (lambda: d.Mixture(d.Categorical([0.0, 1.0]), [1.0, 2.0]), TypeError, "Distribution instances"),
        (lambda: d.Mixture(d.Categorical([[0.0, 1.0]] * 2), [NORMAL]), ValueError, "num_classes"),
        (lambda: d.Mixture(d.Categorical([0.0]), [NORMAL]), ValueError, "not compatible"),
        (lambda: d.MixtureSameFamily(d.Categorical([0.0] * 3), NORMAL), ValueError, "does not equal"),
        (lambda: d.MixtureSameFamily(d.Categorical([0.0]), d.Normal(0.0, 1.0)), ValueError, "must have a batch"),
        (lambda: d.kl_divergence(d.Independent(NORMAL, 1), d.Independent(NORMAL, 0)), NotImplementedError, "event shapes"),
    ],
)
def test_refused_at_once(make: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        make()


@pytest.mark.parametrize(
    ("make", "fed", "told"),
    [
        (lambda x: d.Poisson(x, **FED).mean(), -1.0, "x > 0"),
        (lambda x: d.Poisson(1.0, **FED).log_prob(x), 0.5, "non-integer|fractional"),
        (lambda x: d.Geometric(probs=0.5, **FED).prob(x), -1.0, "non-negative"),
        (lambda x: d.Geometric(probs=x, **FED).mean(), 1.5, "greater than 1"),
        (lambda x: d.Binomial(3.0, probs=0.5, **FED).log_prob(x), 4.0, "total_count"),
        (lambda x: d.Binomial(x, probs=0.5, **FED).mean(), 2.5, "fractional"),
        (lambda x: d.HalfNormal(x, **FED).mean(), 0.0, "x > 0"),
        (lambda x: d.InverseGamma(3.0, x, **FED).mean(), -1.0, "x > 0"),
        (lambda x: d.InverseGamma(x, 1.0, allow_nan_stats=False).mean(), 1.0, "undefined"),
        (lambda x: d.Logistic(0.0, x, **FED).mean(), -1.0, "x > 0"),
        (lambda x: d.Chi2(x, **FED).mean(), -1.0, "x > 0"),
        (lambda x: d.Deterministic(0.0, atol=x, **FED).prob(0.0), -1.0, "non-negative"),
        (lambda x: d.OneHotCategorical([0.0, 1.0], **FED).log_prob(tf.stack([x, x])), 1.0, "one-hot"),
        (lambda x: d.RelaxedBernoulli(x, 0.5, **FED).sample(), -1.0, "x > 0"),
        (lambda x: d.ExpRelaxedOneHotCategorical(1.0, [0.0, 1.0], **FED).log_prob([x, x]), 1.0, "sum to 1"),
    ],
)
def test_refused_in_the_run(make: Any, fed: float, told: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        made = make(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=told):
            session.run(made, {x: np.float32(fed)})


def test_moments_that_are_not_there_are_nan() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        cauchy, gamma = d.Cauchy([0.0, 1.0], 1.0), d.InverseGamma([0.5, 1.5, 3.0], 1.0)
        found = session.run([cauchy.mean(), cauchy.stddev(), gamma.mean(), gamma.variance()])
        assert [np.isnan(x).tolist() for x in found] == [[True] * 2, [True] * 2, [True, False, False], [True, True, False]]


def test_gradients_pass_through_relaxed_samples() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.constant([[0.1, 0.5, -1.0], [2.0, 0.0, 0.3]])
        one = d.RelaxedOneHotCategorical(0.5, logits=logits)
        sample = one.sample(7, seed=1)
        drawn, slope, logs = session.run([sample, tf.gradients(sample[..., 0], logits)[0], one.log_prob(sample)])
        np.testing.assert_allclose(drawn.sum(-1), 1, rtol=1e-5)
        assert drawn.shape == (7, 2, 3) and logs.shape == (7, 2) and (slope[:, 0] > 0).all()
        coin = d.RelaxedBernoulli(0.1, probs=[0.2, 0.9])
        assert session.run(tf.reduce_mean(tf.round(coin.sample(4000, seed=2)), 0)) == pytest.approx([0.2, 0.9], abs=0.03)


def test_rare_components_and_copies() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        one = d.MixtureSameFamily(d.Categorical(probs=[0.9, 0.1]), d.Deterministic([[0.0, np.inf], [5.0, 7.0]]))
        drawn = session.run(one.sample(4000, seed=3))
        assert np.isinf(drawn[:, 0]).mean() == pytest.approx(0.1, abs=0.03)
        assert set(drawn[:, 1]) == {5.0, 7.0}
        # Members of a batch choose apart.
        assert (np.isinf(drawn[:, 0]) & (drawn[:, 1] == 7.0)).mean() == pytest.approx(0.01, abs=0.01)
        assert d.Binomial(3.0, probs=0.5).copy(probs=0.2).parameters["probs"] == 0.2
