"""Normal numbers cut off at bounds of one's own: `parameterized_truncated_normal` of TF 1.15's `random_ops`.

They are the quantiles of uniform numbers between the distribution's values at the bounds, not TensorFlow's rejections: what
one seed gives is another sample of the same distribution.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import KernelContext
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.elementwise_quantile import inverse_normal
from tfexp.ops.elementwise_special import error_function_complement
from tfexp.ops.philox import Array, uniform
from tfexp.ops.random import checked_shape, described_shape, draw

parameterized_truncated_normal_op = define_op(
    "ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype) -> (output: dtype) "
    "{seed: int = 0; seed2: int = 0; dtype: type in [half,bfloat16,float,double]; T: type in [int32,int64]} #stateful"
).not_differentiable()


@parameterized_truncated_normal_op.shape
def _(shape: InputShape, means: InputShape, stdevs: InputShape, minvals: InputShape, maxvals: InputShape) -> TensorShape:
    return described_shape(shape)


@parameterized_truncated_normal_op.kernel("CPU")
def _(
    ctx: KernelContext,
    shape: Array,
    means: Array,
    stdevs: Array,
    minvals: Array,
    maxvals: Array,
    *,
    seed: int,
    seed2: int,
    dtype: DType,
) -> Array:
    dims, size = checked_shape(shape)
    means, stdevs, low, high = (_by_batch(one, dims) for one in (means, stdevs, minvals, maxvals))
    if not (np.all(stdevs > 0) and np.all(low < high)):
        raise InvalidArgumentError(None, None, "Invalid parameters: stdevs must be positive, and minvals below maxvals")
    low, high = (low - means) / stdevs, (high - means) / stdevs
    # Above the mean by symmetry: probabilities are precise where they are small.
    above = low > 0
    low, high = np.where(above, -high, low), np.where(above, -low, high)
    first, last = (0.5 * error_function_complement(-bound / math.sqrt(2)) for bound in (low, high))
    share = uniform(draw(ctx, seed, seed2, size), size, np.float64).reshape(dims)
    values = np.clip(inverse_normal(first + share * (last - first)), low, high)
    return (means + stdevs * np.where(above, -values, values)).astype(dtype.as_numpy_dtype)


def _by_batch(parameter: Array, dims: tuple[int, ...]) -> Array:
    """A parameter of each batch, which is the first dimension, so that it broadcasts over the samples."""
    return parameter.astype(np.float64).reshape(-1, *[1] * (len(dims) - 1)) if dims else parameter.astype(np.float64)


def parameterized_truncated_normal(
    shape: Any,
    means: Any = 0.0,
    stddevs: Any = 1.0,
    minvals: Any = -2.0,
    maxvals: Any = 2.0,
    dtype: Any = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Normal numbers between `minvals` and `maxvals`, in `shape` [batches, ...]; parameters are scalars or one a batch.

    InvalidArgumentError in the run for bounds in the wrong order and for deviations that are not positive.
    """
    with name_scope(name, "parameterized_truncated_normal", [shape, means, stddevs, minvals, maxvals]) as scope:
        names = ("means", "stddevs", "minvals", "maxvals")
        given = [convert_to_tensor(x, dtype, name=n) for n, x in zip(names, (means, stddevs, minvals, maxvals), strict=True)]
        first, second = get_seed(seed)
        values: Tensor = parameterized_truncated_normal_op(
            convert_to_tensor(shape, dtypes.int32, name="shape"), *given, seed=first, seed2=second, name=scope
        )
        return values
