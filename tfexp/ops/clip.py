"""Clipping values and gradients to a range or a norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import colocate_with, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_identity, cast, elementwise_binary, elementwise_unary, logical, reduce
from tfexp.ops.array_join import stack
from tfexp.ops.broadcast import reduced_gradients

clip_by_value_op = define_op(
    "ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> (output: T) {T: type in [float,double,int32,uint8,"
    "int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]}"
)


@clip_by_value_op.shape
def _(t: InputShape, low: InputShape, high: InputShape) -> TensorShape:
    return TensorShape(t)


@clip_by_value_op.kernel("CPU", "XLA")
def _(ctx: Any, t: np.ndarray, clip_value_min: np.ndarray, clip_value_max: np.ndarray) -> np.ndarray:
    if any(np.ndim(limit) and np.shape(limit) != np.shape(t) for limit in (clip_value_min, clip_value_max)):
        raise InvalidArgumentError(
            None,
            None,
            "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar, got "
            f"{', '.join(dims_text(np.shape(x)) for x in (t, clip_value_min, clip_value_max))}",
        )
    return np.maximum(np.minimum(t, clip_value_max), clip_value_min)


@clip_by_value_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, low, high = op.inputs
    zeros = array_fill.zeros_like(grad)
    below, above = x < low, x > high
    grad_x = get_op("SelectV2")(logical.logical_or(below, above), zeros, grad)
    grad_low = reduced_gradients(x, low, None, get_op("SelectV2")(below, grad, zeros))[1]
    grad_high = reduced_gradients(x, high, None, get_op("SelectV2")(above, grad, zeros))[1]
    return [grad_x, grad_low, grad_high]


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t` (a Tensor or IndexedSlices) with its elements moved into [min, max]. `tf.clip_by_value`.

    The limits are scalars or broadcast to the shape of `t`; ValueError when they would enlarge it.
    """
    with name_scope(name, "clip_by_value", [values_of(t), clip_value_min, clip_value_max]) as scope:
        values = convert_to_tensor(values_of(t), name="t")
        below = elementwise_binary.minimum(values, clip_value_max)
        values.shape.assert_is_compatible_with(below.shape)
        clipped = elementwise_binary.maximum(below, clip_value_min, name=scope)
        values.shape.assert_is_compatible_with(clipped.shape)
        return _like(t, clipped)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t` scaled down to L2 norm `clip_norm` (over `axes`) where its norm is greater. `tf.clip_by_norm`."""
    with name_scope(name, "clip_by_norm", [values_of(t), clip_norm]) as scope:
        values = convert_to_tensor(values_of(t), name="t")
        # A zero norm would have the gradient 0 * inf: take the root of 1 there instead, and of nothing else.
        sum_of_squares = reduce.reduce_sum(values * values, axes, keepdims=True)
        positive = sum_of_squares > 0
        safe = get_op("Select")(positive, sum_of_squares, array_fill.ones_like(sum_of_squares))
        norm = get_op("Select")(positive, elementwise_unary.sqrt(safe), sum_of_squares)
        scaled = values * clip_norm
        values.shape.assert_is_compatible_with(scaled.shape)
        clipped = array_identity.identity(scaled / elementwise_binary.maximum(norm, clip_norm), name=scope)
        return _like(t, clipped)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Tensor:
    """`t` scaled down where its L2 norm, divided by the number of its elements, exceeds `clip_norm`.

    Source: `tf.clip_by_average_norm`.
    """
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = cast.cast(array.size(t), t.dtype)
        inverse_norm = elementwise_unary.rsqrt(reduce.reduce_sum(t * t, array_fill.range(array.rank(t))))
        scaled = t * clip_norm
        factor = elementwise_binary.minimum(inverse_norm * count, constant(1.0, dtype=t.dtype) / clip_norm)
        return array_identity.identity(scaled * factor, name=scope)


def global_norm(t_list: Any, name: str | None = None) -> Tensor:
    """The L2 norm of all tensors (IndexedSlices; None is left out) of a list together. `tf.global_norm`."""
    t_list = _checked_list(t_list)
    with name_scope(name, "global_norm", [t for t in t_list if t is not None]):
        values = [None if t is None else convert_to_tensor(values_of(t), name=f"t_{i}") for i, t in enumerate(t_list)]
        halves = []
        for value in values:
            if value is not None:
                with colocate_with(value):
                    halves.append(get_op("L2Loss")(value))
        half_squared = reduce.reduce_sum(stack(halves))
        return elementwise_unary.sqrt(half_squared * constant(2.0, dtype=half_squared.dtype), name="global_norm")


def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Tensor | None = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """All tensors of a list scaled by one factor, so that their common norm is at most `clip_norm`; and their norm.

    Where the norm is not finite, everything becomes nan. Source: `tf.clip_by_global_norm`.
    """
    t_list = _checked_list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list, name)
    with name_scope(name, "clip_by_global_norm", [*(t for t in t_list if t is not None), clip_norm]) as scope:
        finite = clip_norm * elementwise_binary.minimum(1.0 / use_norm, constant(1.0, dtype=use_norm.dtype) / clip_norm)
        scale = finite + (use_norm - use_norm)
        values = [None if t is None else convert_to_tensor(values_of(t), name=f"t_{i}") for i, t in enumerate(t_list)]
        clipped: list[Any] = []
        for i, (t, value) in enumerate(zip(t_list, values, strict=True)):
            if value is None:
                clipped.append(None)
                continue
            with colocate_with(value):
                clipped.append(_like(t, array_identity.identity(value * scale, name=f"{scope}_{i}")))
    return clipped, use_norm


def _checked_list(t_list: Any) -> Sequence[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError("t_list should be a sequence")
    return list(t_list)


def values_of(t: Any) -> Any:
    return t.values if isinstance(t, IndexedSlices) else t


def _like(t: Any, values: Tensor) -> Any:
    return IndexedSlices(values, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else values
