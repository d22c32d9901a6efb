"""The regularised incomplete gamma function's slope in its parameter, in float64, on whole arrays: no ops."""

from __future__ import annotations

import numpy as np

from tfexp.ops.elementwise_special import psi

_EPSILON = float(np.finfo(np.float64).eps)
_TINY = 1e-300  # what a vanishing denominator of a continued fraction is replaced by (Lentz)
# Numbers above it may have reciprocals that are no normal numbers, which kernels take for 0.
_HUGE = 1e300

_MANY = 1e7


def gamma_series(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S = sum of x^n / ((a + 1) … (a + n)) and dS/da, with P(a, x) = gamma_ratio(a, x) S (DLMF 8.11.4). For x <= a + 1."""
    term, slope = np.ones_like(x), np.zeros_like(x)
    total, total_slope = term.copy(), slope.copy()
    n = 0
    while True:
        n += 1
        slope = (slope - term / (a + n)) * (x / (a + n))
        term = term * (x / (a + n))
        total += term
        total_slope += slope
        if not np.any((term > _EPSILON * total) | (np.abs(slope) > _EPSILON * np.abs(total_slope))):
            return total, total_slope


def gamma_fraction(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """F and dF/da, with Q(a, x) = a gamma_ratio(a, x) F. For x > a + 1.

    The continued fraction DLMF 8.9.2, evaluated forwards (Lentz's method as modified by Thompson and Barnett, J. Comput.
    Phys. 64, 1986), each step being differentiated with respect to a. The derivatives of c and d are kept relative to them,
    since the square of a small d may be 0.
    """
    b = x + 1 - a
    c, c_log_slope = np.full_like(x, 1 / _TINY), np.zeros_like(x)
    d = 1 / b
    d_log_slope = d.copy()
    value, log_slope = d.copy(), d.copy()
    n = 0
    while True:
        n += 1
        b = b + 2
        numerator = n * (a - n)
        denominator = b + numerator * d
        denominator_slope = -1 + (n + numerator * d_log_slope) * d
        d = 1 / np.where(np.abs(denominator) < _TINY, _TINY, denominator)
        d_log_slope = -d * denominator_slope
        c_slope = -1 + (n - numerator * c_log_slope) / c
        c = b + numerator / c
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        c_log_slope = c_slope / c
        step = c * d
        step_slope = c_log_slope + d_log_slope
        value = value * step
        log_slope = log_slope + step_slope
        # Both differ from 1 and 0 for good by what rounding leaves of their factors and terms.
        rest = np.abs(log_slope) + np.abs(c_log_slope)
        if not np.any((np.abs(step - 1) > 4 * _EPSILON) | (np.abs(step_slope) > 4 * _EPSILON * rest)):
            return value, value * log_slope


def _defined(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (a > 0) & (x >= 0)


def _branches(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the series is used, and where the fraction. Beyond `_HUGE` nothing of Q is left."""
    inside = _defined(a, x) & (x > 0) & np.isfinite(x) & np.isfinite(a)
    return inside & (x <= a + 1), inside & (x > a + 1) & (x <= _HUGE)


def _scaled_slope(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(dP/da) / gamma_ratio(a, x), for x > 0; nan where P is not defined, 0 for x = inf."""
    result = np.where(_defined(a, x) | (x == 0), 0.0, np.nan)
    by_series, by_fraction = _branches(a, x)
    if by_series.any():
        a_near, x_near = a[by_series], x[by_series]
        value, slope = gamma_series(a_near, x_near)
        result[by_series] = value * (np.log(x_near) - psi(a_near + 1)) + slope
    if by_fraction.any():
        a_far, x_far = a[by_fraction], x[by_fraction]
        value, slope = gamma_fraction(a_far, x_far)
        result[by_fraction] = -a_far * (value * (np.log(x_far) - psi(a_far)) + slope)
    return result


def gamma_sample_slope(a: np.ndarray, sample: np.ndarray) -> np.ndarray:
    """How a sample of Gamma(a, 1) moves with a, its quantile being held: -(dP/da) / (dP/dx).

    Implicit differentiation, as in Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients" (2018). dP/dx is
    gamma_ratio a / x, so that the ratio cancels, and nothing underflows.

    The series and the fraction would take some sqrt(a) terms where the sample is near a. From `_MANY` on the cube root of
    sample / a is taken for normal there (Wilson and Hilferty, 1931), and the quantile of that is held. Beyond `_HUGE` the
    fraction is its first term.
    """
    a, sample = np.broadcast_arrays(a, sample)
    near = (a > _MANY) & np.isfinite(a) & (np.abs(sample - a) < 0.01 * a)
    far = (a > 0) & (sample > np.maximum(a + 1, _HUGE)) & np.isfinite(sample) & ~near
    result = np.asarray(-_scaled_slope(np.where(near, 1.0, a), np.where(near, 1.0, sample)) * sample / a)
    result[far] = np.log(sample[far]) - psi(a[far])
    large, ratio = a[near], sample[near] / a[near]
    root = np.cbrt(ratio)
    result[near] = ratio + root * root * (1 / (3 * large) - 1.5 * (root - 1 + 1 / (9 * large)))
    return result
