"""RandomGammaGrad: how samples of Gamma follow its parameter, for the gradient of `tf.random_gamma`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.op import Op, define_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, incomplete_gamma, reduce
from tfexp.ops.random_gamma import random_gamma_op
from tfexp.ops.shape_rules import broadcasting

random_gamma_grad = define_op("RandomGammaGrad(alpha: T, sample: T) -> (output: T) {T: type in [float,double]}")


def _attach(op: Op, function: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
    broadcasting(op)

    @op.kernel("CPU")
    def _(ctx: Any, a: np.ndarray, x: np.ndarray) -> np.ndarray:
        return np.asarray(function(np.asarray(a, np.float64), np.asarray(x, np.float64))).astype(a.dtype)


_attach(random_gamma_grad, incomplete_gamma.gamma_sample_slope)


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
