"""Rows of the special functions: incomplete gamma and beta, Bessel, quantiles, running log-sum-exp.

Figures come from TensorFlow (2.21), or from another formula than the kernels use.
"""

from __future__ import annotations

import math

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests

INF, NAN = np.inf, np.nan
BROADCAST = [Error([(2, 3), (5,)], ValueError, "Dimensions must be equal, but are 3 and 5")]
NO_INTEGERS = [Error([(2,)], TypeError, "not in list of allowed values", dtype="int32")]
FLOATS = ["float32", "float64", "float16"]
DOUBLES = ["float32", "float64"]
ODD_A = Like([0, 0, 1, 1, 2, -1, INF, INF, 2, NAN, 1, 0.5])
ODD_X = Like([0, 1, 0, INF, -1, 1, 1, INF, NAN, 1, 1e3, 1e-30])


def integrated(integrand, low, high):
    """The integral by Gauss-Legendre quadrature, element by element of `low` and `high`."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    half = (np.asarray(high, np.float64) - low) / 2
    t = low + half[..., None] * (nodes + 1)
    return np.sum(weights * integrand(t), -1) * half


def lower(a, x):
    # P(a, x) with t = u^2, so that the integrand has no pole for a >= 1/2.
    a, x = (v.astype(np.float64)[..., None] for v in np.broadcast_arrays(a, x))
    gamma = np.vectorize(math.gamma)(a)
    return integrated(lambda u: 2 * u ** (2 * a - 1) * np.exp(-u * u) / gamma, 0.0, np.sqrt(x[..., 0]))


def typed(function):
    return lambda *arrays: function(*arrays).astype(arrays[0].dtype)


def lower_slope(a, x):
    a, step = a.astype(np.float64), 1e-5
    return (lower(a + step, x) - lower(a - step, x)) / (2 * step)


def sample_slope(a, sample):
    a, sample = a.astype(np.float64), sample.astype(np.float64)
    density = sample ** (a - 1) * np.exp(-sample) / np.vectorize(math.gamma)(a)
    return -lower_slope(a, sample) / density


def beta_integral(a, b, x):
    a, b, x = (v.astype(np.float64) for v in (a, b, x))
    beta = np.vectorize(lambda p, q: math.gamma(p) * math.gamma(q) / math.gamma(p + q))(a, b)
    return integrated(lambda t: t ** (a - 1)[..., None] * (1 - t) ** (b - 1)[..., None], 0.0, x) / beta


def bessel(order, scaled=False):
    def reference(x):
        # The integral of exp(x cos t) cos(order t) over [0, pi], which the trapezoidal rule gives to the last bits.
        t = np.linspace(0, math.pi, 401)
        y = np.exp(x.astype(np.float64)[..., None] * np.cos(t)) * np.cos(order * t)
        value = (y.sum(-1) - (y[..., 0] + y[..., -1]) / 2) / 400
        return value * np.exp(-np.abs(x.astype(np.float64))) if scaled else value

    return typed(reference)


def erf_inverse(x):
    low, high = np.full(x.shape, -6.0), np.full(x.shape, 6.0)
    for _ in range(80):
        middle = (low + high) / 2
        below = np.vectorize(math.erf)(middle) < x
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def running(x, axis):
    return np.log(np.cumsum(np.exp(x.astype(np.float64)), axis)).astype(x.dtype)


def running_reverse_exclusive(x, axis):
    sums = np.flip(np.cumsum(np.flip(np.exp(x.astype(np.float64)), axis), axis), axis) - np.exp(x.astype(np.float64))
    with np.errstate(divide="ignore"):
        return np.log(np.where(sums < 1e-9, 0, sums)).astype(x.dtype)


CASES = [
    OpCase(
        "RandomGammaGrad",
        [(2, 3), (2, 3)],
        typed(sample_slope),
        low=1.0,
        high=6.0,
        gradient=(),
        tolerance=1e-6,
        dtypes=DOUBLES,
        errors=BROADCAST,
    ),
]
test_rows = op_tests(CASES)


def test_samples_of_gamma_follow_alpha() -> None:
    alpha = tf.constant([1.5, 3.0], tf.float64)
    samples = tf.random_gamma([4000], alpha, dtype=tf.float64, seed=7)
    (slope,) = tf.gradients(tf.reduce_mean(samples, 0), alpha)
    with tf.Session() as session:
        # The mean of Gamma(alpha, 1) is alpha.
        np.testing.assert_allclose(session.run(slope), [1, 1], atol=0.05)


def test_samples_of_gamma_follow_a_huge_alpha() -> None:
    alpha = np.array([0.999e7, 1.001e7, 1e12, 1e30])
    spread = np.array([-3.0, 0.0, 2.0])
    with tf.Graph().as_default(), tf.Session() as session:
        for a in alpha:
            # A sample is a + z sqrt(a) + (z^2 - 1) / 3 + ..., whose quantile z stays.
            wanted = 1 + spread / (2 * np.sqrt(a))
            sample = a + spread * np.sqrt(a) + (spread**2 - 1) / 3
            found = session.run(tf.raw_ops.RandomGammaGrad(alpha=a, sample=sample))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1 / a + 1e-15)
        far = session.run(tf.raw_ops.RandomGammaGrad(alpha=[1e30, 1e30, np.inf, np.nan], sample=[1e10, 2e30, 1.0, 1.0]))
        assert np.isfinite(far[:2]).all() and np.isnan(far[3])
        assert session.run(tf.raw_ops.RandomGammaGrad(alpha=1e10, sample=1e10)) == 1


def test_samples_of_gamma_that_are_huge_follow_alpha() -> None:
    """Far out the slope is log(sample) - digamma(alpha), though what it is computed from may be no normal number."""
    sample = np.array([1e17, 1e155, 1e200, 1e308])
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.raw_ops.RandomGammaGrad(alpha=np.ones(4), sample=sample))
    np.testing.assert_allclose(found, np.log(sample) + np.euler_gamma, rtol=1e-14)
