"""Quantised images normalised and resized. TensorFlow's values differ by up to two levels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.image_resize_ops import resized_bilinear, with_size
from tfexp.ops.quantized_scale import TYPES, Scale, half_away_from_zero, scale, with_limits
from tfexp.ops.shape_rules import with_rank

# How far the scale of batch-normalised numbers reaches: their own limits are not known before they are computed.
_NORMALISED_REACH = np.float32(1 << 20)


def _numbers(name: str) -> str:
    """An input and its two limits."""
    return f"{name}: Tinput, {name}_min: float, {name}_max: float"


instance_norm_op = define_op(
    f"QuantizedInstanceNorm(x: T, x_min: float, x_max: float) -> (y: T, y_min: float, y_max: float) {{T: {TYPES}; "
    "output_range_given: bool = false; given_y_min: float = 0.0; given_y_max: float = 0.0; "
    "variance_epsilon: float = 9.999999747378752e-06; min_separation: float = 0.0010000000474974513}"
)
batch_norm_op = define_op(
    f"QuantizedBatchNormWithGlobalNormalization({_numbers('t')}, {_numbers('m')}, {_numbers('v')}, {_numbers('beta')}, "
    f"{_numbers('gamma')}) -> (result: out_type, result_min: float, result_max: float) "
    f"{{Tinput: {TYPES}; out_type: {TYPES}; variance_epsilon: float; scale_after_normalization: bool}}"
)
resize_bilinear_op = define_op(
    "QuantizedResizeBilinear(images: T, size: int32, min: float, max: float) -> (resized_images: T, out_min: float, "
    "out_max: float) {T: type in [quint8,qint32,float]; align_corners: bool = false; half_pixel_centers: bool = false}"
)


@instance_norm_op.shape
def _(x: InputShape, *limits: InputShape) -> list[TensorShape]:
    return with_limits(with_rank(x, 4), *limits)


@instance_norm_op.kernel("CPU")
def _(
    ctx: Any,
    x: Array,
    x_min: Array,
    x_max: Array,
    *,
    T: DType,
    output_range_given: bool,
    given_y_min: float,
    given_y_max: float,
    variance_epsilon: float,
    min_separation: float,
) -> list[Any]:
    """Each image's channels with mean 0 and variance 1, on a scale that is given or just holds them."""
    floats = scale("x", T, x_min, x_max).floats(x).astype(np.float64)
    centred = floats - floats.mean((1, 2), keepdims=True)
    result = centred / np.sqrt(np.square(centred).mean((1, 2), keepdims=True) + variance_epsilon)
    low, high = (given_y_min, given_y_max) if output_range_given else (result.min(initial=0), result.max(initial=0))
    if not output_range_given:
        high = max(high, low + min_separation)
    target = Scale(T, np.float32(low), np.float32(high))
    return [target.integers(result), target.low, target.high]


@batch_norm_op.shape
def _(
    t: InputShape,
    t_min: InputShape,
    t_max: InputShape,
    m: InputShape,
    m_min: InputShape,
    m_max: InputShape,
    v: InputShape,
    v_min: InputShape,
    v_max: InputShape,
    beta: InputShape,
    beta_min: InputShape,
    beta_max: InputShape,
    gamma: InputShape,
    gamma_min: InputShape,
    gamma_max: InputShape,
) -> list[TensorShape]:
    dims = with_rank(t, 4)
    depth = dims[-1:]
    for vector in (m, v, beta, gamma):
        depth = merged(depth, with_rank(vector, 1))
    limits = (t_min, t_max, m_min, m_max, v_min, v_max, beta_min, beta_max, gamma_min, gamma_max)
    return with_limits(TensorShape([*dims.as_list()[:-1], *depth.as_list()]), *limits)


@batch_norm_op.kernel("CPU")
def _(
    ctx: Any, *numbers: Array, Tinput: DType, out_type: DType, variance_epsilon: float, scale_after_normalization: bool
) -> list[Any]:
    # The inputs are numbers and their two limits, five times.
    names = ("t", "m", "v", "beta", "gamma")
    t, mean, variance, beta, gamma = (
        scale(name, Tinput, low, high).floats(integers).astype(np.float64)
        for name, integers, low, high in zip(names, numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    )
    slope = 1 / np.sqrt(variance + variance_epsilon) * (gamma if scale_after_normalization else 1)
    target = Scale(out_type, -_NORMALISED_REACH, _NORMALISED_REACH)
    return [target.integers((t - mean) * slope + beta), target.low, target.high]


@resize_bilinear_op.shape
def _(images: InputShape, size: InputShape, *limits: InputShape) -> list[TensorShape]:
    batch, _, _, channels = with_rank(images, 4).as_list()
    return with_limits(with_size(batch, size, channels), *limits)


@resize_bilinear_op.kernel("CPU", view=True)
def _(
    ctx: Any, images: Array, size: Array, low: Array, high: Array, *, T: DType, align_corners: bool, half_pixel_centers: bool
) -> list[Any]:
    wide = images.astype(np.float32 if images.dtype.itemsize == 1 else np.float64)
    result = resized_bilinear(wide, size, align_corners, half_pixel_centers)
    return [(result if T.is_floating else half_away_from_zero(result)).astype(images.dtype), low, high]
