"""Element-wise ops of one argument: powers and roots, exponentials, sign, and the squashing functions.

The `…Grad` ops beside them take the forward op's result y and the gradient dy of it, as in TensorFlow.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.nest import Composite
from tfexp.core.op import define_op, get_op
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill, complex_numbers, elementwise_binary
from tfexp.ops.scalar_arrays import scalar_array
from tfexp.ops.shape_rules import shape_preserving, shaped_as_first

# --- sign and magnitude -------------------------------------------------------------------------------------------

neg = define_op("Neg(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128]}")
shape_preserving(neg).ufunc(np.negative)


@neg.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return -grad  # sparse gradients stay sparse


abs_op = define_op("Abs(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,int8,int16,int32,int64]}")
shape_preserving(abs_op).ufunc(np.absolute)


@abs_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return grad * sign(op.inputs[0])


def abs(x: Any, name: str | None = None) -> Any:
    """|x|: for complex x a real tensor; of a SparseTensor its values'. `tf.abs`."""
    if isinstance(x, Composite):
        return x.of_values("Abs", abs, name)
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return complex_numbers.complex_abs(x, Tout=x.dtype.real_dtype, name=scope)
        return abs_op(x, name=scope)


sign = define_op(
    "Sign(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128]}"
)
shape_preserving(sign)


@sign.kernel("CPU", "XLA")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _sign(x)


