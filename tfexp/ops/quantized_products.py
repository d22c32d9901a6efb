"""Products and sums of quantised numbers: integers of 8 bits in, of 32 bits out, with the limits that these stand for.

Products are of what lies between an integer and the one for 0, and exact; sums are rounded to a scale that holds both.
TensorFlow's QuantizedAdd differs by up to 74 of 2^32 levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, broadcast_shapes, dims_text
from tfexp.ops import conv_kernels
from tfexp.ops.array import Array
from tfexp.ops.conv import conv2d_op
from tfexp.ops.matmul import mat_mul
from tfexp.ops.quantized_scale import TYPES, Scale, product_limits, scale, with_limits
from tfexp.ops.shape_rules import with_rank, with_rank_at_least
from tfexp.ops.windows import lay_windows

# How much further than its inputs a sum's scale reaches, so that many of them may be added up.
_ROOM_AFTER_ADD = np.float32(1 << 14)
_ROOM_AFTER_BIAS = np.float32(1 << 17)

_PAIR = f"T1: {TYPES}; T2: {TYPES}"


def _limits(*names: str) -> str:
    """The limits of some inputs or outputs."""
    return ", ".join(f"min_{name}: float, max_{name}: float" for name in names)


quantized_matmul_op = define_op(
    f"QuantizedMatMul(a: T1, b: T2, {_limits('a', 'b')}) -> (out: Toutput, {_limits('out')}) {{{_PAIR}; "
    f"Toutput: {TYPES} = qint32; transpose_a: bool = false; transpose_b: bool = false; Tactivation: {TYPES} = quint8}}"
)
quantized_conv2d_op = define_op(
    f"QuantizedConv2D(input: Tinput, filter: Tfilter, {_limits('input', 'filter')}) -> (output: out_type, "
    f"{_limits('output')}) {{Tinput: {TYPES}; Tfilter: {TYPES}; out_type: {TYPES} = qint32; "
    "strides: list(int); padding: string in ['SAME','VALID']; dilations: list(int) = [1,1,1,1]}"
)
quantized_mul_op = define_op(
    f"QuantizedMul(x: T1, y: T2, {_limits('x', 'y')}) -> (z: Toutput, {_limits('z')}) {{{_PAIR}; Toutput: {TYPES} = qint32}}"
)
quantized_add_op = define_op(
    f"QuantizedAdd(x: T1, y: T2, {_limits('x', 'y')}) -> (z: Toutput, {_limits('z')}) {{{_PAIR}; Toutput: {TYPES} = qint32}}"
)
quantized_bias_add_op = define_op(
    f"QuantizedBiasAdd(input: T1, bias: T2, {_limits('input', 'bias')}) -> (output: out_type, {_limits('out')}) "
    f"{{{_PAIR}; out_type: {TYPES}}}"
)


def _from_zero(integers: Array, of: Scale) -> Array:
    """Integers as differences from the one for 0, in float64, which adds up 2^37 products of 8 bits exactly."""
    return np.asarray(integers, np.float64) - of.zero


# --- products ---------------------------------------------------------------------------------------------------------


@quantized_matmul_op.shape
def _(a: InputShape, b: InputShape, *limits: InputShape, transpose_a: bool, transpose_b: bool) -> list[TensorShape]:
    assert mat_mul.shape_rule is not None
    return with_limits(mat_mul.shape_rule(a, b, transpose_a=transpose_a, transpose_b=transpose_b), *limits)


@quantized_matmul_op.kernel("CPU")
def _(
    ctx: Any,
    a: Array,
    b: Array,
    min_a: Array,
    max_a: Array,
    min_b: Array,
    max_b: Array,
    *,
    T1: DType,
    T2: DType,
    Toutput: DType,
    transpose_a: bool,
    transpose_b: bool,
) -> list[Any]:
    of_a, of_b = scale("a", T1, min_a, max_a), scale("b", T2, min_b, max_b)
    left, right = _from_zero(a.T if transpose_a else a, of_a), _from_zero(b.T if transpose_b else b, of_b)
    if left.ndim != 2 or right.ndim != 2 or left.shape[1] != right.shape[0]:
        raise InvalidArgumentError(
            None, None, f"Matrix size-incompatible: In[0]: {dims_text(a.shape)}, In[1]: {dims_text(b.shape)}"
        )
    return [(left @ right).astype(Toutput.as_numpy_dtype), *product_limits(of_a, of_b, Toutput)]


@quantized_conv2d_op.shape
def _(
    x: InputShape, filter: InputShape, *limits: InputShape, strides: list[int], padding: str, dilations: list[int]
) -> list[TensorShape]:
    assert conv2d_op.shape_rule is not None
    attrs = {"strides": strides, "padding": padding, "dilations": dilations, "data_format": "NHWC"}
    return with_limits(conv2d_op.shape_rule(x, filter, explicit_paddings=[], **attrs), *limits)


@quantized_conv2d_op.kernel("CPU", shares=True)
def _(
    ctx: Any,
    input: Array,
    filter: Array,
    min_input: Array,
    max_input: Array,
    min_filter: Array,
    max_filter: Array,
    *,
    Tinput: DType,
    Tfilter: DType,
    out_type: DType,
    strides: list[int],
    padding: str,
    dilations: list[int],
) -> list[Any]:
    if input.ndim != 4 or filter.ndim != 4 or input.shape[3] != filter.shape[2]:
        raise InvalidArgumentError(
            None,
            None,
            "input must be [batch, rows, columns, depth] and filter [rows, columns, depth, output depth] of one depth, got "
            f"{dims_text(input.shape)} and {dims_text(filter.shape)}",
        )
    of_input, of_filter = scale("input", Tinput, min_input, max_input), scale("filter", Tfilter, min_filter, max_filter)
    # Padding stands for 0, so that it adds nothing to sums of differences from 0.
    lay = lay_windows(input.shape[1:3], filter.shape[:2], strides[1:3], dilations[1:3], padding)
    sums = conv_kernels.convolve(_from_zero(input, of_input), _from_zero(filter, of_filter), lay)
    return [sums.astype(out_type.as_numpy_dtype), *product_limits(of_input, of_filter, out_type)]


@quantized_mul_op.shape
@quantized_add_op.shape
def _(x: InputShape, y: InputShape, *limits: InputShape) -> list[TensorShape]:
    return with_limits(broadcast_shapes(x, y), *limits)


@quantized_mul_op.kernel("CPU")
def _(
    ctx: Any,
    x: Array,
    y: Array,
    min_x: Array,
    max_x: Array,
    min_y: Array,
    max_y: Array,
    *,
    T1: DType,
    T2: DType,
    Toutput: DType,
) -> list[Any]:
    of_x, of_y = scale("x", T1, min_x, max_x), scale("y", T2, min_y, max_y)
    products = _from_zero(x, of_x) * _from_zero(y, of_y)
    return [products.astype(Toutput.as_numpy_dtype), *product_limits(of_x, of_y, Toutput)]


# --- sums -------------------------------------------------------------------------------------------------------------


def _sum(x: Array, y: Array, of_x: Scale, of_y: Scale, dtype: DType, room: np.float32) -> list[Any]:
    """The sums of what two arrays stand for, on a symmetric scale that reaches `room` times as far as they do."""
    reach = np.max(np.abs([of_x.low, of_x.high, of_y.low, of_y.high])) * room
    total = Scale(dtype, -reach, reach)
    added = total.integers(of_x.floats(x)) + total.integers(of_y.floats(y))
    return [added.astype(dtype.as_numpy_dtype), total.low, total.high]


@quantized_add_op.kernel("CPU")
def _(
    ctx: Any,
    x: Array,
    y: Array,
    min_x: Array,
    max_x: Array,
    min_y: Array,
    max_y: Array,
    *,
    T1: DType,
    T2: DType,
    Toutput: DType,
) -> list[Any]:
    return _sum(x, y, scale("x", T1, min_x, max_x), scale("y", T2, min_y, max_y), Toutput, _ROOM_AFTER_ADD)


@quantized_bias_add_op.shape
def _(x: InputShape, bias: InputShape, *limits: InputShape) -> list[TensorShape]:
    dims = with_rank_at_least(x, 2)
    if dims.ndims is None:
        return with_limits(dims, *limits)
    return with_limits(TensorShape([*dims.as_list()[:-1], *merged(dims[-1:], with_rank(bias, 1)).as_list()]), *limits)


@quantized_bias_add_op.kernel("CPU")
def _(
    ctx: Any,
    input: Array,
    bias: Array,
    min_input: Array,
    max_input: Array,
    min_bias: Array,
    max_bias: Array,
    *,
    T1: DType,
    T2: DType,
    out_type: DType,
) -> list[Any]:
    if bias.ndim != 1 or bias.shape != input.shape[-1:]:
        raise InvalidArgumentError(
            None,
            None,
            f"Must provide as many biases as the last dimension of the input tensor: {dims_text(bias.shape)} vs. "
            f"{dims_text(input.shape)}",
        )
    of_input, of_bias = scale("input", T1, min_input, max_input), scale("bias", T2, min_bias, max_bias)
    return _sum(input, bias, of_input, of_bias, out_type, _ROOM_AFTER_BIAS)


def quantized_conv2d(
    input: Any,
    filter: Any,
    min_input: Any,
    max_input: Any,
    min_filter: Any,
    max_filter: Any,
    strides: Any,
    padding: str,
    out_type: Any = "qint32",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """(convolution of quantised images and filters, its limits' lower and upper). Source: `tf.nn.quantized_conv2d`."""
    return quantized_conv2d_op(
        input,
        filter,
        min_input,
        max_input,
        min_filter,
        max_filter,
        strides=strides,
        padding=padding,
        out_type=out_type,
        dilations=list(dilations),
        name=name,
    )
