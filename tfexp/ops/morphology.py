"""Grayscale morphology: Dilation2D and the ops of its gradients, erosion. Source: `tf.nn.dilation2d`, `tf.nn.erosion2d`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.array_order import reverse
from tfexp.ops.conv import same_attrs
from tfexp.ops.elementwise_unary import neg
from tfexp.ops.shape_rules import merged_dims, with_rank
from tfexp.ops.windows import Windows, check_length, lay_windows, window_shape

_ATTRS = (
    "{T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; strides: list(int) >= 4; "
    "rates: list(int) >= 4; padding: string in ['SAME','VALID']}"
)
dilation2d_op = define_op(f"Dilation2D(input: T, filter: T) -> (output: T) {_ATTRS}")
dilation2d_backprop_input_op = define_op(
    f"Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> (in_backprop: T) {_ATTRS}"
)
dilation2d_backprop_filter_op = define_op(
    f"Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> (filter_backprop: T) {_ATTRS}"
)


@dilation2d_op.shape
def _(input: InputShape, filter: InputShape, *, strides: list[int], rates: list[int], padding: str) -> TensorShape:
    batch, *space, depth = with_rank(input, 4).as_list()
    *window, filter_depth = with_rank(filter, 3).as_list()
    check_length("Dilation2D", "stride", strides, 4)
    check_length("Dilation2D", "rates", rates, 4)
    merged_dims(depth, filter_depth)
    if None in (*space, *window):
        return TensorShape([batch, None, None, filter_depth])
    return TensorShape([batch, *window_shape(space, window, strides[1:3], rates[1:3], padding), filter_depth])


dilation2d_backprop_input_op.shape(lambda input, filter, out_backprop: input)
dilation2d_backprop_filter_op.shape(lambda input, filter, out_backprop: filter)


def _lay(x: Array, filters: Array, strides: Sequence[int], rates: Sequence[int], padding: str) -> Windows:
    if x.ndim != 4:
        raise ValueError(f"input must be 4-dimensional: {dims_text(x.shape)}")
    if filters.ndim != 3:
        raise ValueError(f"filter must be 3-dimensional: {dims_text(filters.shape)}")
    if x.shape[3] != filters.shape[2]:
        raise ValueError(f"input and filter must have the same depth: {x.shape[3]} vs {filters.shape[2]}")
    for name, values in (("Stride", strides), ("Rate", rates)):
        if (values[0], values[3]) != (1, 1):
            raise NotImplementedError(f"{name} is only supported across spatial dimensions.")
    if padding == "VALID" and 0 in filters.shape[:2]:
        raise ValueError(f"filter must have rows and columns: {dims_text(filters.shape)}")
    if min(strides) <= 0:
        raise ValueError(f"Stride must be > 0, but got {min(strides)}")
    return lay_windows(x.shape[1:3], filters.shape[:2], strides[1:3], rates[1:3], padding)


def _offsets(lay: Windows) -> Iterator[tuple[tuple[int, int], tuple[slice, ...], tuple[slice, ...]]]:
    """(offset in the window, the outputs for which it is inside the input, where in the input that is)"""
    for offset in np.ndindex(*lay.sizes):
        outputs, inside = [slice(None)], [slice(None)]
        for axis, place in enumerate(offset):
            shift, stride = place * lay.dilations[axis] - lay.before[axis], lay.strides[axis]
            first = max(0, -(shift // stride))
            last = min(lay.outputs[axis], -(-(lay.inputs[axis] - shift) // stride))
            if first >= last:
                break
            outputs.append(slice(first, last))
            inside.append(slice(first * stride + shift, (last - 1) * stride + shift + 1, stride))
        else:
            yield offset, tuple(outputs), tuple(inside)  # type: ignore[misc]  # two dimensions


def _dilate(x: Array, filters: Array, lay: Windows) -> Array:
    lowest: Any = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else ml_dtypes.finfo(x.dtype).min
    result = np.full((x.shape[0], *lay.outputs, x.shape[3]), lowest, x.dtype)
    for offset, outputs, inside in _offsets(lay):
        there = result[outputs]
        np.fmax(there, x[inside] + filters[offset], out=there)  # as TensorFlow's: NaN is never larger
    return result


@dilation2d_op.kernel("CPU")
def _(ctx: Any, x: Array, filters: Array, *, strides: list[int], rates: list[int], padding: str) -> Array:
    return _dilate(x, filters, _lay(x, filters, strides, rates, padding))


def _winners(x: Array, filters: Array, grad: Array, lay: Windows) -> Iterator[tuple[Any, Any, Array]]:
    """For each offset: itself, where it is in the input, and the gradient of the windows whose first largest it is."""
    largest = _dilate(x, filters, lay)
    if grad.shape != largest.shape:
        raise ValueError(f"out_backprop has incompatible size: {dims_text(grad.shape)}, not {dims_text(largest.shape)}")
    open_windows = np.ones(largest.shape, np.bool_)
    for offset, outputs, inside in _offsets(lay):
        wins = np.equal(x[inside] + filters[offset], largest[outputs])
        wins &= open_windows[outputs]
        open_windows[outputs] &= ~wins
        yield offset, inside, np.multiply(grad[outputs], wins, dtype=grad.dtype)


@dilation2d_backprop_input_op.kernel("CPU")
def _(ctx: Any, x: Array, filters: Array, grad: Array, *, strides: list[int], rates: list[int], padding: str) -> Array:
    result = np.zeros(x.shape, grad.dtype)
    for _, inside, won in _winners(x, filters, grad, _lay(x, filters, strides, rates, padding)):
        result[inside] += won
    return result


@dilation2d_backprop_filter_op.kernel("CPU")
def _(ctx: Any, x: Array, filters: Array, grad: Array, *, strides: list[int], rates: list[int], padding: str) -> Array:
    result = np.zeros(filters.shape, grad.dtype)
    for offset, _, won in _winners(x, filters, grad, _lay(x, filters, strides, rates, padding)):
        result[offset] = np.add.reduce(won, (0, 1, 2), dtype=grad.dtype)
    return result


@dilation2d_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    x, filters = op.inputs
    attrs = same_attrs(op)
    return [made(x, filters, grad, **attrs) for made in (dilation2d_backprop_input_op, dilation2d_backprop_filter_op)]


def dilation2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    filters: Any = None,
    dilations: Any = None,
) -> Tensor:
    """max over each window of input + filter [rows, columns, depth]. Source: `tf.nn.dilation2d`."""
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    rates = deprecated_argument_lookup("dilations", dilations, "rates", rates)
    result: Tensor = dilation2d_op(input, filter, strides=list(strides), rates=list(rates), padding=padding, name=name)
    return result


def erosion2d(value: Any, kernel: Any, strides: Any, rates: Any, padding: str, name: str | None = None) -> Tensor:
    """min over each window of value - kernel. Source: `tf.nn.erosion2d`."""
    with name_scope(name, "erosion2d", [value, kernel]) as scope:
        dilated = dilation2d_op(
            neg(value), reverse(kernel, [0, 1]), strides=list(strides), rates=list(rates), padding=padding, name=scope
        )
        result: Tensor = neg(dilated)
        return result
