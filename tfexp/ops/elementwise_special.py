"""Special functions: the error function, and the gamma function's logarithm and its derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, complex_numbers, elementwise_unary, reduce
from tfexp.ops.broadcast import summed_gradients
from tfexp.ops.shape_rules import broadcasting, shape_preserving

# --- the error function -------------------------------------------------------------------------------------------

erf = define_op("Erf(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
erfc = define_op("Erfc(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")

# NumPy has neither; Python's own are right to the last bits, one element at a time: 30 times as slow as what stands below.
_erf_each = np.frompyfunc(math.erf, 1, 1)
_erfc_each = np.frompyfunc(math.erfc, 1, 1)


def _each(function: np.ufunc, x: np.ndarray) -> np.ndarray:
    return np.asarray(function(np.asarray(x, np.float64))).astype(x.dtype)


# erf(x) / x as a ratio of polynomials in x^2, to 1e-11 for |x| < 4, beyond which a float's erf is 1. They are a fit by least
# squares, weighted until the error was even.
_ERF_UPPER = (
    *(1.1283791670861472, 0.2003465123366113, 0.058118830209908393, 0.0049622900381295484),
    *(5.130495566385688e-4, 2.1787963490512424e-5, 7.5278490984296509e-7, 3.0046732242649246e-9),
)
_ERF_LOWER = (
    *(1.0, 0.51088580655145421, 0.1218017448053749, 0.017719227095555828),
    *(1.7152537325736187e-3, 1.1151799516001972e-4, 4.5191961175825123e-6, 7.3297567973735421e-8),
)
_ERF_IS_ONE = 4.0


def _erf_of_floats(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """erf of anything shorter than float64: the nearest number but for one in ten thousand, which is next to it."""
    within = np.clip(np.asarray(x, np.float64), -_ERF_IS_ONE, _ERF_IS_ONE)
    square = within * within
    ratio = _polynomial(_ERF_UPPER, square)
    ratio /= _polynomial(_ERF_LOWER, square)
    ratio *= within
    if out is None:
        return ratio.astype(x.dtype)
    out[...] = ratio
    return out


def _polynomial(coefficients: Sequence[float], x: np.ndarray) -> np.ndarray:
    """Their sum, times 1, x, x^2, …, by Horner's rule."""
    result = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        result *= x
        result += coefficient
    return result


@erf.kernel("CPU")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _each(_erf_each, x) if x.dtype == np.float64 else _erf_of_floats(x)


@erf.bind
def _(node: BindRequest) -> Call | None:
    return None if node.input_dtypes[0] == dtypes.float64 else Call(_erf_of_floats, out=True, elementwise=True)


@erfc.kernel("CPU")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _each(_erfc_each, x)


erf.kernel("XLA")(lambda jax, x: jax.scipy.special.erf(x.traced))
erfc.kernel("XLA")(lambda jax, x: jax.scipy.special.erfc(x.traced))
shape_preserving(erf)
shape_preserving(erfc)


@erf.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return _gauss(op.inputs[0], grad, 2 / math.sqrt(math.pi))


@erfc.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return _gauss(op.inputs[0], grad, -2 / math.sqrt(math.pi))


def _gauss(x: Tensor, grad: Tensor, factor: float) -> Tensor:
    """grad * factor * exp(-x^2)"""
    scale = constant(factor, dtype=grad.dtype)
    with control_dependencies([grad]):
        return grad * scale * elementwise_unary.exp(-elementwise_unary.square(complex_numbers.conj(x)))


# --- the gamma function -------------------------------------------------------------------------------------------

