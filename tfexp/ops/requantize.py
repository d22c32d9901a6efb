"""Quantised numbers on another scale, of fewer bits as a rule: what follows products and sums of 32 bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.quantized_scale import SCALAR, TYPES, Array, Scale, scale, with_limits

_INPUT = "input: Tinput, input_min: float, input_max: float"
_OUTPUT = "(output: out_type, output_min: float, output_max: float)"

requantize_op = define_op(
    f"Requantize({_INPUT}, requested_output_min: float, requested_output_max: float) -> {_OUTPUT} "
    f"{{Tinput: {TYPES}; out_type: {TYPES}}}"
)
requantization_range_op = define_op(
    f"RequantizationRange({_INPUT}) -> (output_min: float, output_max: float) {{Tinput: {TYPES}}}"
)
shrink_range_op = define_op(f"QuantizeDownAndShrinkRange({_INPUT}) -> {_OUTPUT} {{Tinput: {TYPES}; out_type: {TYPES}}}")


requantize_op.shape(lambda input, *limits: with_limits(input, *limits))
shrink_range_op.shape(lambda input, *limits: with_limits(input, *limits))


@requantization_range_op.shape
def _(input: InputShape, *limits: InputShape) -> list[TensorShape]:
    return with_limits(SCALAR, *limits)[1:]


def _used_range(input: Array, of: Scale) -> tuple[np.float32, np.float32]:
    """The least and the largest of what the integers stand for, and 0 at least."""
    if not input.size:
        return np.float32(0), np.float32(0)
    low, high = of.floats(np.array([input.min(), input.max()]))
    return np.minimum(low, np.float32(0)), high


@requantization_range_op.kernel("CPU")
def _(ctx: Any, input: Array, low: Array, high: Array, *, Tinput: DType) -> list[Any]:
    return list(_used_range(input, scale("input", Tinput, low, high)))


@requantize_op.kernel("CPU")
def _(
    ctx: Any,
    input: Array,
    low: Array,
    high: Array,
    requested_output_min: Array,
    requested_output_max: Array,
    *,
    Tinput: DType,
    out_type: DType,
) -> list[Any]:
    target = scale("output", out_type, requested_output_min, requested_output_max)
    return [target.integers(scale("input", Tinput, low, high).floats(input)), target.low, target.high]


@shrink_range_op.kernel("CPU")
def _(ctx: Any, input: Array, low: Array, high: Array, *, Tinput: DType, out_type: DType) -> list[Any]:
    of = scale("input", Tinput, low, high)
    target = Scale(out_type, *_used_range(input, of))
    return [target.integers(of.floats(input)), target.low, target.high]
