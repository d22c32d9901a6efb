"""Statistics for normalisation that `tf.nn` makes of other ops: sufficient ones, weighted ones, and 0.x's batch norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, shape, squeeze
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_gather import gather
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import add, mul, squared_difference, sub
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.elementwise_unary import reciprocal, square
from tfexp.ops.nn_norm import batch_normalization
from tfexp.ops.reduce import reduce_prod, reduce_sum


def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keep_dims: Any = None, name: str | None = None, keepdims: Any = None
) -> tuple[Tensor, Tensor, Tensor, Any]:
    """(count, sum of x - shift, sum of its squares, shift) over `axes`. Source: `tf.nn.sufficient_statistics`."""
    keep = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "sufficient_statistics", [x, shift]):
        x = convert_to_tensor(x, name="x")
        dims = x.get_shape()
        wanted = list(axes) if isinstance(axes, (list, tuple, np.ndarray)) else [axes]
        sizes = [None if dims.ndims is None else dims.as_list()[axis] for axis in wanted]
        if all(n is not None for n in sizes):
            count: Any = constant(math.prod(sizes), dtype=x.dtype)  # type: ignore[arg-type]
        else:
            last = [axis + rank(x) if axis < 0 else axis for axis in wanted] if min(wanted) < 0 else wanted
            rank(x)
            whole = cast(shape(x), x.dtype)
            count = reduce_prod(gather(whole, last), name="count")
        if shift is not None:
            shift = convert_to_tensor(shift, dtype=x.dtype, name="shift")
            means: Any = sub(x, shift)
            squares: Any = squared_difference(x, shift)
        else:
            means, squares = x, square(x)
        mean_sum = reduce_sum(means, axes, keepdims=keep, name="mean_ss")
        square_sum = reduce_sum(squares, axes, keepdims=keep, name="var_ss")
        return count, mean_sum, square_sum, shift


def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(mean, variance) from sufficient statistics. Source: `tf.nn.normalize_moments`."""
    with name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = reciprocal(counts, name="divisor")
        if shift is not None:
            shifted = mul(mean_ss, divisor, name="shifted_mean")
            mean = add(shifted, shift, name="mean")
        else:
            shifted = mul(mean_ss, divisor, name="mean")
            mean = shifted
        variance = sub(mul(variance_ss, divisor), square(shifted), name="variance")
    return mean, variance


def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, name: str | None = None, keep_dims: Any = None, keepdims: Any = None
) -> tuple[Tensor, Tensor]:
    """(mean, variance) over `axes`, each element counted as often as its weight says. TF symbol of this name."""
    keep = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "weighted_moments", [x, frequency_weights, axes]):
        x = convert_to_tensor(x, name="x")
        weights: Any = convert_to_tensor(frequency_weights, name="frequency_weights")
        narrow = x.dtype is dtypes.float16
        if narrow:
            x = cast(x, dtypes.float32)
        if weights.dtype != x.dtype:
            weights = cast(weights, x.dtype)
        total = reduce_sum(weights * x, axes, name="weighted_input_sum", keepdims=True)
        broadcast = weights + zeros_like(x)
        weight = reduce_sum(broadcast, axes, name="sum_of_weights", keepdims=True)
        mean: Any = div_no_nan(total, weight)
        distances = reduce_sum(weights * squared_difference(x, mean), axes, name="weighted_distsq", keepdims=True)
        variance: Any = div_no_nan(distances, weight)
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if narrow:
            mean, variance = cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def batch_norm_with_global_normalization(
    t: Any = None,
    m: Any = None,
    v: Any = None,
    beta: Any = None,
    gamma: Any = None,
    variance_epsilon: Any = None,
    scale_after_normalization: Any = None,
    name: str | None = None,
    input: Any = None,
    mean: Any = None,
    variance: Any = None,
) -> Tensor:
    """`batch_normalization` as it was called first; gamma counts if `scale_after_normalization`. TF symbol of this name."""
    t = deprecated_argument_lookup("input", input, "t", t)
    m = deprecated_argument_lookup("mean", mean, "m", m)
    v = deprecated_argument_lookup("variance", variance, "v", v)
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)
