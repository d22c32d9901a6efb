"""The regularised incomplete gamma and beta functions, in float64, on whole arrays: values and derivatives, no ops."""

from __future__ import annotations

import math

import numpy as np

from tfexp.ops.elementwise_special import log_gamma, psi

_EPSILON = float(np.finfo(np.float64).eps)
_TINY = 1e-300  # what a vanishing denominator of a continued fraction is replaced by (Lentz)
# Numbers above it may have reciprocals that are no normal numbers, which kernels take for 0.
_HUGE = 1e300

_MANY = 1e7


def gamma_ratio(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """x^a e^-x / Gamma(a + 1), for a, x > 0.

    From 10 on by Stirling's series (DLMF 5.11.1), with the large terms of the exponent cancelled beforehand.
    """
    with np.errstate(all="ignore"):
        far = a >= 10
        small = np.where(far, 1.0, a)
        direct = np.exp(small * np.log(x) - x - log_gamma(small + 1))
        large = np.where(far, a, 10.0)
        off = (x - large) / large
        inverse = 1 / (large * large)
        series = 1 / 12 - inverse * (1 / 360 - inverse * (1 / 1260 - inverse * (1 / 1680 - inverse / 1188)))
        stirling = np.exp(large * (np.log1p(off) - off) - series / large) / np.sqrt(2 * math.pi * large)
        return np.asarray(np.where(far, stirling, direct))


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


def lower_gamma(a: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(P, Q): the regularised lower and upper incomplete gamma functions. nan for a <= 0 or x < 0, but P(a, 0) = 0."""
    a, x = np.broadcast_arrays(a, x)
    defined = _defined(a, x)
    p = np.where(defined | (x == 0), np.where((x == 0) | np.isinf(a), 0.0, 1.0), np.nan)
    q = np.where(defined, 1 - p, np.nan)
    by_series, by_fraction = _branches(a, x)
    if by_series.any():
        a_near, x_near = a[by_series], x[by_series]
        p[by_series] = np.minimum(gamma_ratio(a_near, x_near) * gamma_series(a_near, x_near)[0], 1)
        q[by_series] = 1 - p[by_series]
    if by_fraction.any():
        a_far, x_far = a[by_fraction], x[by_fraction]
        q[by_fraction] = gamma_ratio(a_far, x_far) * a_far * gamma_fraction(a_far, x_far)[0]
        p[by_fraction] = 1 - q[by_fraction]
    return p, q


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


def lower_gamma_slope(a: np.ndarray, x: np.ndarray) -> np.ndarray:
    """dP(a, x)/da."""
    a, x = np.broadcast_arrays(a, x)
    inside = np.logical_or(*_branches(a, x))
    ratio = gamma_ratio(np.where(inside, a, 1.0), np.where(inside, x, 1.0))
    return _scaled_slope(a, x) * ratio


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


def _beta_fraction(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The continued fraction of I_x(a, b) (DLMF 8.17.22), for x < (a + 1) / (a + b + 2), by Lentz's method."""

    def guarded(value: np.ndarray) -> np.ndarray:
        return np.where(np.abs(value) < _TINY, _TINY, value)

    c = np.ones_like(x)
    d = 1 / guarded(1 - (a + b) * x / (a + 1))
    value = d.copy()
    m = 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / guarded(1 + even * d)
        c = guarded(1 + even / c)
        value = value * c * d
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / guarded(1 + odd * d)
        c = guarded(1 + odd / c)
        step = c * d
        value = value * step
        if not np.any(np.abs(step - 1) > 2 * _EPSILON):
            return value


def incomplete_beta(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """I_x(a, b), the regularised incomplete beta function. nan unless a, b > 0 are finite and 0 <= x <= 1.

    At 0 and 1, which take no computation, a and b may be infinite or nan.
    """
    a, b, x = np.broadcast_arrays(a, b, x)
    result = np.where((a <= 0) | (b <= 0) | ((x != 0) & (x != 1)), np.nan, x)
    inside = (a > 0) & (b > 0) & np.isfinite(a) & np.isfinite(b) & (x > 0) & (x < 1)
    if inside.any():
        a, b, x = a[inside], b[inside], x[inside]
        swapped = x >= (a + 1) / (a + b + 2)  # I_x(a, b) = 1 - I_(1-x)(b, a)
        p, q, y = np.where(swapped, b, a), np.where(swapped, a, b), np.where(swapped, 1 - x, x)
        log_beta = log_gamma(p) + log_gamma(q) - log_gamma(p + q)
        front = np.exp(p * np.log(y) + q * np.log1p(-y) - log_beta) / p
        value = front * _beta_fraction(p, q, y)
        result[inside] = np.where(swapped, 1 - value, value)
    return result