def _sign(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    # Adding 0 turns the -0.0 that NumPy gives for -0.0 into TensorFlow's 0.0.
    result = np.sign(x, out=out)
    return np.add(result, scalar_array(0, result.dtype), out=out)


@sign.bind
def _(node: BindRequest) -> Call:
    return Call(_sign, out=True, elementwise=True)


@sign.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return array_fill.zeros_like(op.inputs[0])


# --- powers and roots ---------------------------------------------------------------------------------------------

square = define_op(
    "Square(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,int8,int16,int32,int64,uint8,uint16,uint32,"
    "uint64,complex64,complex128]}"
)
shape_preserving(square).ufunc(np.square)


@square.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    x = op.inputs[0]
    with control_dependencies([grad]):
        x = complex_numbers.conj(x)
        two = constant(2.0, dtype=x.dtype.base_dtype)
        return elementwise_binary.mul(grad, elementwise_binary.mul(x, two))


sqrt = define_op("Sqrt(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(sqrt).ufunc(np.sqrt)


@sqrt.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return sqrt_grad(op.outputs[0], grad)


sqrt_grad = define_op("SqrtGrad(y: T, dy: T) -> (z: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shaped_as_first(sqrt_grad)


def _sqrt_grad(y: np.ndarray, dy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    result = np.multiply(dy, scalar_array(0.5, dy.dtype), out=out)
    return np.divide(result, np.conjugate(y) if y.dtype.kind == "c" else y, out=out)


@sqrt_grad.kernel("CPU", "XLA")
def _(ctx: Any, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    return _sqrt_grad(y, dy)


@sqrt_grad.bind
def _(node: BindRequest) -> Call:
    return Call(_sqrt_grad, out=True, pieces=True)


@sqrt_grad.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    # z = dy / (2 y), so dz/dy = -z / y and dz/d(dy) = 1 / (2 y); of complex numbers, TensorFlow conjugates only the first.
    y = op.inputs[0]
    with control_dependencies([grad]):
        ratio = grad / y
        return [neg(complex_numbers.conj(ratio)) * op.outputs[0], 0.5 * ratio]


rsqrt = define_op("Rsqrt(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(rsqrt)


def _rsqrt(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    result = np.sqrt(x, out=out)
    return np.reciprocal(result, out=out)


@rsqrt.kernel("CPU", "XLA")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return _rsqrt(x)


@rsqrt.bind
def _(node: BindRequest) -> Call:
    return Call(_rsqrt, out=True, elementwise=True)


@rsqrt.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return rsqrt_grad(op.outputs[0], grad)


rsqrt_grad = define_op("RsqrtGrad(y: T, dy: T) -> (z: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shaped_as_first(rsqrt_grad)


def _rsqrt_grad(y: np.ndarray, dy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if y.dtype.kind == "c":
        y = np.conjugate(y)
    result = np.multiply(y, y, out=out)
    result = np.multiply(result, y, out=out)
    result = np.multiply(result, scalar_array(-0.5, y.dtype), out=out)
    return np.multiply(result, dy, out=out)


@rsqrt_grad.kernel("CPU", "XLA")
def _(ctx: Any, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    return _rsqrt_grad(y, dy)


@rsqrt_grad.bind
def _(node: BindRequest) -> Call:
    return Call(_rsqrt_grad, out=True, pieces=True)


@rsqrt_grad.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    # z = -y^3 dy / 2, so dz/dy = -3/2 y^2 dy, and dz/d(dy) is the same op again.
    y, dy = op.inputs
    with control_dependencies([grad]):
        cy, cg = complex_numbers.conj(y), complex_numbers.conj(grad)
        return [-1.5 * cg * dy * square(cy), rsqrt_grad(cy, grad)]


reciprocal = define_op(
    "Reciprocal(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128]}"
)


def _reciprocal(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if x.dtype.kind in "iu" and not np.all(x):
        raise InvalidArgumentError(None, None, "Integer division by zero")
    return np.reciprocal(x, out=out)


reciprocal_grad = define_op(
    "ReciprocalGrad(y: T, dy: T) -> (z: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}"
)


def _reciprocal_grad(y: np.ndarray, dy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if y.dtype.kind == "c":
        y = np.conjugate(y)
    # Not dy * y^2: where dy is 0, it stays so however large y is.
    result = np.multiply(dy, y, out=out)
    result = np.negative(result, out=out)
    return np.multiply(result, y, out=out)


shape_preserving(reciprocal).kernel("CPU", "XLA")(lambda ctx, x: _reciprocal(x))
reciprocal.bind(lambda node: Call(_reciprocal, out=True, elementwise=True))
reciprocal.gradient(lambda op, grad: reciprocal_grad(op.outputs[0], grad))
shaped_as_first(reciprocal_grad).kernel("CPU", "XLA")(lambda ctx, y, dy: _reciprocal_grad(y, dy))
reciprocal_grad.bind(lambda node: Call(_reciprocal_grad, out=True, pieces=True))


@reciprocal_grad.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    # z = -y^2 dy, so dz/dy = -2 y dy, and dz/d(dy) is the same op again.
    y, dy = op.inputs
    with control_dependencies([grad]):
        cy, cg = complex_numbers.conj(y), complex_numbers.conj(grad)
        return [cg * -2.0 * dy * cy, reciprocal_grad(cy, grad)]


# --- exponentials and logarithms ----------------------------------------------------------------------------------

exp = define_op("Exp(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(exp).ufunc(np.exp)


@exp.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    y = op.outputs[0]
    with control_dependencies([grad]):
        return grad * complex_numbers.conj(y)


expm1 = define_op("Expm1(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(expm1).ufunc(np.expm1)


@expm1.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * exp(complex_numbers.conj(op.inputs[0]))


log = define_op("Log(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(log).ufunc(np.log)


@log.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * reciprocal(complex_numbers.conj(op.inputs[0]))


log1p = define_op("Log1p(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(log1p).ufunc(np.log1p)


@log1p.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * reciprocal(1 + complex_numbers.conj(op.inputs[0]))


# --- squashing functions ------------------------------------------------------------------------------------------

tanh = define_op("Tanh(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(tanh).ufunc(np.tanh)


@tanh.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    y = op.outputs[0]
    with control_dependencies([grad]):
        return tanh_grad(complex_numbers.conj(y), grad)


tanh_grad = define_op("TanhGrad(y: T, dy: T) -> (z: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shaped_as_first(tanh_grad)


def _tanh_grad(y: np.ndarray, dy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    result = np.multiply(y, y, out=out)
    result = np.subtract(scalar_array(1, y.dtype), result, out=out)
    return np.multiply(result, dy, out=out)


@tanh_grad.kernel("CPU", "XLA")
def _(ctx: Any, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    return _tanh_grad(y, dy)


@tanh_grad.bind
def _(node: BindRequest) -> Call:
    return Call(_tanh_grad, out=True, pieces=True)


@tanh_grad.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    # z = (1 - y^2) dy, so dz/dy = -2 y dy, and dz/d(dy) is the same op again.
    y, dy = op.inputs
    with control_dependencies([grad]):
        a, b = complex_numbers.conj(y), complex_numbers.conj(dy)
        return [grad * -2.0 * b * a, tanh_grad(a, grad)]


sigmoid_op = define_op("Sigmoid(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shape_preserving(sigmoid_op)


def sigmoid_of(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """1 / (1 + exp(-x)), in `out` if there is one. Where exp overflows to inf, the result is the 0 that it should be."""
    result = np.negative(x, out=out)
    result = np.exp(result, out=out)
    result = np.add(result, scalar_array(1, x.dtype), out=out)
    return np.reciprocal(result, out=out)


@sigmoid_op.kernel("CPU", "XLA")
def _(ctx: Any, x: np.ndarray) -> np.ndarray:
    return sigmoid_of(x)


@sigmoid_op.bind
def _(node: BindRequest) -> Call:
    return Call(sigmoid_of, out=True, elementwise=True)


@sigmoid_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    y = op.outputs[0]
    with control_dependencies([grad]):
        return sigmoid_grad(complex_numbers.conj(y), grad)


def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)). `tf.sigmoid`."""
    with name_scope(name, "Sigmoid", [x]) as scope:
        return sigmoid_op(convert_to_tensor(x, name="x"), name=scope)


sigmoid_grad = define_op("SigmoidGrad(y: T, dy: T) -> (z: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
shaped_as_first(sigmoid_grad)


def _sigmoid_grad(y: np.ndarray, dy: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    result = np.subtract(scalar_array(1, y.dtype), y, out=out)
    result = np.multiply(result, y, out=out)
    return np.multiply(result, dy, out=out)


@sigmoid_grad.kernel("CPU", "XLA")
def _(ctx: Any, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
    return _sigmoid_grad(y, dy)


@sigmoid_grad.bind
def _(node: BindRequest) -> Call:
    return Call(_sigmoid_grad, out=True, pieces=True)


@sigmoid_grad.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    # z = y (1 - y) dy, so dz/dy = dy (1 - 2 y), and dz/d(dy) is the same op again.
    y, dy = op.inputs
    with control_dependencies([grad]):
        a, b = complex_numbers.conj(y), complex_numbers.conj(dy)
        weighted = grad * b
        return [weighted - 2.0 * weighted * a, sigmoid_grad(a, grad)]


def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """log(sigmoid(x)), as -softplus(-x), which does not lose small values. `tf.log_sigmoid`."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        return neg(get_op("Softplus")(-convert_to_tensor(x, name="x")), name=scope)
