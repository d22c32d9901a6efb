"""The modified Bessel functions of the first kind, of orders 0 and 1, also scaled by exp(-|x|)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core.op import Op, define_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_mask, cast, comparison, elementwise_division, elementwise_unary
from tfexp.ops.shape_rules import shape_preserving

bessel_i0_op = define_op("BesselI0(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
bessel_i0e_op = define_op("BesselI0e(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
bessel_i1_op = define_op("BesselI1(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")
bessel_i1e_op = define_op("BesselI1e(x: T) -> (y: T) {T: type in [bfloat16,half,float,double]}")

_EPSILON = float(np.finfo(np.float64).eps)
_FAR = 30.0  # from here on the asymptotic series is right to double precision


def _power_series(order: int, x: np.ndarray) -> np.ndarray:
    """I_order(x) by DLMF 10.25.2, whose terms are all of one sign."""
    quarter = x * x / 4
    term = np.where(order == 0, 1.0, x / 2)
    total = term.copy()
    k = 0
    while np.any(np.abs(term) > _EPSILON * np.abs(total)):
        k += 1
        term = term * quarter / (k * (k + order))
        total += term
    return total


def _far_series(order: int, x: np.ndarray) -> np.ndarray:
    """exp(-x) I_order(x) for x >= 30 by DLMF 10.40.1."""
    term = np.ones_like(x)
    total = term.copy()
    for k in range(1, int(_FAR)):
        term = term * -(4 * order * order - (2 * k - 1) ** 2) / (8 * k * x)
        total += term
    return total / np.sqrt(2 * math.pi * x)


def _scaled(order: int, x: np.ndarray) -> np.ndarray:
    """exp(-|x|) I_order(x)."""
    size = np.abs(x)
    near = size < _FAR
    small, large = np.where(near, size, 0.0), np.where(near, _FAR, size)
    result = np.where(near, np.exp(-small) * _power_series(order, small), _far_series(order, large))
    return result * np.sign(x) if order else result


def _unscaled(order: int, x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    # In two steps, so that what overflows is the result alone. Infinity times 0, at infinity, is nan, as in TensorFlow.
    half = np.exp(size / 2)
    with np.errstate(invalid="ignore"):
        result = _scaled(order, size) * half * half
    return result * np.sign(x) if order else result


def _attach(op: Op, order: int, scaled: bool) -> None:
    shape_preserving(op)
    function = _scaled if scaled else _unscaled

    @op.kernel("CPU")
    def _(ctx: Any, x: np.ndarray) -> np.ndarray:
        return np.asarray(function(order, np.asarray(x, np.float64))).astype(x.dtype)


_attach(bessel_i0_op, 0, scaled=False)
_attach(bessel_i0e_op, 0, scaled=True)
_attach(bessel_i1_op, 1, scaled=False)
_attach(bessel_i1e_op, 1, scaled=True)


@bessel_i0_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * bessel_i1(op.inputs[0])


@bessel_i0e_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        return grad * (bessel_i1e(x) - elementwise_unary.sign(x) * y)


@bessel_i1_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # I1' = I0 - I1 / x, which is 1 at 0, as TensorFlow has it (the limit is 1/2).
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        zero = comparison.equal(x, 0.0)
        at_zero = cast.cast(1.0, x.dtype)
        return grad * array_mask.where_v2(zero, at_zero, bessel_i0(x) - elementwise_division.div(y, x))


@bessel_i1e_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        zero = comparison.equal(x, 0.0)
        at_zero = cast.cast(0.5, x.dtype)
        slope = bessel_i0e(x) - y * (elementwise_unary.sign(x) + elementwise_unary.reciprocal(x))
        return grad * array_mask.where_v2(zero, at_zero, slope)


def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """I0(x). `tf.math.bessel_i0`."""
    with name_scope(name, "bessel_i0", [x]):
        return bessel_i0_op(x)


def bessel_i0e(x: Any, name: str | None = None) -> Tensor:
    """exp(-|x|) I0(x). `tf.math.bessel_i0e`."""
    with name_scope(name, "bessel_i0e", [x]):
        return bessel_i0e_op(x)


def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """I1(x). `tf.math.bessel_i1`."""
    with name_scope(name, "bessel_i1", [x]):
        return bessel_i1_op(x)


def bessel_i1e(x: Any, name: str | None = None) -> Tensor:
    """exp(-|x|) I1(x). `tf.math.bessel_i1e`."""
    with name_scope(name, "bessel_i1e", [x]):
        return bessel_i1e_op(x)
