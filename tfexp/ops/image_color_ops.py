"""AdjustContrastv2, on images whose channels come last."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import with_rank, with_rank_at_least

_SMALL = "T: type in [half,float] = float"
adjust_contrast_op = define_op(f"AdjustContrastv2(images: T, contrast_factor: float) -> (output: T) {{{_SMALL}}}")


# --- shapes -----------------------------------------------------------------------------------------------------------


@adjust_contrast_op.shape
def _(images: InputShape, contrast_factor: InputShape) -> TensorShape:
    with_rank(contrast_factor, 0)
    return with_rank_at_least(images, 3)


# --- kernels ----------------------------------------------------------------------------------------------------------


def _wide(images: Array) -> Array:
    """The numbers in which the kernels compute: what is below float32 is widened."""
    return images if images.dtype == np.float64 else images.astype(np.float32, copy=False)


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
