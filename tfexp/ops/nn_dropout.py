"""`tf.nn.dropout`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_mask import where_v2
from tfexp.ops.comparison import greater_equal
from tfexp.ops.elementwise_binary import mul, sub
from tfexp.ops.elementwise_division import real_div
from tfexp.ops.random import random_uniform


def noise_shape_of(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the noise; a None in a given one is taken from x."""
    if noise_shape is None:
        return shape(x)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    try:
        given = TensorShape(noise_shape)
    except (TypeError, ValueError):
        return noise_shape  # it holds tensors
    mine, dims = x.get_shape().known_dims, given.known_dims
    if mine is None or dims is None or len(mine) != len(dims):
        return noise_shape
    return TensorShape([d if e is None else e for d, e in zip(mine, dims, strict=True)])


def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """x with elements set to 0 with probability `rate` (1 - `keep_prob`), the others divided by 1 - rate. `tf.nn.dropout`.

    `noise_shape` broadcasts against x: what it has as 1 is kept or dropped together. ValueError for a rate outside [0, 1)
    and for x that is not floating.
    """
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'keep_prob' and 'rate'")
    if keep_prob is not None:
        try:
            rate = 1 - keep_prob
        except TypeError:
            raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a {x.dtype} tensor instead."
            )
        if isinstance(rate, (int, float, np.number)):
            if not 0 <= rate < 1:
                raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {rate:g}")
            if rate == 0:
                get_seed(seed)  # counts as a random op, so that the seeds of those after it stay
                return x
            scale = 1 / (1 - rate)
            scaled = mul(x, convert_to_tensor(scale, dtype=x.dtype))
        else:
            rate = convert_to_tensor(rate, dtype=x.dtype)
            rate.get_shape().assert_has_rank(0)
            if static_value(rate) == 0:
                return x
            one = convert_to_tensor(1, dtype=x.dtype)
            scaled = real_div(x, sub(one, rate))
        noise = random_uniform(noise_shape_of(x, noise_shape), seed=seed, dtype=x.dtype)
        kept = greater_equal(noise, rate)
        result = where_v2(kept, scaled, convert_to_tensor(0, dtype=x.dtype))
        result.set_shape(x.get_shape())
        return result
