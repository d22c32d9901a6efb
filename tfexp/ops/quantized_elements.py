"""Quantised numbers moved, chosen and limited: activations, pooling, joining, reshaping. The limits go along.

No arithmetic but comparison is done on the integers, except for the mean of a window, which is rounded down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops import pool_kernels
from tfexp.ops.array import Array, reshape_op
from tfexp.ops.array_join import checked_axis, concat_shape
from tfexp.ops.pool import pool_windows, pooled_shape
from tfexp.ops.quantized_scale import TYPES, Scale, scale, with_limits

_ACTIVATIONS = f"{{Tinput: {TYPES}; out_type: {TYPES} = quint8}}"
_ACTIVATED = "(activations: out_type, min_activations: float, max_activations: float)"
_LIMITS = "min_features: float, max_features: float"

quantized_relu_op = define_op(f"QuantizedRelu(features: Tinput, {_LIMITS}) -> {_ACTIVATED} {_ACTIVATIONS}")
quantized_relu6_op = define_op(f"QuantizedRelu6(features: Tinput, {_LIMITS}) -> {_ACTIVATED} {_ACTIVATIONS}")
quantized_relu_x_op = define_op(
    f"QuantizedReluX(features: Tinput, max_value: float, {_LIMITS}) -> {_ACTIVATED} {_ACTIVATIONS}"
)
_POOLED = f"-> (output: T, min_output: float, max_output: float) {{T: {TYPES}; ksize: list(int); strides: list(int); "
_POOL = f"(input: T, min_input: float, max_input: float) {_POOLED}padding: string in ['SAME','VALID']}}"
quantized_max_pool_op = define_op(f"QuantizedMaxPool{_POOL}")
quantized_avg_pool_op = define_op(f"QuantizedAvgPool{_POOL}")
quantized_concat_op = define_op(
    "QuantizedConcat(concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float) -> (output: T, "
    "output_min: float, output_max: float) {N: int >= 2; T: type}"
)
quantized_reshape_op = define_op(
    "QuantizedReshape(tensor: T, shape: Tshape, input_min: float, input_max: float) -> (output: T, output_min: float, "
    "output_max: float) {T: type; Tshape: type in [int32,int64] = int32}"
)


# --- activations ------------------------------------------------------------------------------------------------------


for _op in (quantized_relu_op, quantized_relu6_op, quantized_relu_x_op):
    _op.shape(lambda features, *limits: with_limits(features, *limits))


def _limited(
    features: Array, min_features: Array, max_features: Array, Tinput: DType, out_type: DType, most: float
) -> list[Array]:
    """Features from 0 to `most`, on the scale they had."""
    of = scale("features", Tinput, min_features, max_features)
    # Where there is no limit: on a scale without length, infinity has no place.
    highest = of.integers(most) if np.isfinite(most) else np.iinfo(features.dtype).max
    chosen = np.clip(features, of.integers(0.0), highest)
    if out_type is not Tinput:
        chosen = Scale(out_type, of.low, of.high).integers(of.floats(chosen))
    return [chosen, min_features, max_features]


@quantized_relu_op.kernel("CPU", view=True)
def _(ctx: Any, features: Array, low: Array, high: Array, *, Tinput: DType, out_type: DType) -> list[Array]:
    return _limited(features, low, high, Tinput, out_type, np.inf)


@quantized_relu6_op.kernel("CPU", view=True)
def _(ctx: Any, features: Array, low: Array, high: Array, *, Tinput: DType, out_type: DType) -> list[Array]:
    return _limited(features, low, high, Tinput, out_type, 6.0)


@quantized_relu_x_op.kernel("CPU", view=True)
def _(
    ctx: Any, features: Array, max_value: Array, low: Array, high: Array, *, Tinput: DType, out_type: DType
) -> list[Array]:
    return _limited(features, low, high, Tinput, out_type, float(max_value))


# --- pooling ----------------------------------------------------------------------------------------------------------


def _attach_pooling(op: Op, pool: Any) -> None:
    name = op.name.removeprefix("Quantized")

    @op.shape
    def _(x: InputShape, *limits: InputShape, ksize: list[int], strides: list[int], padding: str) -> list[TensorShape]:
        return with_limits(pooled_shape(name, x, 4, ksize, strides, padding, "NHWC"), *limits)

    @op.kernel("CPU", shares=True, view=True)
    def _(
        ctx: Any, input: Array, low: Array, high: Array, *, ksize: list[int], strides: list[int], padding: str, T: DType
    ) -> list[Array]:
        scale("input", T, low, high)
        lay = pool_windows(input.shape, 4, ksize, strides, padding, "NHWC")
        return [pool(input, lay).astype(T.as_numpy_dtype, copy=False), low, high]


_attach_pooling(quantized_max_pool_op, pool_kernels.max_pool)
_attach_pooling(quantized_avg_pool_op, lambda x, lay: np.floor(pool_kernels.avg_pool(x.astype(np.float64), lay)))


# --- joining and reshaping --------------------------------------------------------------------------------------------


@quantized_concat_op.shape
def _(
    concat_dim: InputShape, values: list[InputShape], mins: list[InputShape], maxes: list[InputShape]
) -> list[TensorShape]:
    return with_limits(concat_shape(values, concat_dim), *mins, *maxes)


@quantized_concat_op.kernel("CPU")
def _(
    ctx: Any, concat_dim: Array, values: list[Array], mins: Sequence[Array], maxes: Sequence[Array], *, T: DType
) -> list[Any]:
    """On a scale that holds all of the values', and 0."""
    scales = [scale("input", T, low, high) for low, high in zip(mins, maxes, strict=True)]
    whole = Scale(T, np.min([np.float32(0), *(s.low for s in scales)]), np.max([s.high for s in scales]))
    axis = checked_axis(int(concat_dim), values[0].ndim, "QuantizedConcat")
    parts = [v if of == whole else whole.integers(of.floats(v)) for v, of in zip(values, scales, strict=True)]
    return [np.concatenate(parts, axis), whole.low, whole.high]


