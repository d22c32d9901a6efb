"""Gamma and Poisson numbers from a Philox stream, drawn as TensorFlow's kernels draw them.

Each value has 256 blocks of the stream to itself, so values do not depend on how many words their neighbours reject.
All of it is float64 arithmetic, rounded at the end. The draws of all values go on together, a step at a time, over
those that have not been accepted yet.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tfexp.ops.distributions import normal_from_words
from tfexp.ops.philox import RESERVED_PER_VALUE, Array, Philox, uniform_from_words

Doubles = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

# Poisson rates from here on are sampled by transformed rejection instead of multiplied uniforms.
_LARGE_RATE = 10.0


_log_gamma = np.frompyfunc(math.lgamma, 1, 1)


class _Draws:
    """For each value to be made, its own place in the stream, and what is left of the blocks it has opened.

    A block gives two normals or two uniforms. The second of the two is used first.
    """

    def __init__(self, stream: Philox, size: int) -> None:
        self._stream = stream
        self._next = np.arange(size, dtype=np.uint64) * np.uint64(RESERVED_PER_VALUE)
        self._normals, self._uniforms = np.empty((size, 2)), np.empty((size, 2))
        self._normals_left, self._uniforms_left = np.zeros(size, np.intp), np.zeros(size, np.intp)

    def normals(self, rows: Rows) -> Doubles:
        """One N(0, 1) number for each of these values."""
        empty = rows[self._normals_left[rows] == 0]
        self._normals[empty] = normal_from_words(self._open(empty), np.float64)
        self._normals_left[empty] = 2
        self._normals_left[rows] -= 1
        return self._normals[rows, self._normals_left[rows]]

    def uniforms(self, rows: Rows) -> Doubles:
        """One number in [0, 1) for each of these values."""
        empty = rows[self._uniforms_left[rows] == 0]
        self._uniforms[empty] = uniform_from_words(self._open(empty), np.float64)
        self._uniforms_left[empty] = 2
        self._uniforms_left[rows] -= 1
        return self._uniforms[rows, self._uniforms_left[rows]]

    def _open(self, rows: Rows) -> npt.NDArray[np.uint32]:
        words = self._stream.blocks_at(self._next[rows])
        self._next[rows] += np.uint64(1)
        return words


def gamma(stream: Philox, samples: int, alpha: Array) -> Doubles:
    """`samples` numbers from Gamma(alpha, 1) for each alpha of a 1-d array: [samples, len(alpha)]. TF: RandomGamma.

    Marsaglia, Tsang: "A simple method for generating gamma variables" (ACM TOMS 26, 2000); alpha < 1 is lifted to
    alpha + 1 and brought back by u ** (1 / alpha). Values run through the stream alpha by alpha. An alpha of zero gives
    zeros, a negative one or NaN gives NaN.
    """
    shape = np.repeat(alpha.astype(np.float64), samples)
    draws = _Draws(stream, len(shape))
    out = np.full(len(shape), np.nan)
    out[shape == 0] = 0.0
    exponential = np.flatnonzero(shape == 1)
    out[exponential] = -np.log1p(-draws.uniforms(exponential))

    rows = np.flatnonzero((shape > 0) & (shape != 1))
    small = shape < 1
    d = shape + small - 1 / 3
    c = 1 / (3 * np.sqrt(np.where(d > 0, d, 1.0)))
    while len(rows):
        x = draws.normals(rows)
        root = 1 + c[rows] * x
        possible = root > 0
        tried, x, v = rows[possible], x[possible], root[possible] ** 3
        u = draws.uniforms(tried)
        # The first test is a bound that is cheap and mostly settles it.
        accepted = u < 1 - 0.0331 * (x * x) * (x * x)
        with np.errstate(divide="ignore", invalid="ignore"):  # u may be 0, and alpha infinite
            accepted |= np.log(u) < 0.5 * x * x + d[tried] * (1 - v + np.log(v))
        done = tried[accepted]
        out[done] = d[done] * v[accepted]
        rows = np.setdiff1d(rows, done, assume_unique=True)
    lifted = np.flatnonzero((shape > 0) & small)
    out[lifted] *= draws.uniforms(lifted) ** (1 / shape[lifted])
    return out.reshape(len(alpha), samples).T


def poisson(stream: Philox, samples: int, rate: Array) -> Doubles:
    """`samples` numbers from Poisson(rate) for each rate of a 1-d array: [samples, len(rate)]. TF: RandomPoissonV2.

    Small rates: uniform numbers are multiplied until they fall below exp(-rate) (Knuth). Large ones: transformed
    rejection, Hörmann: "The transformed rejection method for generating Poisson random variables" (1993), algorithm
    PTRS. Values run through the stream rate by rate. A negative rate gives zero; one that is not finite, NaN.
    """
    rates = np.repeat(rate.astype(np.float64), samples)
    draws = _Draws(stream, len(rates))
    out = np.full(len(rates), np.nan)
    _poisson_small(draws, np.flatnonzero(rates < _LARGE_RATE), rates, out)
    _poisson_large(draws, np.flatnonzero((rates >= _LARGE_RATE) & np.isfinite(rates)), rates, out)
    return out.reshape(len(rate), samples).T


def _poisson_small(draws: _Draws, rows: Rows, rates: Doubles, out: Doubles) -> None:
    limit, product = np.exp(-rates[rows]), np.ones(len(rows))
    count = 0
    while len(rows):
        product = product * draws.uniforms(rows)
        done = product <= limit
        out[rows[done]] = count
        rows, limit, product = rows[~done], limit[~done], product[~done]
        count += 1


def _poisson_large(draws: _Draws, rows: Rows, rates: Doubles, out: Doubles) -> None:
    while len(rows):
        mu = rates[rows]
        # The constants are the article's fit of the hat function.
        b = 0.931 + 2.53 * np.sqrt(mu)
        a = -0.059 + 0.02483 * b
        inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
        u = draws.uniforms(rows) - 0.5
        v = draws.uniforms(rows)
        distance = 0.5 - np.abs(u)
        with np.errstate(divide="ignore", invalid="ignore"):
            k = np.floor((2 * a / distance + b) * u + mu + 0.43)
            quick = (distance >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))
            possible = ~quick & (k >= 0) & ~((distance < 0.013) & (v > distance))
            left = np.log(v * inverse_alpha / (a / (distance * distance) + b))
        right = np.full(len(rows), -np.inf)
        held = k[possible]
        right[possible] = held * np.log(mu[possible]) - mu[possible] - _log_gamma(held + 1).astype(np.float64)
        accepted = quick | (possible & (left <= right))
        out[rows[accepted]] = k[accepted]
        rows = rows[~accepted]
