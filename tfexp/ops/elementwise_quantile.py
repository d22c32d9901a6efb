"""Inverses of the error function and of the standard normal distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core.op import Op, define_op
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.elementwise_special import error_function, error_function_complement
from tfexp.ops.elementwise_unary import exp, square
from tfexp.ops.shape_rules import shape_preserving

erfinv_op = define_op("Erfinv(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
ndtri_op = define_op("Ndtri(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")

_STEPS = 4  # of Halley's method, each of which triples the number of correct digits


def _lower_tail(p: np.ndarray) -> np.ndarray:
    """The x <= 0 with Phi(x) = p, for 0 < p <= 1/2.

    Begins with the rational approximation 26.2.23 of Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964),
    right to 4.5e-4. Halley's step for Phi uses that the second derivative is -x times the first.
    """
    t = np.sqrt(-2 * np.log(p))
    top = 2.515517 + t * (0.802853 + t * 0.010328)
    x = top / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t
    for _ in range(_STEPS):
        # (Phi(x) - p) / density(x), with the density where it does not underflow.
        newton = (0.5 * error_function_complement(-x / math.sqrt(2)) - p) * math.sqrt(2 * math.pi) * np.exp(x * x / 2)
        x = x - newton / (1 + x * newton / 2)
    return x


def inverse_normal(p: np.ndarray) -> np.ndarray:
    """The quantile function of the standard normal distribution in float64; nan outside [0, 1]."""
    inside = (p > 0) & (p < 1)
    upper = p > 0.5
    tail = _lower_tail(np.where(inside, np.where(upper, 1 - p, p), 0.5))
    result = np.where(upper, -tail, tail)
    return np.where(inside, result, np.where(p == 0, -np.inf, np.where(p == 1, np.inf, np.nan)))


def _inverse_erf(x: np.ndarray) -> np.ndarray:
    """The inverse of the error function in float64; nan outside [-1, 1]."""
    size = np.abs(x)
    near = size < 0.5
    # Around 0 by Halley's method on erf itself, which is precise there; elsewhere by the tail, where 1 - |x| is.
    target = np.where(near, x, 0.0)
    z = target * (math.sqrt(math.pi) / 2)
    for _ in range(_STEPS):
        newton = (error_function(z) - target) * (math.sqrt(math.pi) / 2) * np.exp(z * z)
        z = z - newton / (1 + z * newton)
    far = (size >= 0.5) & (size < 1)
    tail = -_lower_tail(np.where(far, (1 - size) / 2, 0.5)) / math.sqrt(2)
    outside = np.where(size == 1, np.inf, np.nan)
    return np.where(near, z, np.copysign(np.where(far, tail, outside), x))


def _attach(op: Op, function: Any) -> None:
    shape_preserving(op)

    @op.kernel("CPU")
    def _(ctx: Any, x: np.ndarray) -> np.ndarray:
        return np.asarray(function(np.asarray(x, np.float64))).astype(x.dtype)


_attach(erfinv_op, _inverse_erf)
_attach(ndtri_op, inverse_normal)


@erfinv_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    factor = constant(math.sqrt(math.pi) / 2, dtype=grad.dtype)
    with control_dependencies([grad]):
        return grad * factor * exp(square(op.outputs[0]))


@ndtri_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    factor = constant(math.sqrt(2 * math.pi), dtype=grad.dtype)
    with control_dependencies([grad]):
        return grad * factor * exp(square(op.outputs[0]) / 2.0)


def erfinv(x: Any, name: str | None = None) -> Tensor:
    """The inverse of `erf`. `tf.math.erfinv` of TensorFlow 2."""
    with name_scope(name, "erfinv", [x]):
        return erfinv_op(x)


def ndtri(x: Any, name: str | None = None) -> Tensor:
    """The quantile function of the standard normal distribution. `tf.math.ndtri` of TensorFlow 2."""
    with name_scope(name, "ndtri", [x]):
        return ndtri_op(x)
