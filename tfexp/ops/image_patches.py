"""ExtractImagePatches and ExtractVolumePatches: the windows of an image, each laid out along the channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import OutOfRangeError
from tfexp.core.op import Op, define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, reshape, shape
from tfexp.ops.array_fill import range as range_op
from tfexp.ops.array_join import unstack
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.shape_rules import with_rank
from tfexp.ops.windows import lay_windows, window_shape

_IMAGE_TYPES = (
    "T: type in [bfloat16,half,float,double,int8,int16,int32,int64,uint8,uint16,uint32,uint64,complex64,complex128,bool]"
)
_VOLUME_TYPES = "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]"
_PADDING = "padding: string in ['SAME','VALID']"
extract_image_patches_op = define_op(
    "ExtractImagePatches(images: T) -> (patches: T) {ksizes: list(int) >= 4; strides: list(int) >= 4; "
    f"rates: list(int) >= 4; {_IMAGE_TYPES}; {_PADDING}}}"
)
extract_volume_patches_op = define_op(
    f"ExtractVolumePatches(input: T) -> (patches: T) {{ksizes: list(int) >= 5; strides: list(int) >= 5; {_VOLUME_TYPES}; "
    f"{_PADDING}}}"
)


def _patched(x: InputShape, rank: int, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> TensorShape:
    batch, *space, depth = with_rank(x, rank).as_list()
    new = window_shape(space, ksizes[1:-1], strides[1:-1], rates[1:-1], padding)
    return TensorShape([batch, *new, None if depth is None else depth * int(np.prod(ksizes[1:-1]))])


@extract_image_patches_op.shape
def _(images: InputShape, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> TensorShape:
    for what, values in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if len(values) != 4:
            raise ValueError(
                f"ExtractImagePatches requires the {what} attribute to contain 4 values, but got: {len(values)}"
            )
    batch, rows, columns, depth = _patched(images, 4, ksizes, strides, rates, padding).as_list()
    # Where one of rows and columns is unknown, TensorFlow tells neither.
    return TensorShape([batch, *([None, None] if None in (rows, columns) else [rows, columns]), depth])


@extract_volume_patches_op.shape
def _(input: InputShape, *, ksizes: list[int], strides: list[int], padding: str) -> TensorShape:
    for what, values in (("ksizes", ksizes), ("strides", strides)):
        if len(values) != 5:
            raise ValueError(
                f"ExtractVolumePatches requires the {what} attribute to contain 5 values, but got: {len(values)}"
            )
    return _patched(input, 5, ksizes, strides, [1] * 5, padding)


def _patches(x: Array, rank: int, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> Array:
    if x.ndim != rank:
        raise ValueError(f"input must be {rank}-dimensional{dims_text(x.shape)}")
    for values, what in ((ksizes, "ksizes"), (strides, "strides"), (rates, "rates")):
        if values[0] != 1 or values[-1] != 1:
            raise NotImplementedError(f"Only support {what} across space.")
    for values, what in ((ksizes, "ksizes"), (strides, "strides"), (rates, "rates")):
        if min(values) <= 0:
            raise OutOfRangeError(None, None, f"{what} is out of range.")
    lay = lay_windows(x.shape[1:-1], ksizes[1:-1], strides[1:-1], rates[1:-1], padding)
    if lay.is_padded:
        pads = zip(lay.before, lay.after, strict=True)
        x = np.pad(x, [(0, 0), *[(b, max(a, 0)) for b, a in pads], (0, 0)])
    result = np.empty((x.shape[0], *lay.outputs, *lay.sizes, x.shape[-1]), x.dtype)
    dims = len(lay.sizes)
    for offset in np.ndindex(*lay.sizes):
        result[(slice(None),) * (1 + dims) + offset] = x[(slice(None), *lay.offset_slices(offset))]
    return result.reshape(x.shape[0], *lay.outputs, int(np.prod(lay.sizes)) * x.shape[-1])


@extract_image_patches_op.kernel("CPU")
def _(ctx: Any, images: Array, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str) -> Array:
    return _patches(images, 4, ksizes, strides, rates, padding)


@extract_volume_patches_op.kernel("CPU")
def _(ctx: Any, x: Array, *, ksizes: list[int], strides: list[int], padding: str) -> Array:
    return _patches(x, 5, ksizes, strides, [1] * 5, padding)


@extract_image_patches_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return _sum_of_patches(op, grad, ("ksizes", "strides", "rates", "padding"), extract_image_patches_op)


def _sum_of_patches(op: Operation, grad: Tensor, names: Sequence[str], forward: Op) -> Tensor:
    """Each pixel's gradient is the sum over the windows that it is in. Which these are, patches of pixel numbers say.

    The numbers count from 1: 0 is the padding, and becomes segment -1, which nothing is added to.
    """
    attrs = {name: op.get_attr(name) for name in names}
    window = [int(k) for k in attrs["ksizes"][1:-1]]
    dims = len(window)
    batch, *space, depth = unstack(shape(op.inputs[0], out_type=dtypes.int64), dims + 2)
    places = shape(op.outputs[0], out_type=dtypes.int64)
    new = unstack(places[1 : dims + 1], dims)
    count = space[0]
    for n in space[1:]:
        count = count * n
    end = count + 1
    numbers = reshape(range_op(1.0, end, 1.0), (1, *space, 1))
    numbered = cast(forward(numbers, **attrs), dtypes.int64)
    laid = reshape(grad, (batch, *new, *window, depth))
    laid = transpose(laid, [*range(1, 2 * dims + 1), 0, 2 * dims + 1])
    rows = reshape(laid, (-1, batch * depth))
    segments = reshape(numbered, (-1,)) - 1
    sums = get_op("UnsortedSegmentSum")(rows, segments, count)
    folded = reshape(sums, (*space, batch, depth))
    return transpose(folded, [dims, *range(dims), dims + 1])


@extract_volume_patches_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return _sum_of_patches(op, grad, ("ksizes", "strides", "padding"), extract_volume_patches_op)
