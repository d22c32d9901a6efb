"""Distributions whose positive parameters are made of any numbers."""

import numpy as np
import pytest

import tfexp as tf

ds, contrib = tf.distributions, tf.contrib.distributions
RAW = [-2.0, 0.5, 3.0]
SOFT = np.log1p(np.exp(RAW)).tolist()


@pytest.mark.parametrize(
    ("made", "like"),
    [
        (lambda: contrib.BetaWithSoftplusConcentration(RAW, 1.0), lambda: ds.Beta(SOFT, np.log1p(np.exp(1.0)))),
        (lambda: contrib.GammaWithSoftplusConcentrationRate(RAW, RAW), lambda: ds.Gamma(SOFT, SOFT)),
        (lambda: contrib.ExponentialWithSoftplusRate(RAW), lambda: ds.Exponential(SOFT)),
        (lambda: contrib.LaplaceWithSoftplusScale(1.0, RAW), lambda: ds.Laplace(1.0, SOFT)),
        (lambda: contrib.StudentTWithAbsDfSoftplusScale(-3.7, 1.0, RAW), lambda: ds.StudentT(3.0, 1.0, SOFT)),
    ],
)
def test_they_are_what_they_are_made_of(made, like):
    with tf.Graph().as_default(), tf.Session() as session:
        one, other = made(), like()
        assert one.name.startswith(type(one).__name__)
        found = session.run([[d.log_prob([0.1, 0.2, 0.3]), d.variance()] for d in (one, other)])
        np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