lgamma = define_op("Lgamma(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
shape_preserving(lgamma)


def _log_gamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf  # a pole, or a limit
    try:
        return math.lgamma(x)
    except OverflowError:
        return math.inf


_lgamma_each = np.frompyfunc(_log_gamma, 1, 1)


@lgamma.kernel("CPU")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _each(_lgamma_each, x)


@lgamma.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * digamma(complex_numbers.conj(op.inputs[0]))


digamma = define_op("Digamma(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
shape_preserving(digamma)

# Bernoulli numbers B2, B4, …, of the asymptotic series below.
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_FAR = 10.0  # from here on the series are right to double precision


def psi(x: np.ndarray) -> np.ndarray:
    """digamma for float64: reflected to positive x, moved up by psi(x) = psi(x + 1) - 1/x, then the asymptotic series."""
    reflected = x <= 0
    z = np.where(reflected, 1 - x, x)
    result = np.zeros_like(z)
    while np.any(near := z < _FAR):
        result -= np.divide(1, z, out=np.zeros_like(z), where=near)
        z = np.where(near, z + 1, z)
    inverse = 1 / (z * z)
    tail = np.zeros_like(z)
    for k in range(len(_BERNOULLI), 0, -1):
        tail = inverse * (_BERNOULLI[k - 1] / (2 * k) + tail)
    result += np.log(z) - 0.5 / z - tail
    result = np.where(reflected, result - math.pi / np.tan(math.pi * x), result)
    # Poles at 0, -1, -2, …, of which TensorFlow 1.15 takes the positive side.
    return np.where(reflected & (x == np.floor(x)), np.inf, result)


@digamma.kernel("CPU")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return psi(np.asarray(x, np.float64)).astype(x.dtype)


@digamma.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        x = complex_numbers.conj(op.inputs[0])
        return grad * polygamma(constant(1, dtype=x.dtype), x)


def _hurwitz_zeta(s: np.ndarray, q: np.ndarray) -> np.ndarray:
    """sum over k >= 0 of (q + k)^-s, by Euler-Maclaurin, in float64. nan for s < 1, inf for s = 1."""
    s, q = np.broadcast_arrays(s, q)
    total = np.zeros(s.shape)
    terms = 12
    for k in range(terms):
        total += np.power(q + k, -s)
    end = q + terms
    total += np.power(end, 1 - s) / (s - 1) + 0.5 * np.power(end, -s)
    # The k-th correction: B_2k / (2k)! s (s + 1) … (s + 2k - 2) end^(-s - 2k + 1).
    rising = s * np.power(end, -s - 1)
    factorial = 2.0
    for k, bernoulli in enumerate(_BERNOULLI, 1):
        total += bernoulli / factorial * rising
        rising = rising * (s + 2 * k - 1) * (s + 2 * k) / (end * end)
        factorial *= (2 * k + 1) * (2 * k + 2)
    pole = (q <= 0) & (q == np.floor(q))
    undefined = (s < 1) | ((q <= 0) & ~pole & (s != np.floor(s)))
    # In the limit the first term decides, and of a large q nothing is left.
    with np.errstate(all="ignore"):
        limit = np.where(np.isnan(q), np.nan, np.where(q > 1, 0, np.where(q == 1, 1, np.inf)))
    total = np.where(s == np.inf, limit, np.where(q == np.inf, 0, total))
    undefined &= s != np.inf
    return np.where((s == 1) | (pole & (s >= 1)), np.inf, np.where(undefined, np.nan, total))


polygamma = define_op("Polygamma(a: T, x: T) -> (z: T) {T: type in [float,double]}")
broadcasting(polygamma)


def _polygamma(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The n-th derivative of digamma, (-1)^(n+1) n! zeta(n + 1, x), in float64."""
    factorial = np.exp(np.asarray(_lgamma_each(n + 1)).astype(np.float64))
    sign = np.where(np.fmod(n, 2) == 0, -1.0, 1.0)
    result = np.where(n == 0, psi(np.broadcast_arrays(x, n)[0]), sign * factorial * _hurwitz_zeta(n + 1, x))
    return np.where((n < 0) | (n != np.floor(n)), np.nan, result)


@polygamma.kernel("CPU")
def _(ctx: Any, a: np.ndarray, x: np.ndarray) -> np.ndarray:
    return _polygamma(np.asarray(a, np.float64), np.asarray(x, np.float64)).astype(x.dtype)


@polygamma.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    n, x = op.inputs
    _, shape_x, axes = summed_gradients(n, x)
    with control_dependencies([grad]):
        n, x = complex_numbers.conj(n), complex_numbers.conj(x)
        partial_x = polygamma(n + 1, x)
        return [None, array.reshape(reduce.reduce_sum(partial_x * grad, axes[1]), shape_x)]
