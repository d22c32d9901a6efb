"""Statistics and normalisation: L2Loss, moments, batch normalisation, unit norm, fraction of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.dtypes import DType
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, size, squeeze
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity, stop_gradient
from tfexp.ops.cast import cast
from tfexp.ops.comparison import not_equal
from tfexp.ops.elementwise_binary import maximum, mul, squared_difference
from tfexp.ops.elementwise_unary import rsqrt, square
from tfexp.ops.reduce import reduce_mean, reduce_sum

# --- L2 loss ----------------------------------------------------------------------------------------------------------

l2_loss_op = define_op("L2Loss(t: T) -> (output: T) {T: type in [half,bfloat16,float,double]}")


@l2_loss_op.shape
def _(t: InputShape) -> TensorShape:
    return TensorShape([])


@l2_loss_op.kernel("CPU", "XLA")
def _(ctx: Any, t: Array) -> Array:
    half = np.asarray(0.5, t.dtype)
    return np.multiply(half, np.add.reduce(np.square(t), None, dtype=t.dtype))


@l2_loss_op.bind
def _(node: BindRequest) -> Call | None:
    dtype = node.output_dtypes[0].as_numpy_dtype
    if dtype not in (np.float32, np.float64):
        return None
    half = np.asarray(0.5, dtype)

    def l2_loss_of(t: Array) -> Array:
        flat = t.reshape(-1)
        return half * np.dot(flat, flat)

    return Call(l2_loss_of)


@l2_loss_op.gradient
def _(op: Operation, grad: Any) -> Tensor:
    result: Tensor = op.inputs[0] * grad  # type: ignore[operator]  # bound by ops.overloads
    return result


def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """sum(t ** 2) / 2. Source: `tf.nn.l2_loss`."""
    result: Tensor = l2_loss_op(t, name=name)
    return result


# --- moments ----------------------------------------------------------------------------------------------------------


def moments(
    x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: Any = None, keepdims: Any = None
) -> tuple[Tensor, Tensor]:
    """(mean, variance) of x over `axes`; float16 is computed in float32. `shift` is ignored. Source: `tf.nn.moments`."""
    keep = bool(deprecated_argument_lookup("keepdims", keepdims, "keep_dims", keep_dims))
    with name_scope(name, "moments", [x, axes]):
        x = convert_to_tensor(x) if not isinstance(x, Tensor) else x
        wide = cast(x, dtypes.float32) if x.dtype is dtypes.float16 else x
        mean = reduce_mean(wide, axes, keepdims=True, name="mean")
        variance = reduce_mean(squared_difference(wide, stop_gradient(mean)), axes, keepdims=True, name="variance")
        if not keep:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
        if x.dtype is dtypes.float16:
            return cast(mean, dtypes.float16), cast(variance, dtypes.float16)
        return mean, variance


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: float, name: str | None = None
) -> Tensor:
    """scale * (x - mean) / sqrt(variance + epsilon) + offset; scale and offset may be None. TF symbol of this name."""
    with name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        factor: Any = rsqrt(variance + variance_epsilon)
        if scale is not None:
            factor *= scale
        scaled = x * cast(factor, x.dtype)
        shift = offset - mean * factor if offset is not None else -mean * factor
        result: Tensor = scaled + cast(shift, x.dtype)
        return result


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None) -> Tensor:
    """x / sqrt(max(sum(x ** 2), epsilon)), sums along `axis`. Source: `tf.nn.l2_normalize`."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        square_sum = reduce_sum(square(x), axis, keepdims=True)
        inverse_norm = rsqrt(maximum(square_sum, epsilon))
        result: Tensor = mul(x, inverse_norm, name=scope)
        return result


def _count_nonzero(value: Tensor, dtype: DType) -> Tensor:
    with name_scope("count_nonzero"):
        nonzero = not_equal(value, zeros([], dtype=value.dtype))
        return reduce_sum(cast(nonzero, dtype), name="nonzero_count")


def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of zeros in `value`, a float32 scalar. Source: `tf.nn.zero_fraction`."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        elements: Any = size(value, out_type=dtypes.int64)
        # Counting in int32 is faster, where the count fits.
        nonzero: Any = cond(
            elements <= np.iinfo(np.int32).max,
            true_fn=lambda: cast(_count_nonzero(value, dtypes.int32), dtypes.int64),
            false_fn=lambda: _count_nonzero(value, dtypes.int64),
        )
        with name_scope("counts_to_fraction"):
            zero = elements - nonzero
            fraction = cast(zero, dtypes.float32) / cast(elements, dtypes.float32)  # type: ignore[operator]
        return identity(fraction, "fraction")
