"""Complex numbers: made from parts, taken apart, conjugated."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill, broadcast, elementwise_division
from tfexp.ops.shape_rules import broadcasting, shape_preserving

complex_op = define_op(
    "Complex(real: T, imag: T) -> (out: Tout) {T: type in [float,double] = float; Tout: type in [complex64,"
    "complex128] = complex64}"
)
broadcasting(complex_op)


@complex_op.kernel("CPU")
def _(ctx: Any, real: np.ndarray, imag: np.ndarray, *, Tout: dtypes.DType) -> np.ndarray:
    result: np.ndarray = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), Tout.as_numpy_dtype)
    result.real, result.imag = real, imag
    return result


@complex_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return broadcast.reduced_gradients(op.inputs[0], op.inputs[1], real(grad), imag(grad))


def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """real + i imag, of float32 or float64 parts; TypeError for other types. `tf.complex`."""
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        types = (real.dtype.base_dtype, imag.dtype.base_dtype)
        result = {
            (dtypes.float32, dtypes.float32): dtypes.complex64,
            (dtypes.float64, dtypes.float64): dtypes.complex128,
        }.get(types)
        if result is None:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return complex_op(real, imag, Tout=result, name=scope)


def _real_shape(op: Op) -> Op:
    """The input's shape; ValueError where the result is to be of another precision."""

    @op.shape
    def _(x: InputShape, *, T: dtypes.DType, Tout: dtypes.DType) -> TensorShape:
        if T.real_dtype is not Tout:
            raise ValueError(f"{op.name} of {T.name} is {T.real_dtype.name}, not {Tout.name}")
        return x

    return op


real_op = define_op(
    "Real(input: T) -> (output: Tout) {T: type in [complex64,complex128] = complex64; Tout: type in [float,double] = float}"
)
_real_shape(real_op)


@real_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray) -> np.ndarray:
    return np.array(input.real)


@real_op.bind
def _(node: BindRequest) -> Call:
    return Call(lambda x: x.real, view=True)


@real_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return complex(grad, constant(0, dtype=grad.dtype))


imag_op = define_op(
    "Imag(input: T) -> (output: Tout) {T: type in [complex64,complex128] = complex64; Tout: type in [float,double] = float}"
)
_real_shape(imag_op)


@imag_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray) -> np.ndarray:
    return np.array(input.imag)


@imag_op.bind
def _(node: BindRequest) -> Call:
    return Call(lambda x: x.imag, view=True)


@imag_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return complex(constant(0, dtype=grad.dtype), grad)


def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; a real tensor itself. `tf.real`."""
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return input
        return real_op(input, Tout=input.dtype.real_dtype, name=scope)


def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for a real tensor. `tf.imag`."""
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return array_fill.zeros_like(input)
        return imag_op(input, Tout=input.dtype.real_dtype, name=scope)


complex_abs = define_op(
    "ComplexAbs(x: T) -> (y: Tout) {T: type in [complex64,complex128] = complex64; Tout: type in [float,double] = float}"
)
_real_shape(complex_abs).ufunc(np.absolute)


@complex_abs.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # d|x| = x / |x|, and 0 where x is.
    towards = complex(grad, array_fill.zeros_like(grad)) * op.inputs[0]
    size = complex(op.outputs[0], array_fill.zeros_like(op.outputs[0]))
    return elementwise_division.div_no_nan(towards, size)


conj_op = define_op("Conj(input: T) -> (output: T) {T: type in [complex64,complex128,variant] = complex64}")
shape_preserving(conj_op).ufunc(np.conjugate)


@conj_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return conj(grad)


def conj(x: Any, name: str | None = None) -> Tensor:
    """The complex conjugate; a real tensor itself. `tf.conj`."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return conj_op(x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