@quantized_reshape_op.shape
def _(tensor: InputShape, shape: InputShape, *limits: InputShape) -> list[TensorShape]:
    assert reshape_op.shape_rule is not None
    return with_limits(reshape_op.shape_rule(tensor, shape), *limits)


@quantized_reshape_op.kernel("CPU", view=True)
def _(ctx: Any, tensor: Array, shape: Array, low: Array, high: Array) -> list[Array]:
    return [reshape_op.kernels["CPU"].compute(ctx, tensor, shape), low, high]


# --- public functions -------------------------------------------------------------------------------------------------


def quantized_relu_x(
    features: Any, max_value: Any, min_features: Any, max_features: Any, out_type: Any = "quint8", name: str | None = None
) -> Any:
    """(features from 0 to `max_value`, the two limits of their scale). Source: `tf.nn.quantized_relu_x`."""
    return quantized_relu_x_op(features, max_value, min_features, max_features, out_type=out_type, name=name)


def quantized_max_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str, name: str | None = None
) -> Any:
    """(the largest of each window, the two limits of the scale). Source: `tf.nn.quantized_max_pool`."""
    return quantized_max_pool_op(input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name)


def quantized_avg_pool(
    input: Any, min_input: Any, max_input: Any, ksize: Any, strides: Any, padding: str, name: str | None = None
) -> Any:
    """(the mean of each window, the two limits of the scale). Source: `tf.nn.quantized_avg_pool`."""
    return quantized_avg_pool_op(input, min_input, max_input, ksize=ksize, strides=strides, padding=padding, name=name)


def quantized_concat(concat_dim: Any, values: Any, input_mins: Any, input_maxes: Any, name: str | None = None) -> Any:
    """(tensors of several scales joined on one, its two limits). Source: `tf.quantization.quantized_concat`."""
    return quantized_concat_op(concat_dim, values, input_mins, input_maxes, name=name)
