"""Gamma and Poisson numbers: the ops, and the functions that build them. The samplers are in `rejection`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.kernel import KernelContext
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, rejection
from tfexp.ops.array_fill import broadcast_to
from tfexp.ops.broadcast import broadcast_args
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_division import real_div
from tfexp.ops.philox import Array
from tfexp.ops.random import checked_shape, described_shape, draw

random_gamma_op = define_op(
    "RandomGamma(shape: S, alpha: T) -> (output: T) {seed: int = 0; seed2: int = 0; S: type in [int32,int64]; "
    "T: type in [half,float,double]} #stateful"
)


@random_gamma_op.shape
def _(shape: InputShape, alpha: InputShape) -> TensorShape:
    return described_shape(shape).concatenate(alpha)


@random_gamma_op.kernel("CPU")
def _(ctx: KernelContext, shape: Array, alpha: Array, *, seed: int, seed2: int, T: DType) -> Array:
    dims, samples = checked_shape(shape)
    stream = draw(ctx, seed, seed2, samples * np.size(alpha))
    values = rejection.gamma(stream, samples, np.ravel(alpha))
    return rounded_to(values, T).reshape(dims + np.shape(alpha))


random_poisson_op = define_op(
    "RandomPoissonV2(shape: S, rate: R) -> (output: dtype) {seed: int = 0; seed2: int = 0; S: type in [int32,int64]; "
    "R: type in [half,float,double,int32,int64] = double; dtype: type in [half,float,double,int32,int64] = int64} "
    "#stateful"
)
# The first version, whose rates are of the output's type.
random_poisson_of_rate_type_op = define_op(
    "RandomPoisson(shape: S, rate: dtype) -> (output: dtype) {seed: int = 0; seed2: int = 0; S: type in [int32,int64]; "
    "dtype: type in [half,float,double]} #stateful"
)


@random_poisson_of_rate_type_op.shape
@random_poisson_op.shape
def _(shape: InputShape, rate: InputShape) -> TensorShape:
    return described_shape(shape).concatenate(rate)


@random_poisson_of_rate_type_op.kernel("CPU")
@random_poisson_op.kernel("CPU")
def _(ctx: KernelContext, shape: Array, rate: Array, *, seed: int, seed2: int, dtype: DType) -> Array:
    dims, samples = checked_shape(shape)
    stream = draw(ctx, seed, seed2, samples * np.size(rate))
    values = rejection.poisson(stream, samples, np.ravel(rate))
    return rounded_to(values, dtype).reshape(dims + np.shape(rate))


def rounded_to(values: rejection.Doubles, dtype: DType) -> Array:
    """Values as the output's type; what a small type cannot hold overflows as it does in C."""
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(dtype.as_numpy_dtype)


# --- functions -------------------------------------------------------------------------------------------------------


def random_gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: Any = dtypes.float32, seed: int | None = None, name: Any = None
) -> Tensor:
    """`shape` draws from each Gamma(alpha) with inverse scale beta: shape + broadcast(alpha, beta).shape.

    Source: `tf.random_gamma`.
    """
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(1 if beta is None else beta, name="beta", dtype=dtype)
        common = broadcast_args(array.shape(alpha), array.shape(beta))
        alpha = broadcast_to(alpha, common)
        seed1, seed2 = get_seed(seed)
        unit = random_gamma_op(shape, alpha, seed=seed1, seed2=seed2)
        # A tiny alpha underflows; a sample of zero would have no logarithm.
        tiny = np.finfo(alpha.dtype.as_numpy_dtype).tiny
        result: Tensor = maximum(tiny, real_div(unit, beta, name="truediv"))
        return result


def random_poisson(lam: Any, shape: Any, dtype: Any = dtypes.float32, seed: int | None = None, name: Any = None) -> Tensor:
    """`shape` draws from each Poisson(lam): shape + lam.shape. Source: `tf.random_poisson`."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        seed1, seed2 = get_seed(seed)
        with name_scope(None, "RandomPoissonV2") as scope:
            # A Python number keeps its own type here (the op's default would make it a double).
            rate = convert_to_tensor(lam, name="rate")
            result: Tensor = random_poisson_op(shape, rate, dtype=dtype, seed=seed1, seed2=seed2, name=scope)
            return result
