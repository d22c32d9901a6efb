"""Real and floored division, and remainders; with rules for zero divisors.

Integer division by zero is InvalidArgumentError `Integer division by zero`; floating division gives inf and nan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import cast, complex_numbers, elementwise_unary
from tfexp.ops.broadcast import reduced_gradients
from tfexp.ops.shape_rules import broadcasting

Divide = Callable[..., np.ndarray]


def _check_divisors(x: np.ndarray, y: np.ndarray) -> None:
    # Where nothing is divided, a zero does no harm.
    if not np.all(y) and np.size(x):
        raise InvalidArgumentError(None, None, "Integer division by zero")


def _attach(op: Op, floating: Divide | None, integer: Divide | None, bound: bool = True) -> None:
    """Give `op` its kernel: `floating` and `integer`(x, y, out=None); integer divisors are checked first."""

    def checked(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        _check_divisors(x, y)
        return integer(x, y, out=out)  # type: ignore[misc]

    def compute(ctx: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        function = checked if x.dtype.kind in "iu" else floating
        if function is None or (function is checked and integer is None):
            raise InvalidArgumentError(
                None, None, f"No OpKernel was registered to support Op {op.name!r} with T={x.dtype.name}"
            )
        return function(x, y)

    def bind(node: BindRequest) -> Call | None:
        dtype = node.input_dtypes[0]
        if dtype.is_integer:
            return None if integer is None else Call(checked, out=True)
        return None if floating is None else Call(floating, out=True, elementwise=True)

    broadcasting(op).kernel("CPU")(compute)
    if floating is not None:
        # What fails for some values, as integers do for 0, cannot be compiled.
        op.kernel("XLA", floats=True)(lambda jax, x, y: floating(x, y))
    if bound:
        op.bind(bind)


# --- real division ------------------------------------------------------------------------------------------------

real_div = define_op(
    "RealDiv(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,"
    "uint64,int64,complex64,complex128]}"
)
_attach(real_div, np.divide, None)


@real_div.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # d(x/y) = dx / y + dy (-x / y / y)
    x, y = op.inputs
    cx, cy = complex_numbers.conj(x), complex_numbers.conj(y)
    grad_x = real_div(grad, cy)
    grad_y = grad * real_div(real_div(-cx, cy), cy)
    return reduced_gradients(x, y, grad_x, grad_y)


div_op = define_op(
    "Div(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,"
    "int64,complex64,complex128]}"
)


def truncated(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The quotient of integers, rounded towards zero."""
    remainder = np.fmod(x, y)
    return np.floor_divide(np.subtract(x, remainder), y, out=out)


_attach(div_op, np.divide, truncated)


@div_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs
    cx, cy = complex_numbers.conj(x), complex_numbers.conj(y)
    grad_x = grad / cy
    grad_y = grad * (-cx / cy / cy)
    return reduced_gradients(x, y, grad_x, grad_y)


div_no_nan_op = define_op("DivNoNan(x: T, y: T) -> (z: T) {T: type in [half,float,bfloat16,double,complex64,complex128]}")


