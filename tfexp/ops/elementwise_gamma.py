"""The incomplete gamma and beta functions: ops, gradients, and how samples of Gamma follow its parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, incomplete_gamma, reduce
from tfexp.ops.broadcast import broadcast_gradient_args, summed_gradients
from tfexp.ops.elementwise_division import xlog1py, xlogy
from tfexp.ops.elementwise_special import lgamma
from tfexp.ops.elementwise_unary import exp, log, neg
from tfexp.ops.random_gamma import random_gamma_op
from tfexp.ops.shape_rules import broadcasting

igamma_op = define_op("Igamma(a: T, x: T) -> (z: T) {T: type in [bfloat16,half,float,double]}")
igammac_op = define_op("Igammac(a: T, x: T) -> (z: T) {T: type in [bfloat16,half,float,double]}")
igamma_grad_a = define_op("IgammaGradA(a: T, x: T) -> (z: T) {T: type in [float,double]}")
random_gamma_grad = define_op("RandomGammaGrad(alpha: T, sample: T) -> (output: T) {T: type in [float,double]}")
betainc_op = define_op("Betainc(a: T, b: T, x: T) -> (z: T) {T: type in [float,double]}")


def _attach(op: Op, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    broadcasting(op)

    @op.kernel("CPU")
    def _(ctx: Any, a: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.asarray(function(np.asarray(a, np.float64), np.asarray(x, np.float64))).astype(a.dtype)


_attach(igamma_op, lambda a, x: incomplete_gamma.lower_gamma(a, x)[0])
_attach(igammac_op, lambda a, x: incomplete_gamma.lower_gamma(a, x)[1])
_attach(igamma_grad_a, incomplete_gamma.lower_gamma_slope)
_attach(random_gamma_grad, incomplete_gamma.gamma_sample_slope)


def _igamma_gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    a, x = op.inputs
    shape_a, shape_x, axes = summed_gradients(a, x)
    with control_dependencies([grad]):
        partial_a = igamma_grad_a(a, x)
        # The density of Gamma(a, 1) at x.
        partial_x = exp(-x + (a - 1) * log(x) - lgamma(a))
        return [
            array.reshape(reduce.reduce_sum(partial_a * grad, axes[0]), shape_a),
            array.reshape(reduce.reduce_sum(partial_x * grad, axes[1]), shape_x),
        ]


igamma_op.gradient(_igamma_gradient)


@igammac_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    grad_a, grad_x = _igamma_gradient(op, grad)
    return [neg(grad_a), neg(grad_x)]


@betainc_op.shape
def _(a: InputShape, b: InputShape, x: InputShape) -> TensorShape:
    """Scalars, and others that are all of one shape."""
    result = TensorShape([])
    if any(s.rank is None for s in (a, b, x)):
        known = [s for s in (a, b, x) if s.rank]
        return known[0] if known else TensorShape(None)
    for shape in (a, b, x):
        if shape.rank:
            result = merged(result, shape) if result.rank else shape
    return result


@betainc_op.kernel("CPU")
def _(ctx: Any, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    a, b, x = (np.asarray(v) for v in (a, b, x))
    shapes = {v.shape for v in (a, b, x) if v.ndim}
    if len(shapes) > 1:
        first, second = sorted(shapes)[:2]
        raise InvalidArgumentError(None, None, f"Shapes of a, b and x are inconsistent: {list(first)} vs. {list(second)}")
    return np.asarray(incomplete_gamma.incomplete_beta(*(v.astype(np.float64) for v in (a, b, x)))).astype(a.dtype)


@betainc_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # With respect to x alone: the density of Beta(a, b). TensorFlow has no formula for a and b either.
    a, b, x = op.inputs
    shape_a, shape_x = array.shape(a), array.shape(x)
    axes = broadcast_gradient_args(shape_a, shape_x)
    log_beta = lgamma(a) + lgamma(b) - lgamma(a + b)
    partial_x = exp(xlog1py(b - 1, -x) + xlogy(a - 1, x) - log_beta)
    return [None, None, array.reshape(reduce.reduce_sum(partial_x * grad, axes[1]), shape_x)]


@random_gamma_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # Every sample moves with its alpha: summed over the dimensions of samples, which come first.
    shape, alpha = op.inputs
    sample = op.outputs[0]
    with control_dependencies([grad]):
        count = array.shape(shape)[0]
        ones = array_fill.ones([count], dtype=dtypes.int32)
        aligned = array.reshape(alpha, array_join.concat([ones, array.shape(alpha)], axis=0))
        partial_alpha = random_gamma_grad(aligned, sample)
        return [None, reduce.reduce_sum(grad * partial_alpha, array_fill.range(0, count))]


def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """P(a, x), the regularised lower incomplete gamma function (DLMF 8.2.4). `tf.igamma`."""
    return igamma_op(a, x, name=name)


def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """Q(a, x) = 1 - P(a, x), the regularised upper incomplete gamma function. `tf.igammac`."""
    return igammac_op(a, x, name=name)


def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """I_x(a, b), the regularised incomplete beta function (DLMF 8.17.2), of one shape or scalars. `tf.betainc`."""
    return betainc_op(a, b, x, name=name)
