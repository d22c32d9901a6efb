"""Trigonometric and hyperbolic functions and their inverses, element by element, in radians."""

from __future__ import annotations

import numpy as np

from tfexp.core.op import define_op
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import complex_numbers, elementwise_binary, elementwise_unary
from tfexp.ops.shape_rules import shape_preserving

sin = define_op("Sin(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
cos = define_op("Cos(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
tan = define_op("Tan(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
asin = define_op("Asin(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
acos = define_op("Acos(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
atan = define_op("Atan(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
sinh = define_op("Sinh(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")
cosh = define_op("Cosh(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,complex64,complex128]}")

for _op, _function in (
    (sin, np.sin),
    (cos, np.cos),
    (tan, np.tan),
    (asin, np.arcsin),
    (acos, np.arccos),
    (atan, np.arctan),
    (sinh, np.sinh),
    (cosh, np.cosh),
):
    shape_preserving(_op).ufunc(_function)


def _one(x: Tensor) -> Tensor:
    return constant(1, dtype=x.dtype.base_dtype)


@sin.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * cos(complex_numbers.conj(op.inputs[0]))


@cos.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return -grad * sin(complex_numbers.conj(op.inputs[0]))


@tan.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        secant = elementwise_unary.reciprocal(cos(complex_numbers.conj(op.inputs[0])))
        return elementwise_unary.square(secant) * grad


@asin.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # 1 / sqrt(1 - x^2)
    with control_dependencies([grad]):
        x = complex_numbers.conj(op.inputs[0])
        square = elementwise_unary.square(x)
        root = elementwise_unary.sqrt(elementwise_binary.sub(_one(grad), square))
        return grad * elementwise_unary.reciprocal(root)


@acos.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # -1 / sqrt(1 - x^2)
    with control_dependencies([grad]):
        x = complex_numbers.conj(op.inputs[0])
        square = elementwise_unary.square(x)
        root = elementwise_unary.sqrt(elementwise_binary.sub(_one(grad), square))
        inverse = elementwise_unary.reciprocal(root)
        return -grad * inverse


@atan.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # 1 / (1 + x^2)
    with control_dependencies([grad]):
        x = complex_numbers.conj(op.inputs[0])
        square = elementwise_unary.square(x)
        inverse = elementwise_unary.reciprocal(elementwise_binary.add(_one(grad), square))
        return grad * inverse


@sinh.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * cosh(complex_numbers.conj(op.inputs[0]))


@cosh.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    with control_dependencies([grad]):
        return grad * sinh(complex_numbers.conj(op.inputs[0]))
