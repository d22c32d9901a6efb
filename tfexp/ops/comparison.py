"""Comparisons, element by element. Their results are bool and carry no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import TensorShape, broadcast_shapes, dims_text
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import broadcasting

less = define_op(
    "Less(x: T, y: T) -> (z: bool) {T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,"
    "uint32,uint64]}"
)
less_equal = define_op(
    "LessEqual(x: T, y: T) -> (z: bool) {T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,"
    "uint32,uint64]}"
)
greater = define_op(
    "Greater(x: T, y: T) -> (z: bool) {T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,"
    "uint32,uint64]}"
)
greater_equal = define_op(
    "GreaterEqual(x: T, y: T) -> (z: bool) {T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,"
    "half,uint32,uint64]}"
)
for _op, _function in (
    (less, np.less),
    (less_equal, np.less_equal),
    (greater, np.greater),
    (greater_equal, np.greater_equal),
):
    broadcasting(_op).not_differentiable().ufunc(_function)

equal_op = define_op("Equal(x: T, y: T) -> (z: bool) {T: type; incompatible_shape_error: bool = true} #commutative")
not_equal_op = define_op("NotEqual(x: T, y: T) -> (z: bool) {T: type; incompatible_shape_error: bool = true} #commutative")


def _define_equality(op: Op, function: Any, when_incompatible: bool) -> None:
    """With `incompatible_shape_error=false`, shapes that cannot broadcast give one scalar instead of an error."""

    @op.shape
    def _(x: TensorShape, y: TensorShape, *, incompatible_shape_error: bool) -> TensorShape:
        if incompatible_shape_error:
            return broadcast_shapes(x, y)
        if not (x.is_fully_defined() and y.is_fully_defined()):
            return TensorShape(None)
        try:
            return broadcast_shapes(x, y)
        except ValueError:
            return TensorShape([])

    @op.kernel("CPU", "XLA")
    def _(ctx: Any, x: np.ndarray, y: np.ndarray, *, incompatible_shape_error: bool) -> np.ndarray:
        try:
            np.broadcast_shapes(np.shape(x), np.shape(y))
        except ValueError:
            if not incompatible_shape_error:
                return np.asarray(when_incompatible)
            raise InvalidArgumentError(
                None, None, f"Incompatible shapes: {dims_text(np.shape(x))} vs. {dims_text(np.shape(y))}"
            ) from None
        result: np.ndarray = function(x, y)
        return result

    @op.bind
    def _(node: BindRequest) -> Call | None:
        if not node.attrs["incompatible_shape_error"]:
            return None
        return Call(function, out=node.input_dtypes[0].name != "string", elementwise=True)

    op.not_differentiable()


_define_equality(equal_op, np.equal, False)
_define_equality(not_equal_op, np.not_equal, True)


def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether elements are equal. Source: `tf.equal`."""
    result: Tensor = equal_op(x, y, name=name)
    return result


def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Whether elements differ. Source: `tf.not_equal`."""
    result: Tensor = not_equal_op(x, y, name=name)
    return result
