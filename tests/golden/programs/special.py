"""Special functions: nodes, values, gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values


@program("O1: igamma, igammac, betainc, Bessel functions, quantiles, running log-sum-exp")
def special(tf: Any) -> Outcome:
    a = tf.placeholder(tf.float64, [2, 3], name="a")
    x = tf.placeholder(tf.float64, [3], name="x")
    b = tf.placeholder(tf.float64, [2, 3], name="b")
    p = tf.placeholder(tf.float64, [2, 3], name="p")
    m = tf.math
    made = [tf.igamma(a, x), tf.igammac(a, x), tf.betainc(a, b, p), m.reciprocal_no_nan(a)]
    made += [f(a) for f in (m.bessel_i0, m.bessel_i0e, m.bessel_i1, m.bessel_i1e)]
    made += [m.erfinv(p), m.ndtri(p), m.cumulative_logsumexp(a, axis=1), m.cumulative_logsumexp(b, reverse=True)]
    for y in list(made):
        made += [g for g in tf.gradients(y, [a, b, x, p]) if g is not None]
    feeds = {
        a: 1 + np.abs(values("a", 2, 3)).astype(np.float64),
        b: 2 + np.abs(values("b", 2, 3)).astype(np.float64),
        x: 1 + np.abs(values("x", 3)).astype(np.float64),
        p: np.array([[0.1, 0.2, 0.4], [0.5, 0.7, 0.9]]),
    }
    return runs(Run(made, feeds, rtol=1e-9, atol=1e-12))


@program("O1: the gradient of random_gamma")
def random_gamma(tf: Any) -> None:
    alpha = tf.placeholder(tf.float32, [2, 3], name="alpha")
    tf.gradients(tf.random_gamma([5, 7], alpha, seed=1), [alpha])
