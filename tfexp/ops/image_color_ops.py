"""Color ops: RGBToHSV, HSVToRGB, AdjustContrastv2, AdjustHue, AdjustSaturation. Channels come last."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.ops import array_fill, cast, comparison, reduce
from tfexp.ops.argmax import argmax, argmin
from tfexp.ops.array import Array
from tfexp.ops.array_order import reverse, roll
from tfexp.ops.elementwise_division import div_no_nan
from tfexp.ops.shape_rules import required_dim, with_rank, with_rank_at_least

_FLOATS = "T: type in [half,bfloat16,float,double] = float"
_SMALL = "T: type in [half,float] = float"
rgb_to_hsv_op = define_op(f"RGBToHSV(images: T) -> (output: T) {{{_FLOATS}}}")
hsv_to_rgb_op = define_op(f"HSVToRGB(images: T) -> (output: T) {{{_FLOATS}}}").not_differentiable()
adjust_contrast_op = define_op(f"AdjustContrastv2(images: T, contrast_factor: float) -> (output: T) {{{_SMALL}}}")
adjust_hue_op = define_op(f"AdjustHue(images: T, delta: float) -> (output: T) {{{_SMALL}}}")
adjust_saturation_op = define_op(f"AdjustSaturation(images: T, scale: float) -> (output: T) {{{_SMALL}}}")


# --- shapes -----------------------------------------------------------------------------------------------------------


def _attach_color_shape(op: Op) -> None:
    @op.shape
    def _(images: InputShape) -> TensorShape:
        with_rank_at_least(images, 1)
        if images.rank is None:
            return images
        dims = images.as_list()
        required_dim(dims[-1], 3)
        return TensorShape([*dims[:-1], 3])


def _attach_adjusting_shape(op: Op) -> None:
    @op.shape
    def _(images: InputShape, amount: InputShape) -> TensorShape:
        return with_rank_at_least(images, 3)


for _op in (rgb_to_hsv_op, hsv_to_rgb_op):
    _attach_color_shape(_op)
for _op in (adjust_hue_op, adjust_saturation_op):
    _attach_adjusting_shape(_op)


@adjust_contrast_op.shape
def _(images: InputShape, contrast_factor: InputShape) -> TensorShape:
    with_rank(contrast_factor, 0)
    return with_rank_at_least(images, 3)


# --- kernels ----------------------------------------------------------------------------------------------------------


def _hsv(rgb: Array) -> Array:
    """Hue, saturation and value, each 0 to 1, of floats [..., 3]."""
    value = rgb.max(-1)
    extent = value - rgb.min(-1)
    r, g, b = (rgb[..., i] for i in range(3))
    colored = extent > 0
    unit = np.divide(1, 6 * extent, out=np.zeros_like(extent), where=colored)
    hue = np.where(
        r == value,
        (g - b) * unit,
        np.where(g == value, (b - r) * unit + rgb.dtype.type(2 / 6), (r - g) * unit + rgb.dtype.type(4 / 6)),
    )
    hue = np.where(colored, np.where(hue < 0, hue + 1, hue), 0)
    saturation = np.divide(extent, value, out=np.zeros_like(extent), where=value > 0)
    return np.stack([hue, saturation, value], -1).astype(rgb.dtype)


def _rgb(hsv: Array) -> Array:
    hue, saturation, value = (hsv[..., i : i + 1] for i in range(3))
    away = np.abs(hue * 6 - np.array([3, 2, 4], hsv.dtype))
    full = np.clip(np.concatenate([away[..., :1] - 1, 2 - away[..., 1:]], -1), 0, 1)
    result: Array = (1 - saturation + saturation * full) * value
    return result


def _check_channels(images: Array) -> None:
    if images.ndim < 1:
        raise ValueError(f"input must be at least 1D{dims_text(images.shape)}")
    if images.shape[-1] != 3:
        raise InvalidArgumentError(None, None, f"input must have 3 channels but instead has {images.shape[-1]} channels.")


def _wide(images: Array) -> Array:
    """The numbers in which the kernels compute: what is below float32 is widened."""
    return images if images.dtype == np.float64 else images.astype(np.float32, copy=False)


def _attach_conversion(op: Op, function: Any) -> None:
    @op.kernel("CPU")
    def _(ctx: Any, images: Array) -> Array:
        _check_channels(images)
        return np.asarray(function(_wide(images))).astype(images.dtype, copy=False)


_attach_conversion(rgb_to_hsv_op, _hsv)
_attach_conversion(hsv_to_rgb_op, _rgb)


def _check_adjusted(images: Array, what: str, amount: Any) -> None:
    if images.ndim < 3:
        raise ValueError(f"input must be at least 3-D, got shape{dims_text(images.shape)}")
    if np.ndim(amount):
        raise ValueError(f"{what} must be scalar: {dims_text(np.shape(amount))}")


@adjust_contrast_op.kernel("CPU")
def _(ctx: Any, images: Array, contrast_factor: Any) -> Array:
    _check_adjusted(images, "contrast_factor", contrast_factor)
    return _contrasted(_wide(images), contrast_factor).astype(images.dtype, copy=False)


def _contrasted(x: Array, factor: Any) -> Array:
    mean = x.mean((-3, -2), keepdims=True, dtype=np.float32) if x.size else x
    result: Array = (x - mean) * np.float32(factor) + mean
    return result


# The op of graphs of before version 2, whose result is clipped.
older_contrast_op = define_op(
    "AdjustContrast(images: T, contrast_factor: float, min_value: float, max_value: float) -> (output: float) "
    "{T: type in [uint8,int8,int16,int32,int64,float,double]}"
)


@older_contrast_op.shape
def _(images: InputShape, contrast_factor: InputShape, min_value: InputShape, max_value: InputShape) -> TensorShape:
    for scalar in (contrast_factor, min_value, max_value):
        with_rank(scalar, 0)
    return with_rank_at_least(images, 3)


@older_contrast_op.kernel("CPU")
def _(ctx: Any, images: Array, contrast_factor: Any, min_value: Any, max_value: Any) -> Array:
    for what, value in (("contrast_factor", contrast_factor), ("min_value", min_value), ("max_value", max_value)):
        _check_adjusted(images, what, value)
    return np.maximum(np.minimum(_contrasted(images.astype(np.float32), contrast_factor), max_value), min_value)


@adjust_hue_op.kernel("CPU")
def _(ctx: Any, images: Array, delta: Any) -> Array:
    _check_adjusted(images, "delta", delta)
    _check_channels(images)
    hsv = _hsv(_wide(images))
    hsv[..., 0] = np.mod(hsv[..., 0] + np.float32(delta), np.float32(1))
    return _rgb(hsv).astype(images.dtype, copy=False)


@adjust_saturation_op.kernel("CPU")
def _(ctx: Any, images: Array, scale: Any) -> Array:
    _check_adjusted(images, "scale", scale)
    _check_channels(images)
    hsv = _hsv(_wide(images))
    hsv[..., 1] = np.clip(hsv[..., 1] * np.float32(scale), 0, 1)
    return _rgb(hsv).astype(images.dtype, copy=False)


@rgb_to_hsv_op.gradient
def _(op: Operation, grad: Any) -> Any:
    # With m the largest channel, n the smallest and k the place of m: hue = (2 k + (next - last) / (m - n)) / 6, where next
    # and last follow m in the circle of channels; saturation = 1 - n / m; value = m. Where there are several, the first is
    # m and the last is n; saturation does not follow channels that are zero.
    rgb: Any = op.inputs[0]
    largest: Any = array_fill.one_hot(argmax(rgb, -1), 3, dtype=rgb.dtype)
    smallest: Any = array_fill.one_hot(2 - argmin(reverse(rgb, [-1]), -1), 3, dtype=rgb.dtype)  # type: ignore[operator]
    m, n = reduce.reduce_max(rgb, -1, keepdims=True), reduce.reduce_min(rgb, -1, keepdims=True)
    circle: Any = roll(largest, 1, -1) - roll(largest, 2, -1)  # type: ignore[operator]
    extent: Any = m - n  # type: ignore[operator]
    turned: Any = div_no_nan(reduce.reduce_sum(rgb * circle, -1, keepdims=True), extent)
    hue: Any = div_no_nan(circle - turned * (largest - smallest), 6 * extent)
    saturation: Any = div_no_nan(largest * div_no_nan(n, m) - smallest, m) * cast.cast(comparison.greater(rgb, 0), rgb.dtype)
    return hue * grad[..., 0:1] + saturation * grad[..., 1:2] + largest * grad[..., 2:3]