@div_no_nan_op.kernel("CPU")
def _(ctx: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # Zero wherever the divisor is, whatever is divided.
    result = np.zeros(np.broadcast_shapes(np.shape(x), np.shape(y)), x.dtype)
    return np.divide(x, y, out=result, where=np.not_equal(y, 0))


@div_no_nan_op.kernel("XLA")
def _(jax: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.equal(y, 0), np.zeros_like(x), np.divide(x, y))


broadcasting(div_no_nan_op)


@div_no_nan_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs
    cx, cy = complex_numbers.conj(x), complex_numbers.conj(y)
    grad_x = div_no_nan(grad, cy)
    grad_y = grad * div_no_nan(div_no_nan(-cx, cy), cy)
    return reduced_gradients(x, y, grad_x, grad_y)


def div_no_nan(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y, and 0 where y is 0. `tf.div_no_nan`."""
    with name_scope(name, "div_no_nan", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype=x.dtype.base_dtype, name="y")
        return div_no_nan_op(x, y, name=scope)


# --- quotients rounded to integers --------------------------------------------------------------------------------

floor_div = define_op(
    "FloorDiv(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,"
    "uint64,int64,complex64,complex128]}"
)


def _float_floor_div(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    # floor(x / y), as TensorFlow has it; NumPy's floor_divide goes by the remainder and differs (1.0 // 0.1).
    return np.floor(np.divide(x, y, out=out), out=out)


_attach(floor_div, _float_floor_div, np.floor_divide)
floor_div.gradient(lambda op, grad: [None, None])


# --- remainders ---------------------------------------------------------------------------------------------------

floor_mod = define_op(
    "FloorMod(x: T, y: T) -> (z: T) {T: type in [int8,int16,int32,int64,uint8,uint16,uint32,uint64,bfloat16,half,"
    "float,double]}"
)


def _float_floor_mod(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    # The remainder of truncation, moved by one divisor where it has the other sign.
    remainder = np.asarray(np.fmod(x, y))
    other_sign = _have_other_sign(remainder, y)
    np.add(remainder, y, out=remainder, where=other_sign)
    if out is None:
        return remainder
    out[...] = remainder
    return out


def _have_other_sign(remainder: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.not_equal(np.less(remainder, 0), np.less(y, 0)) & np.not_equal(remainder, 0)


_attach(floor_mod, _float_floor_mod, np.mod)


@floor_mod.kernel("XLA", floats=True)
def _(jax: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    remainder = np.fmod(x, y)
    return np.where(_have_other_sign(remainder, y), np.add(remainder, y), remainder)


@floor_mod.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # x mod y = x - y floor(x / y)
    x, y = op.inputs
    quotient = floor_div(x, y)
    grad_y = grad * elementwise_unary.neg(quotient)
    return reduced_gradients(x, y, grad, grad_y)


# --- where 0 / 0 is 0 ---------------------------------------------------------------------------------------------


# --- public forms -------------------------------------------------------------------------------------------------

_REAL_OF = {
    "uint8": dtypes.float32,
    "int8": dtypes.float32,
    "uint16": dtypes.float32,
    "int16": dtypes.float32,
    "int32": dtypes.float64,
    "int64": dtypes.float64,
}


def quotient_dtype(dtype: DType) -> DType:
    """What integers of `dtype` become before a real division. TypeError where they cannot be divided so."""
    real = _REAL_OF.get(dtype.name)
    if real is None:
        raise TypeError(f"Invalid dtype {dtype!r} in __truediv__. Expected one of {sorted(_REAL_OF)}.")
    return real


def truediv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 3 divides: integers become floats (of 64 bits for 32-bit integers). `tf.truediv`.

    Raises TypeError when the types differ or cannot be divided.
    """
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
        x_dtype, y_dtype = x.dtype.base_dtype, y.dtype.base_dtype
        if x_dtype is not y_dtype:
            raise TypeError(f"x and y must have the same dtype, got {x_dtype!r} != {y_dtype!r}")
        if not (x_dtype.is_floating or x_dtype.is_complex):
            real = quotient_dtype(x_dtype)
            x, y = cast.cast(x, real), cast.cast(y, real)
        return real_div(x, y, name=scope)


def div(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x / y as Python 2 divides: floored for integers, real for floats. `tf.div`."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, name="y", dtype=x.dtype.base_dtype)
        if x.dtype.is_floating or x.dtype.is_complex:
            return real_div(x, y, name=scope)
        return floor_div(x, y, name=scope)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y by Python's operator, so that two numbers give a number. `tf.divide`."""
    if name is not None:
        return truediv(x, y, name=name)
    return x / y


def floordiv(x: Any, y: Any, name: str | None = None) -> Tensor:
    """floor(x / y). `tf.floordiv`."""
    with name_scope(name, "floordiv", [x, y]) as scope:
        return floor_div(x, y, name=scope)


def floormod(x: Any, y: Any, name: str | None = None) -> Tensor:
    """The remainder of floored division: it has the divisor's sign. `tf.floormod`, `tf.mod`."""
    return floor_mod(x, y, name=name)
