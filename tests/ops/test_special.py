"""Rows of the special functions: incomplete gamma and beta, Bessel, quantiles, running log-sum-exp.

Figures come from TensorFlow (2.21), or from another formula than the kernels use.
"""

from __future__ import annotations

import math

import numpy as np

import tfexp as tf
from tests.ops.harness import Error, Like, OpCase, op_tests
from tfexp.core.errors import InvalidArgumentError

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
    OpCase("Igamma", [(2, 3), (3,)], typed(lower), low=1.0, high=6.0, dtypes=FLOATS, gradient=[1], errors=BROADCAST),
    OpCase("Igamma", [(2, 3), (3,)], typed(lower), low=1.0, high=6.0, second=False, dtypes=["float64"], label="a"),
    OpCase("Igamma", [ODD_A, ODD_X], np.float32([0, NAN, 0, 1, NAN, NAN, 0, 0, NAN, NAN, 1, 1.1283793e-15]), label="odd"),
    OpCase(
        "Igamma",
        [np.float64([30, 200, 1e4, 1e5]), np.float64([25, 205, 1e4, 1e5 + 10])],
        np.float64([0.18210392, 0.64586246, 0.50132981, 0.51303344]),
        dtypes=["float64"],
        tolerance=1e-8,
        label="large",
    ),
    OpCase("Igammac", [(2, 3), (3,)], typed(lambda a, x: 1 - lower(a, x)), low=1.0, high=6.0, second=False, dtypes=FLOATS),
    OpCase("Igammac", [ODD_A, ODD_X], np.float32([NAN, NAN, 1, 0, NAN, NAN, 1, 1, NAN, NAN, 0, 1]), label="odd"),
    OpCase("Igammac", [np.float64([3.0]), np.float64([100.0])], np.exp(-100.0) * np.float64([5101.0]), label="tail"),
    OpCase(
        "IgammaGradA",
        [(2, 3), (2, 3)],
        typed(lower_slope),
        low=1.0,
        high=6.0,
        gradient=(),
        dtypes=DOUBLES,
        tolerance=1e-6,
        errors=BROADCAST,
    ),
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
    OpCase(
        "Betainc",
        [Like(np.linspace(1, 5, 6).reshape(2, 3)), Like(np.linspace(4, 1, 6).reshape(2, 3)), (2, 3)],
        typed(beta_integral),
        low=0.05,
        high=0.95,
        dtypes=DOUBLES,
        tolerance=1e-6,
        errors=[Error([(2, 3), (2, 3), (5,)], ValueError, "Shapes must be equal rank, but are 2 and 1")],
    ),
    OpCase(
        "Betainc",
        [
            Like([0, 1, 1, 1, 1, 1, INF, 2, -1, INF, NAN, 0, -1]),
            Like([1, 0, 1, 1, 1, 1, 1, INF, 2, 1, INF, 1, NAN]),
            Like([0.5, 0.5, 0, 1, -1, 2, 0.5, 0.5, 0.5, 0, 1, 1, 0]),
        ],
        np.float32([NAN, NAN, 0, 1, NAN, NAN, NAN, NAN, NAN, 0, 1, NAN, NAN]),
        label="odd",
    ),
    OpCase("BesselI0", [(2, 3, 5)], bessel(0), dtypes=FLOATS, errors=NO_INTEGERS),
    OpCase("BesselI0e", [(2, 3, 5)], bessel(0, True), low=0.1, dtypes=FLOATS, errors=NO_INTEGERS),
    OpCase("BesselI1", [(2, 3, 5)], bessel(1), low=0.1, dtypes=FLOATS, errors=NO_INTEGERS),
    OpCase("BesselI1e", [(2, 3, 5)], bessel(1, True), high=-0.1, dtypes=FLOATS, errors=NO_INTEGERS),
    OpCase("BesselI0e", [Like([29, 31, -40, 60])], bessel(0, True), dtypes=["float64"], label="far"),
    OpCase("BesselI1e", [Like([29, 31, -40, 60])], bessel(1, True), dtypes=["float64"], label="far"),
    OpCase("BesselI1", [np.float32([INF, -INF, 800, 0, -800, NAN])], np.float32([NAN, NAN, INF, 0, -INF, NAN]), label="odd"),
    OpCase("Erfinv", [(2, 3, 5)], typed(erf_inverse), low=-0.95, high=0.95, dtypes=DOUBLES, errors=NO_INTEGERS),
    OpCase("Erfinv", [np.float64([1, -1, 2, NAN, 1e-300])], np.float64([INF, -INF, NAN, NAN, 8.86226925452758e-301])),
    OpCase(
        "Ndtri",
        [(2, 3, 5)],
        typed(lambda p: math.sqrt(2) * erf_inverse(2 * p.astype(np.float64) - 1)),
        low=0.05,
        high=0.95,
        dtypes=DOUBLES,
        errors=NO_INTEGERS,
    ),
    OpCase(
        "Ndtri",
        [np.float64([0, 1, 2, -1, NAN, 1e-300])],
        np.float64([-INF, INF, NAN, NAN, NAN, -37.0470963]),
        tolerance=1e-8,
    ),
    OpCase("Xlog1py", [(2, 3), (3,)], lambda x, y: x * np.log(1 + y), low=0.1, dtypes=DOUBLES, errors=BROADCAST),
    OpCase("Xlog1py", [np.float32([0, 0]), np.float32([-1, -2])], np.float32([0, 0]), label="zero"),
    OpCase("CumulativeLogsumexp", [(2, 3, 5), np.int32(1)], running, dtypes=FLOATS, second=False),
    OpCase(
        "CumulativeLogsumexp",
        [(2, 3, 5), np.int32(-1)],
        running_reverse_exclusive,
        attrs={"exclusive": True, "reverse": True},
        dtypes=DOUBLES,
        gradient=(),
        numeric=False,
        tolerance=1e-5,
        label="reverse",
        errors=[Error([(2, 3), np.int32(2)], InvalidArgumentError, "Expected scan axis in the range [-2, 2), but got 2")],
    ),
    OpCase(
        "CumulativeLogsumexp", [np.float32([-INF, 1, 2, -INF]), np.int32(0)], np.float32([-INF, 1, 2.3132617, 2.3132617])
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


def test_reciprocal_no_nan() -> None:
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.math.reciprocal_no_nan([2.0, 0.0, -4.0])), [0.5, 0, -0.25])


def test_incomplete_gamma_ends_everywhere() -> None:
    """Its fraction is over where only rounding moves it, wherever that is: x this dense finds the places."""
    x = np.linspace(3.6, 60, 60001)
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(tf.igamma(np.float64(2.5), x))
    # Once by parts after another, down to P(1/2, x) = erf(sqrt(x)).
    wanted = np.array([math.erf(math.sqrt(v)) for v in x])
    for a in (0.5, 1.5):
        wanted -= x**a * np.exp(-x) / math.gamma(a + 1)
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)


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
        assert (session.run(tf.igamma(np.ones(4), sample)) == 1).all()
    np.testing.assert_allclose(found, np.log(sample) + np.euler_gamma, rtol=1e-14)
