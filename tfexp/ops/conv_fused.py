"""Convolutions of mirrored margins in one op, as optimized inference graphs have them, and of resized images, too.

They compute what MirrorPad, Conv2D and ResizeBilinear do one after the other. No gradients go through them.
"""

from __future__ import annotations

from typing import Any

from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.array import Array
from tfexp.ops.array_pad import mirror_pad_op
from tfexp.ops.conv import conv2d_op
from tfexp.ops.image_resize_ops import resized_bilinear, with_size
from tfexp.ops.shape_rules import with_rank

_ATTRS = "mode: string in ['REFLECT','SYMMETRIC']; strides: list(int); padding: string in ['SAME','VALID']"
_TYPES = "T: type in [half,float,double]"
_PLAIN: dict[str, Any] = {"data_format": "NHWC", "dilations": [1, 1, 1, 1], "explicit_paddings": []}

fused_pad_op = define_op(f"FusedPadConv2D(input: T, paddings: int32, filter: T) -> (output: T) {{{_TYPES}; {_ATTRS}}}")
fused_resize_op = define_op(
    "FusedResizeAndPadConv2D(input: T, size: int32, paddings: int32, filter: T) -> (output: T) "
    f"{{{_TYPES}; resize_align_corners: bool = false; {_ATTRS}}}"
)


def _shape(input: TensorShape, paddings: InputShape, filter: InputShape, mode: str, **window: Any) -> TensorShape:
    assert mirror_pad_op.shape_rule is not None and conv2d_op.shape_rule is not None
    padded = mirror_pad_op.shape_rule(input, paddings, mode=mode)
    result: TensorShape = conv2d_op.shape_rule(padded, filter, **window, **_PLAIN)
    return result


@fused_pad_op.shape
def _(input: InputShape, paddings: InputShape, filter: InputShape, **attrs: Any) -> TensorShape:
    return _shape(with_rank(input, 4), paddings, filter, **attrs)


@fused_resize_op.shape
def _(
    input: InputShape,
    size: InputShape,
    paddings: InputShape,
    filter: InputShape,
    *,
    mode: str,
    strides: list[int],
    padding: str,
) -> TensorShape:
    batch, _, _, channels = with_rank(input, 4).as_list()
    merged(size, TensorShape([2]))
    return _shape(with_size(batch, size, channels), paddings, filter, mode, strides=strides, padding=padding)


def _convolved(ctx: Any, input: Array, paddings: Array, filter: Array, mode: str, **window: Any) -> Array:
    padded = mirror_pad_op.kernels["CPU"].function(ctx, input, paddings, mode=mode)
    result: Array = conv2d_op.kernels["CPU"].function(ctx, padded, filter, **window, **_PLAIN)
    return result


@fused_pad_op.kernel("CPU", shares=True)
def _(ctx: Any, input: Array, paddings: Array, filter: Array, *, mode: str, strides: list[int], padding: str) -> Array:
    return _convolved(ctx, input, paddings, filter, mode, strides=strides, padding=padding)


@fused_resize_op.kernel("CPU", shares=True)
def _(
    ctx: Any,
    input: Array,
    size: Array,
    paddings: Array,
    filter: Array,
    *,
    resize_align_corners: bool,
    mode: str,
    strides: list[int],
    padding: str,
) -> Array:
    resized = resized_bilinear(input, size, resize_align_corners, False).astype(input.dtype, copy=False)
    return _convolved(ctx, resized, paddings, filter, mode, strides=strides, padding=padding)
