"""Running sums and products along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import elementwise_division

cumsum_op = define_op(
    "Cumsum(x: T, axis: Tidx) -> (out: T) {exclusive: bool = false; reverse: bool = false; T: type in [float,double,"
    "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
    "uint32,uint64]; Tidx: type in [int32,int64] = int32}"
)
cumprod_op = define_op(
    "Cumprod(x: T, axis: Tidx) -> (out: T) {exclusive: bool = false; reverse: bool = false; T: type in [float,double,"
    "int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,"
    "uint32,uint64]; Tidx: type in [int32,int64] = int32}"
)


def _accumulated(
    ufunc: np.ufunc, x: np.ndarray, axis: int, exclusive: bool, reverse: bool, out: np.ndarray | None = None
) -> np.ndarray:
    result = np.empty_like(x) if out is None else out
    forward = np.flip(x, axis) if reverse else x
    target = np.flip(result, axis) if reverse else result
    if not exclusive:
        ufunc.accumulate(forward, axis=axis, dtype=x.dtype, out=target)
        return result
    # Exclusive: the first is the neutral element, and each other one stops before its own.
    first: list[Any] = [slice(None)] * x.ndim
    rest, before = list(first), list(first)
    first[axis], rest[axis], before[axis] = slice(0, 1), slice(1, None), slice(0, -1)
    target[tuple(first)] = ufunc.identity
    if x.shape[axis] > 1:
        ufunc.accumulate(forward[tuple(before)], axis=axis, dtype=x.dtype, out=target[tuple(rest)])
    return result


def _checked_axis(axis: Any, rank: int) -> int:
    if np.ndim(axis):
        raise InvalidArgumentError(None, None, f"ScanOp: axis must be a scalar, not {dims_text(np.shape(axis))}")
    position = int(axis)
    if not -rank <= position < rank:
        raise InvalidArgumentError(
            None, None, f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {position}"
        )
    return position % rank


def _attach(op: Op, ufunc: np.ufunc) -> None:
    @op.shape
    def _(x: InputShape, axis: InputShape) -> TensorShape:
        return x

    @op.kernel("CPU")
    def _(ctx: Any, x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
        x = np.asarray(x)
        return _accumulated(ufunc, x, _checked_axis(axis, x.ndim), exclusive, reverse)

    @op.bind
    def _(node: BindRequest) -> Call | None:
        value, rank = node.input_values[1], node.input_shapes[0].rank
        if value is None or not rank:
            return None
        axis = _checked_axis(value, rank)
        exclusive, reverse = node.attrs["exclusive"], node.attrs["reverse"]
        return Call(lambda x, _, out=None: _accumulated(ufunc, x, axis, exclusive, reverse, out), out=True)


_attach(cumsum_op, np.add)
_attach(cumprod_op, np.multiply)


@cumsum_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    return [cumsum(grad, op.inputs[1], exclusive=exclusive, reverse=not reverse), None]


@cumprod_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # d prod_j / d x_i = prod_j / x_i for every j that x_i goes into. As in TensorFlow, 0 where x_i is.
    x, axis = op.inputs
    exclusive, reverse = op.get_attr("exclusive"), op.get_attr("reverse")
    products = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    sums = cumsum(products * grad, axis, exclusive=exclusive, reverse=not reverse)
    return [elementwise_division.div_no_nan(sums, x), None]


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running sums along `axis`; `exclusive` starts with 0 and leaves the own element out. `tf.cumsum`."""
    with name_scope(name, "Cumsum", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return cumsum_op(x, axis, exclusive=exclusive, reverse=reverse, name=scope)


def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Tensor:
    """Running products along `axis`; `exclusive` starts with 1 and leaves the own element out. `tf.cumprod`."""
    with name_scope(name, "Cumprod", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return cumprod_op(x, axis, exclusive=exclusive, reverse=reverse, name=scope)
