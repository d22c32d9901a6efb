"""Statistics that the tests of random ops ask for: `tensorflow.python.kernel_tests.random.util`. Source: TF 1.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def test_moment_matching(samples: Any, number_moments: int, dist: Any, stride: int = 0) -> list[float]:
    """For each moment from the first how many standard errors that of the samples is away from `dist.moment(order)`.

    stride: only each so-many-th sample counts, against correlation of neighbours; 0: all do.
    """
    flat = np.ravel(np.asarray(samples, np.float64))[:: max(stride, 1)]
    flat = flat[~np.isnan(flat)]
    found = []
    for order in range(1, number_moments + 1):
        expected, second = dist.moment(order), dist.moment(2 * order)
        error = math.sqrt(max(second - expected * expected, 0.0) / len(flat))
        found.append(abs(np.mean(flat**order) - expected) / error if error else 0.0)
    return found


test_moment_matching.__test__ = False  # type: ignore[attr-defined]  # pytest shall not take it for a test


def chi_squared(x: Any, bins: int) -> float:
    """Pearson's statistic of samples of [0, 1) being uniform, over so many equal bins."""
    x = np.ravel(x)
    counts, _ = np.histogram(x, bins=bins, range=(0, 1))
    expected = len(x) / bins
    return float(((counts - expected) ** 2).sum() / expected)


def normal_cdf(x: Any) -> Any:
    """P(X <= x) of the standard normal distribution."""
    return 0.5 * np.vectorize(math.erfc, otypes=[np.float64])(-np.asarray(x, np.float64) / math.sqrt(2))


def anderson_darling(x: Any) -> float:
    """Anderson and Darling's statistic of samples being of the standard normal distribution."""
    ordered = np.sort(np.ravel(x))
    count = len(ordered)
    cumulative = np.log(normal_cdf(ordered)) + np.log(1 - normal_cdf(ordered))[::-1]
    return float(-count - ((2 * np.arange(1, count + 1) - 1) / count * cumulative).sum())


def test_truncated_normal(
    assert_equal: Any,
    assert_all_close: Any,
    n: int,
    y: Any,
    mean_atol: float = 5e-4,
    median_atol: float = 8e-4,
    variance_rtol: float = 1e-3,
) -> None:
    """Check the number, the bounds, the mean, the median and the variance of normal samples cut at 2 deviations."""
    y = np.asarray(y, np.float64)
    assert_equal(y.shape, (n,))
    assert_equal(bool((np.abs(y) <= 2).all()), True)
    density = math.exp(-2) / math.sqrt(2 * math.pi)
    inside = float(normal_cdf(2) - normal_cdf(-2))
    assert_all_close(y.mean(), 0, atol=mean_atol)
    assert_all_close(np.median(y), 0, atol=median_atol)
    assert_all_close(y.var(), 1 - 4 * density / inside, rtol=variance_rtol)


test_truncated_normal.__test__ = False  # type: ignore[attr-defined]
