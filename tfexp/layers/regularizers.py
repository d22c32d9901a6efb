"""`tf.contrib.layers`: regularizers of weights and Xavier's initializer. Source: TF 1.15."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.nn_norm import l2_loss
from tfexp.ops.random import random_uniform, truncated_normal
from tfexp.ops.reduce import reduce_sum

Regularizer = Callable[[Any], Any]


def _scaled(name: str, scale: Any, scope: str | None, penalty: Callable[[Any], Tensor]) -> Regularizer:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale:g}.")
    if isinstance(scale, numbers.Real) and scale == 0.0:
        return lambda _: None

    def regularizer(weights: Any) -> Tensor:
        with name_scope(scope, name, [weights]) as whole:
            factor = convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return mul(factor, penalty(weights), name=whole)

    return regularizer


def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """scale * the sum of |weights|. ValueError for integers and for negative scales."""
    return _scaled("l1_regularizer", scale, scope, lambda weights: reduce_sum(abs_(weights)))


def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """scale * half the sum of weights². ValueError for integers and for negative scales."""
    return _scaled("l2_regularizer", scale, scope, l2_loss)


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32) -> Callable[..., Tensor]:
    """Values with variance 2 / (inputs + outputs) of the layer (Glorot and Bengio 2010): uniform, or normal cut off."""

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        dims = [float(size) for size in shape]
        inputs = dims[-2] if len(dims) > 1 else dims[-1] if dims else 1.0
        outputs = dims[-1] if dims else 1.0
        field = math.prod(dims[:-2])
        mean = (inputs + outputs) * field / 2.0
        if uniform:
            limit = math.sqrt(3.0 / mean)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        # Cutting off at two standard deviations takes variance away, which 1.3 gives back.
        return truncated_normal(shape, 0.0, math.sqrt(1.3 / mean), dtype, seed=seed)

    return initializer
