"""Batch normalization. Source: `tf.keras.backend`, TF 1.15; Ioffe, Szegedy (2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, nn_norm
from tfexp.ops.array_fill import ones, ones_like, zeros, zeros_like
from tfexp.ops.batch_norm import fused_batch_norm

_FUSED: dict[tuple[int, ...], str] = {(0, 1, 2): "NHWC", (0, 2, 3): "NCHW"}


def normalize_batch_in_training(
    x: Any, gamma: Any, beta: Any, reduction_axes: Sequence[int], epsilon: float = 1e-3
) -> tuple[Tensor, Tensor, Tensor]:
    """(`x` with mean `beta` and deviation `gamma` along the other axes, its mean, its variance).

    For images the three come from one op, whose variance is the unbiased one.
    """
    x = convert_to_tensor(x)
    layout = _FUSED.get(tuple(reduction_axes)) if x.shape.ndims == 4 else None
    if layout is not None:
        channels = x.shape.as_list()[3 if layout == "NHWC" else 1]
        scale = ones([channels]) if gamma is None else gamma
        offset = zeros([channels]) if beta is None else beta
        return fused_batch_norm(x, scale, offset, epsilon=epsilon, data_format=layout)
    mean, variance = nn_norm.moments(x, list(reduction_axes))
    rank = x.shape.ndims or 0
    if sorted(reduction_axes) == list(range(rank - 1)):
        return nn_norm.batch_normalization(x, mean, variance, beta, gamma, epsilon), mean, variance
    sizes: Any = array.shape(x)
    target = [1 if axis in reduction_axes else sizes[axis] for axis in range(rank)]
    m, v, b, g = (None if value is None else array.reshape(value, target) for value in (mean, variance, beta, gamma))
    return nn_norm.batch_normalization(x, m, v, b, g, epsilon), mean, variance


def batch_normalization(x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3) -> Tensor:
    """`gamma * (x - mean) / sqrt(var + epsilon) + beta`; of images, whose channels are on `axis`, by one op."""
    x = convert_to_tensor(x)
    rank = x.shape.ndims
    layout = {1: "NCHW", 3: "NHWC"}.get(axis % 4) if rank == 4 else None
    if layout is None:
        return nn_norm.batch_normalization(x, mean, var, beta, gamma, epsilon)
    mean, var = _vector(mean), _vector(var)
    scale = ones_like(mean) if gamma is None else _vector(gamma)
    offset = zeros_like(mean) if beta is None else _vector(beta)
    return fused_batch_norm(x, scale, offset, mean, var, epsilon, layout, is_training=False)[0]


def _vector(x: Any) -> Tensor:
    x = convert_to_tensor(x)
    return array.reshape(x, [-1]) if x.shape.ndims != 1 else x
