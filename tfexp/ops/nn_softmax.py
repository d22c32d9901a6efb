"""Softmax and log-softmax, along the last axis as ops and along any as functions."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.core.workers import short_buffers
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, rank
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.elementwise_binary import sub
from tfexp.ops.elementwise_unary import exp
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.scalar_arrays import scalar_array
from tfexp.ops.shape_rules import with_rank_at_least

_FLOAT = "{T: type in [half,bfloat16,float,double]}"

softmax_op = define_op(f"Softmax(logits: T) -> (softmax: T) {_FLOAT}")
log_softmax_op = define_op(f"LogSoftmax(logits: T) -> (logsoftmax: T) {_FLOAT}")


# Rows shorter than this are worked on transposed: NumPy reduces a few long columns faster than many short rows (5x at 10).
NARROW = 48

# Rows longer than this, of as many elements in all, are subtracted from and divided where they lie: a fifth less time.
_LONG = 512
_WORTH_SETTING = 1 << 15


def shifted(logits: Array, axis: int, out: Array | None = None) -> Array:
    """What lies along `axis` less its largest element, so that no exponential overflows."""
    # To begin from a number costs four times as much as to begin from the first element, where there is one.
    start = {} if logits.shape[axis] else {"initial": scalar_array(-np.inf, logits.dtype)}
    return np.subtract(logits, np.maximum.reduce(logits, axis, keepdims=True, **start), out)


def _softmax(logits: Array, axis: int = -1, out: Array | None = None) -> Array:
    result = shifted(logits, axis, out)
    np.exp(result, result)
    return np.divide(result, np.add.reduce(result, axis, keepdims=True), result)


def _log_softmax(logits: Array, axis: int = -1, out: Array | None = None) -> Array:
    result = shifted(logits, axis, out)
    sums = np.add.reduce(np.exp(result), axis, keepdims=True)
    return np.subtract(result, np.log(sums, sums), result)


def _of_narrow(function: Any, logits: Array, out: Array | None = None) -> Array:
    rows = logits.reshape(-1, logits.shape[-1])
    columns = function(np.ascontiguousarray(rows.T), 0)
    if out is None:
        out = np.empty(logits.shape, logits.dtype)
    out[...] = columns.T.reshape(logits.shape)
    return out


def _of_long(function: Any, logits: Array, out: Array | None = None) -> Array:
    with short_buffers():
        result: Array = function(logits, -1, out)
        return result


def _attach(op: Op, function: Any) -> None:
    @op.shape
    def _(logits: InputShape) -> TensorShape:
        return with_rank_at_least(logits, 1)

    @op.kernel("CPU", "XLA")
    def _(ctx: Any, logits: Array) -> Array:
        if np.ndim(logits) < 1:
            raise ValueError("logits must have >= 1 dimension, got []")
        return function(logits)

    @op.bind
    def _(node: BindRequest) -> Call | None:
        # The pieces of a vector would not be independent: it is one row.
        rank = node.input_shapes[0].rank
        if not rank:
            return None
        classes = node.input_shapes[0][-1].value
        if rank > 1 and classes and classes < NARROW:
            return Call(functools.partial(_of_narrow, function), out=True, elementwise=True)
        if rank > 1 and classes and classes > _LONG and (node.input_shapes[0].num_elements() or 0) >= _WORTH_SETTING:
            return Call(functools.partial(_of_long, function), out=True, elementwise=True)
        return Call(lambda logits, out=None: function(logits, -1, out), out=True, elementwise=rank > 1)


_attach(softmax_op, _softmax)
_attach(log_softmax_op, _log_softmax)


@softmax_op.gradient
def _(op: Operation, grad: Any) -> Tensor:
    softmax: Any = op.outputs[0]
    total = reduce_sum(grad * softmax, -1, keepdims=True)
    result: Tensor = (grad - total) * softmax
    return result


@log_softmax_op.gradient
def _(op: Operation, grad: Any) -> Tensor:
    softmax: Any = exp(op.outputs[0])
    result: Tensor = grad - reduce_sum(grad, -1, keepdims=True) * softmax
    return result


def _along(op: Op, logits: Any, axis: Any, name: str | None) -> Tensor:
    """`op`, which works along the last axis, along another: exchanged with the last one, and back."""
    logits = convert_to_tensor(logits)
    static = logits.get_shape()
    position = static_value(axis) if isinstance(axis, Tensor) else axis
    if position is not None and (position == -1 or (static.ndims is not None and position == static.ndims - 1)):
        result: Tensor = op(logits, name=name)
        return result
    if position is not None and static.ndims is not None and not -static.ndims <= position < static.ndims:
        raise InvalidArgumentError(
            None,
            None,
            f"Dimension ({position}) must be in the range [{-static.ndims}, {static.ndims}) where {static.ndims} is the "
            "number of dimensions in the input.",
        )
    where: Any = axis
    dims: Any = rank(logits)
    if position is not None and position < 0:
        # Computed in the graph, as TensorFlow does, although it is known.
        where = (position + dims) % static.ndims if static.ndims is not None else position + dims
    count = rank(logits)
    exchanged = op(exchange_axes(logits, where, sub(count, 1)))
    restored = exchange_axes(exchanged, where, sub(count, 1), name=name)
    restored.set_shape(static)
    return restored


def exchange_axes(x: Any, axis: Any, last: Any, name: str | None = None) -> Tensor:
    """`x` with two axes exchanged, of which `last` is the last."""
    order = concat([range_(axis), [last], range_(axis + 1, last), [axis]], 0)
    return transpose(x, order, name=name or "transpose")


def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """exp(logits), each row along `axis` (the last) divided by its sum. Source: `tf.nn.softmax`."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return _along(softmax_op, logits, -1 if axis is None else axis, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """log(softmax(logits)) along `axis` (the last). Source: `tf.nn.log_softmax`."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    return _along(log_softmax_op, logits, -1 if axis is None else axis, name)
