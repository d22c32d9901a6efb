"""TensorFlow 0.x's batch normalisation by given moments, which the graphs of the first published image models have.

What is normalised is `t`, [batch, height, width, depth]; moments, `beta` and `gamma` are [depth]. `gamma` counts only with
`scale_after_normalization`. GraphDefs of version 8 or older have these ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.scalar_arrays import scalar_array
from tfexp.ops.shape_rules import with_rank

_ATTRS = (
    "{T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
    "complex128,half,uint32,uint64]; variance_epsilon: float; scale_after_normalization: bool}"
)
global_norm_op = define_op(f"BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> (result: T) {_ATTRS}")
global_norm_grad_op = define_op(
    "BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> "
    f"(dx: T, dm: T, dv: T, db: T, dg: T) {_ATTRS}"
)


def _shapes(t: TensorShape, *vectors: TensorShape) -> tuple[TensorShape, TensorShape]:
    """Those of `t` and of a vector of its channels."""
    images = with_rank(t, 4)
    channels = TensorShape([images[3].value])
    for vector in vectors:
        channels = merged(channels, with_rank(vector, 1))
    return images[:3].concatenate(channels), channels


@global_norm_op.shape
def _(t: InputShape, m: InputShape, v: InputShape, beta: InputShape, gamma: InputShape) -> TensorShape:
    return _shapes(t, m, v, beta, gamma)[0]


@global_norm_grad_op.shape
def _(t: InputShape, m: InputShape, v: InputShape, gamma: InputShape, backprop: InputShape) -> list[TensorShape]:
    images, channels = _shapes(t, m, v, gamma)
    images, channels = _shapes(merged(images, backprop), channels)
    return [images, *[channels] * 4]


def _check(t: Array, **vectors: Array) -> None:
    if t.ndim != 4:
        raise ValueError(f"input must be 4-dimensional, not of shape {list(t.shape)}")
    for name, vector in vectors.items():
        if vector.shape != t.shape[3:]:
            raise ValueError(
                f"{name} must have shape {list(t.shape[3:])}, one number a channel, but has {list(vector.shape)}"
            )


def _inverse_deviation(v: Array, epsilon: float) -> Array:
    return np.reciprocal(np.sqrt(v + scalar_array(epsilon, v.dtype)))


@global_norm_op.kernel("CPU")
def _(
    ctx: Any,
    t: Array,
    m: Array,
    v: Array,
    beta: Array,
    gamma: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Array:
    _check(t, mean=m, variance=v, beta=beta, gamma=gamma)
    scale = _inverse_deviation(v, variance_epsilon)
    if scale_after_normalization:
        scale = scale * gamma
    return (t - m) * scale + beta


@global_norm_grad_op.kernel("CPU")
def _(
    ctx: Any,
    t: Array,
    m: Array,
    v: Array,
    gamma: Array,
    backprop: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> list[Array]:
    _check(t, mean=m, variance=v, gamma=gamma)
    if backprop.shape != t.shape:
        raise ValueError(f"backprop must have the input's shape {list(t.shape)}, but has {list(backprop.shape)}")
    inverse = _inverse_deviation(v, variance_epsilon)
    weight = gamma if scale_after_normalization else np.ones_like(gamma)
    whole = tuple(range(3))
    # y = (t - m) * inverse * weight + beta, and d inverse / d v = -inverse^3 / 2
    summed = backprop.sum(whole)
    weighed = (backprop * (t - m)).sum(whole)
    slope = weighed * weight * inverse * inverse * inverse * scalar_array(-0.5, v.dtype)
    scaled = weighed * inverse if scale_after_normalization else np.zeros_like(gamma)
    return [backprop * (inverse * weight), -summed * inverse * weight, slope, summed, scaled]


@global_norm_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    t, m, v, _beta, gamma = op.inputs
    names = ("variance_epsilon", "scale_after_normalization")
    result: list[Tensor] = list(global_norm_grad_op(t, m, v, gamma, grad, **{name: op.attrs[name] for name in names}))
    return result
