"""`tf.contrib.layers`: regularizers of weights, and initializers by the size of layers. Source: TF 1.15."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.elementwise_binary import add_n, mul
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


def l1_l2_regularizer(scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None) -> Regularizer:
    """The sum of both; of one alone where the other's scale is 0."""
    l1, l2 = l1_regularizer(scale_l1), l2_regularizer(scale_l2)
    if not scale_l1:
        return l2_regularizer(scale_l2, scope)
    if not scale_l2:
        return l1_regularizer(scale_l1, scope)

    def regularizer(weights: Any) -> Tensor:
        with name_scope(scope, "l1_l2_regularizer", [weights]) as whole:
            return add_n([l1(weights), l2(weights)], name=whole)

    return regularizer


def xavier_initializer(uniform: bool = True, seed: int | None = None, dtype: Any = dtypes.float32) -> Callable[..., Tensor]:
    """Values with variance 2 / (inputs + outputs) of the layer (Glorot and Bengio 2010): uniform, or normal cut off."""
    return variance_scaling_initializer(1.0, "FAN_AVG", uniform, seed, dtype)


def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None, dtype: Any = dtypes.float32
) -> Callable[..., Tensor]:
    """Values with variance `factor` / n of the layer's inputs, outputs, or their mean (`mode` FAN_IN, FAN_OUT, FAN_AVG)."""
    if not dtypes.as_dtype(dtype).is_floating:
        raise TypeError("Cannot create initializer for non-floating point type.")
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")

    def initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        inputs, outputs = _fans(shape)
        count = {"FAN_IN": inputs, "FAN_OUT": outputs, "FAN_AVG": (inputs + outputs) / 2.0}[mode]
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        # Cutting off at two standard deviations takes variance away, which 1.3 gives back.
        return truncated_normal(shape, 0.0, math.sqrt(1.3 * factor / count), dtype, seed=seed)

    return initializer


def _fans(shape: Any) -> tuple[float, float]:
    """How many inputs an output of the layer has, and how many outputs an input has."""
    dims = [float(size) for size in shape]
    field = math.prod(dims[:-2])
    inputs = dims[-2] if len(dims) > 1 else dims[-1] if dims else 1.0
    return inputs * field, (dims[-1] if dims else 1.0) * field
