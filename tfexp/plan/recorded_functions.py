"""Exponentials in single precision as arithmetic, of which compilers make vectors; a library's function is called for each
element by itself. Results are within two units in the last place; NaN, infinities and zeros are as IEEE has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Function = Callable[[Any, Callable[[Any], Any]], Any]
"""Of a stand-in for numbers of single precision, and of what gives 2**n for a stand-in for small whole numbers n."""

# exp(x) = 2**n exp(r) with |r| <= log(2) / 2. The high part of log(2) has so few bits that its product with n is exact.
_LOG2_HIGH = 355 / 512
_LOG2_LOW = math.log(2) - _LOG2_HIGH
_OVERFLOW, _UNDERFLOW = 89.0, -104.0  # beyond these, results are inf and 0
# Polynomials fitted at Chebyshev's points: (exp(r) - 1 - r) / r**2 for |r| <= log(2) / 2, and, in z = x**2,
# (tanh(x) / x - 1) / z for |x| <= 5 / 8.
_EXP = (0.500000001429109, 0.16666573358081632, 0.041666456777913405, 0.008363776466632068, 0.0013934544520738292)
_TANH = (-0.3333332909909477, 0.13332782246164396, -0.05385249582522912, 0.02100363561159769, -0.006104941629243274)
_TANH_LIMIT = 0.625


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = value * x + coefficient
    return value


def exp(x: Any, power_of_two: Callable[[Any], Any]) -> Any:
    # A NaN is out of bounds, too: only numbers are rounded to integers.
    bounded = np.where(x > _UNDERFLOW, np.where(x < _OVERFLOW, x, _OVERFLOW), _UNDERFLOW)
    n = np.floor(bounded * math.log2(math.e) + 0.5)
    r = bounded - n * _LOG2_HIGH - n * _LOG2_LOW
    fraction = _polynomial(_EXP, r) * (r * r) + r + 1.0
    # In two factors, as 2**n itself may be too large or too small.
    half = np.floor(n * 0.5)
    return np.where(np.isnan(x), x, fraction * power_of_two(half) * power_of_two(n - half))


def tanh(x: Any, power_of_two: Callable[[Any], Any]) -> Any:
    size, square = np.absolute(x), np.square(x)
    far = 1.0 - 2.0 / (exp(size * 2.0, power_of_two) + 1.0)
    near = x * (_polynomial(_TANH, square) * square + 1.0)
    return np.where(size > _TANH_LIMIT, np.where(x > 0.0, far, -far), near)


FUNCTIONS: dict[str, Function] = {"exp": exp, "tanh": tanh}
"""By NumPy's names."""
