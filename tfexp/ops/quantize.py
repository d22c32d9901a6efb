"""Quantisation: floats as integers of few bits between two limits, and back.

Three ways (`mode`) to place the integers of a type between the limits: MIN_COMBINED from the lower to the upper one,
MIN_FIRST so that 0 is one of them, SCALED around 0. With `axis`, limits are given for each index of that dimension.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.text import as_text
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.quantized_scale import half_away_from_zero
from tfexp.ops.shape_rules import with_rank, with_rank_at_most

Array = np.ndarray
_TYPES = (
    "T: type in [qint8,quint8,qint32,qint16,quint16]; mode: string in ['MIN_COMBINED','MIN_FIRST','SCALED'] = 'MIN_COMBINED'"
)

quantize_op = define_op(
    "QuantizeV2(input: float, min_range: float, max_range: float) -> (output: T, output_min: float, output_max: float) {"
    f"{_TYPES}; round_mode: string in ['HALF_AWAY_FROM_ZERO','HALF_TO_EVEN'] = 'HALF_AWAY_FROM_ZERO'; "
    "narrow_range: bool = false; axis: int = -1; ensure_minimum_range: float = 0.009999999776482582}"
)
dequantize_op = define_op(
    f"Dequantize(input: T, min_range: float, max_range: float) -> (output: dtype) {{{_TYPES}; narrow_range: bool = false; "
    "axis: int = -1; dtype: type in [bfloat16,float] = float}"
)
both_op = define_op(
    "QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> (output: T) {signed_input: bool = true; num_bits: int "
    "= 8; range_given: bool = false; T: type in [bfloat16,half,float,double]; round_mode: string in "
    "['HALF_TO_EVEN','HALF_UP'] = 'HALF_TO_EVEN'; narrow_range: bool = false; axis: int = -1}"
)
both_v3_op = define_op(
    "QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> (output: T) {signed_input: bool = "
    "true; range_given: bool = true; T: type in [bfloat16,half,float,double]; narrow_range: bool = false; axis: int = -1}"
)


def _limit_rank(axis: int) -> int:
    return 0 if axis == -1 else 1


@quantize_op.shape
def _(input: InputShape, min_range: InputShape, max_range: InputShape, *, axis: int) -> list[TensorShape]:
    limits = [with_rank(limit, _limit_rank(axis)) for limit in (min_range, max_range)]
    return [input, *limits]


@dequantize_op.shape
def _(input: InputShape, min_range: InputShape, max_range: InputShape, *, axis: int) -> TensorShape:
    for limit in (min_range, max_range):
        with_rank(limit, _limit_rank(axis))
    return input


@both_op.shape
def _(input: InputShape, input_min: InputShape, input_max: InputShape) -> TensorShape:
    for limit in (input_min, input_max):
        with_rank_at_most(limit, 1)
    return input


def _aligned(limits: Array, x: Array, axis: int) -> Array:
    """The limits as they broadcast with `x`. InvalidArgumentError where there are too few or too many."""
    if axis == -1:
        return limits
    if limits.shape != (x.shape[axis],):
        raise InvalidArgumentError(
            None, None, f"min_range and max_range must be vectors of {x.shape[axis]} elements, got {list(limits.shape)}"
        )
    return limits.reshape([-1 if i == axis else 1 for i in range(x.ndim)])


def _integers(x: Array, dtype: DType) -> Array:
    """`x`, whole numbers, in a type that may not hold all of them: as a processor converts."""
    with np.errstate(all="ignore"):
        return x.astype(dtype.as_numpy_dtype)


def _range(dtype: DType, narrow: bool = False) -> tuple[float, float]:
    lowest, highest = float(np.iinfo(dtype.as_numpy_dtype).min), float(np.iinfo(dtype.as_numpy_dtype).max)
    return lowest + (1 if narrow and lowest < 0 else 0), highest


def _smaller_scale(low: Array, high: Array, lowest: float, highest: float) -> Array:
    """The scale by which neither limit leaves the integers."""
    unbounded = np.asarray(np.finfo(np.float32).max, low.dtype)
    with np.errstate(all="ignore"):
        by_low = np.where(lowest * low > 0, lowest / low, unbounded)
        by_high = np.where(highest * high > 0, highest / high, unbounded)
    return np.minimum(by_low, by_high).astype(low.dtype)


@quantize_op.kernel("CPU")
def _(
    ctx: Any,
    input: Array,
    min_range: Array,
    max_range: Array,
    *,
    T: DType,
    mode: Any,
    round_mode: Any,
    narrow_range: bool,
    axis: int,
    ensure_minimum_range: float,
) -> list[Array]:
    way, rounding = (as_text(v) for v in (mode, round_mode))
    if rounding == "HALF_TO_EVEN" and way != "SCALED":
        raise InvalidArgumentError(
            None, None, f"Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', b but mode is '{way}'."
        )
    if axis == -1 and (np.size(min_range), np.size(max_range)) != (1, 1):
        raise InvalidArgumentError(
            None, None, f"min_range and max_range must be scalars, got shapes {min_range.shape} and {max_range.shape}"
        )
    if axis == -1:
        min_range, max_range = min_range.reshape(()), max_range.reshape(())
    if np.any(min_range > max_range):
        raise InvalidArgumentError(None, None, f"min_range {min_range} must not be above max_range {max_range}")
    low = np.minimum(np.float32(0), min_range)
    widest = np.maximum(np.maximum(np.abs(min_range), np.abs(max_range)), np.float32(1))
    high = np.maximum(np.float32(0), np.maximum(max_range, low + widest * np.float32(ensure_minimum_range)))
    lowest, highest = _range(T, narrow_range)
    if way == "SCALED":
        scale = _smaller_scale(low, high, lowest, highest)
        low, high = (np.float32(lowest) / scale).astype(np.float32), (np.float32(highest) / scale).astype(np.float32)
    small, large = _aligned(low, input, axis), _aligned(high, input, axis)
    within = np.clip(input, small, large)
    if way == "SCALED":
        scaled = within * _aligned(scale, input, axis)
        result = np.rint(scaled) if rounding == "HALF_TO_EVEN" else half_away_from_zero(scaled)
    elif way == "MIN_COMBINED":
        whole = _range(T)
        steps = np.float32(whole[1] - whole[0])
        scaled = (within - small) * (steps / (large - small)) - np.float32(steps + 1 if whole[0] < 0 else 0) / np.float32(2)
        result = half_away_from_zero(scaled.astype(np.float32))
    else:
        per_unit = _steps_per_unit(small, large, T)
        whole = _range(T)
        wide = half_away_from_zero(within * per_unit) - half_away_from_zero(small * per_unit) + whole[0]
        result = np.clip(wide, whole[0], np.nextafter(np.float32(whole[1]), np.float32(0)) if T.size == 4 else whole[1])
    return [_integers(result, T), np.asarray(low, np.float32), np.asarray(high, np.float32)]


def _steps_per_unit(low: Array, high: Array, dtype: DType) -> Array:
    """How many integers lie in an interval of 1, in float64, where both limits are to be integers apart."""
    steps = float(1 << (8 * dtype.size))
    return (steps - 1) / (np.asarray(high, np.float64) - low)


@dequantize_op.kernel("CPU")
def _(
    ctx: Any,
    input: Array,
    min_range: Array,
    max_range: Array,
    *,
    T: DType,
    mode: Any,
    narrow_range: bool,
    axis: int,
    dtype: DType,
) -> Array:
    way = as_text(mode)
    low, high = _aligned(min_range, input, axis), _aligned(max_range, input, axis)
    lowest, highest = _range(T, narrow_range and way == "SCALED")
    values: Any = input.astype(np.float64 if T.size == 4 else np.float32)
    if way == "SCALED":
        scale = high / np.float32(highest)
        result = values * (np.maximum(scale, low / np.float32(lowest)) if lowest < 0 else scale)
    elif way == "MIN_COMBINED":
        half = (highest - lowest + 1) / 2 if lowest < 0 else 0.0
        result = (values + np.asarray(half, values.dtype)) * ((high - low) / np.float32(highest - lowest)) + low
    else:
        unit = 1 / _steps_per_unit(low, high, T)
        result = half_away_from_zero(low / unit) * unit + (values - np.asarray(lowest, values.dtype)) * unit
    return np.asarray(result, dtype.as_numpy_dtype)


@both_op.kernel("CPU")
def _(
    ctx: Any,
    input: Array,
    input_min: Array,
    input_max: Array,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: Any,
    narrow_range: bool,
    axis: int,
) -> Array:
    if not 0 < num_bits < (62 if signed_input else 63):
        raise InvalidArgumentError(
            None, None, f"num_bits is out of range: {num_bits} with signed_input_ {int(signed_input)}"
        )
    if range_given:
        low, high = _aligned(input_min, input, axis), _aligned(input_max, input, axis)
        if np.any(low > high):
            raise InvalidArgumentError(None, None, f"Invalid range: input_min {input_min} > input_max {input_max}")
    else:
        others = None if axis == -1 else tuple(i for i in range(input.ndim) if i != axis)
        if not input.size:
            return input
        low, high = (bound.reduce(input, axis=others, keepdims=True) for bound in (np.minimum, np.maximum))
    half = 1 << (num_bits - 1)
    lowest, highest = (-half + (1 if narrow_range else 0), half - 1) if signed_input else (0, 2 * half - 1)
    wide = np.float32 if input.dtype.itemsize == 2 else input.dtype
    low, high, x = (np.asarray(v, wide) for v in (low, high, input))
    scale = _smaller_scale(low, high, lowest, highest)
    if range_given:
        x = np.clip(x, lowest / scale, highest / scale)
    scaled = x * scale
    way = as_text(round_mode)
    whole = np.floor(scaled + np.asarray(0.5, wide)) if way == "HALF_UP" else np.rint(scaled)
    return np.asarray(whole / scale, input.dtype)


# The op of graphs of before version 22, whose limits are attributes.
both_v1_op = define_op(
    "QuantizeAndDequantize(input: T) -> (output: T) {signed_input: bool = true; num_bits: int = 8; "
    "range_given: bool = false; input_min: float = 0.0; input_max: float = 0.0; T: type in [bfloat16,half,float,double]}"
)
both_v1_op.shape(lambda input: input)


@both_v1_op.kernel("CPU")
def _(
    ctx: Any, input: Array, *, signed_input: bool, num_bits: int, range_given: bool, input_min: float, input_max: float
) -> Array:
    result: Array = both_op.kernels["CPU"].function(
        ctx,
        input,
        *(np.asarray(limit, input.dtype) for limit in (input_min, input_max)),
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode="HALF_TO_EVEN",
        narrow_range=False,
        axis=-1,
    )
    return result


@both_v1_op.gradient
@both_op.gradient
@both_v3_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # As if nothing had been rounded: a step function has no slope that could teach anything.
    return [grad, *[None] * (len(op.inputs) - 1)]


@both_v3_op.shape
def _(input: InputShape, input_min: InputShape, input_max: InputShape, num_bits: InputShape) -> TensorShape:
    for limit in (input_min, input_max):
        with_rank_at_most(limit, 1)
    with_rank(num_bits, 0)
    return input


@both_v3_op.kernel("CPU")
def _(ctx: Any, input: Array, input_min: Array, input_max: Array, num_bits: Array, **attrs: Any) -> Array:
    more = {"num_bits": int(num_bits), "round_mode": "HALF_TO_EVEN"}
    result: Array = both_op.kernels["CPU"].compute(ctx, input, input_min, input_max, **attrs, **more)
    return result


def quantize_v2(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    name: str | None = None,
    round_mode: str = "HALF_AWAY_FROM_ZERO",
) -> Any:
    """(`input` as integers of type T, the limits they stand for). Source: `tf.quantize_v2`."""
    return quantize_op(input, min_range, max_range, T=T, mode=mode, round_mode=round_mode, name=name)


def quantize(
    input: Any,
    min_range: Any,
    max_range: Any,
    T: Any,
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    name: str | None = None,
) -> Any:
    """As `quantize_v2`, with arguments in another order. Source: `tf.quantization.quantize`."""
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode)


def dequantize(input: Any, min_range: Any, max_range: Any, mode: str = "MIN_COMBINED", name: str | None = None) -> Tensor:
    """The floats between the limits that quantised `input` stands for. Source: `tf.quantization.dequantize`."""
    result: Tensor = dequantize_op(input, min_range, max_range, mode=mode, name=name)
    return result


def quantize_and_dequantize(
    input: Any,
    input_min: Any,
    input_max: Any,
    signed_input: bool = True,
    num_bits: int = 8,
    range_given: bool = False,
    round_mode: str = "HALF_TO_EVEN",
    name: str | None = None,
    narrow_range: bool = False,
) -> Tensor:
    """`input` rounded to the values that `num_bits` can tell apart around 0, gradients passing through.

    The limits are those of `input` itself unless `range_given`. Source: `tf.quantization.quantize_and_dequantize`, TF 1.15.
    """
    result: Tensor = both_op(
        input,
        input_min,
        input_max,
        signed_input=signed_input,
        num_bits=num_bits,
        range_given=range_given,
        round_mode=round_mode,
        narrow_range=narrow_range,
        name=name,
    )
    return result
