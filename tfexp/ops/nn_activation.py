"""Activation functions: the Relu family, Elu, Selu, Softplus, Softsign, and the ops of their gradients.

`…Grad` ops take the gradient first, then what TensorFlow's take: the features, or for Elu and Selu the outputs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import Op, define_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import sigmoid
from tfexp.ops.scalar_arrays import scalar_array
from tfexp.ops.shape_rules import check_alike, same_shapes, shape_preserving

_REAL = "T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]"
_FLOAT = "T: type in [half,bfloat16,float,double]"


def _defined(op: Op, function: Any) -> None:
    """The op's kernel and direct call are one element-wise function that takes `out=`."""

    @op.kernel("CPU", "XLA")
    def _(ctx: Any, *inputs: Array) -> Array:
        check_alike(op.name, *inputs)
        return function(*inputs)

    @op.bind
    def _(node: BindRequest) -> Call | None:
        return Call(function, out=True, elementwise=True) if _shapes_are_equal(node) else None


def _shapes_are_equal(node: BindRequest) -> bool:
    return len(node.input_shapes) == 1 or (
        node.input_shapes[0].is_fully_defined() and node.input_shapes[0].known_dims == node.input_shapes[1].known_dims
    )


# --- Relu -------------------------------------------------------------------------------------------------------------

relu_op = define_op(
    "Relu(features: T) -> (activations: T) {T: type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,"
    "uint32,uint64,qint8]}"
)
shape_preserving(relu_op)


@relu_op.kernel("CPU", "XLA")
def _(ctx: Any, features: Array) -> Array:
    return np.maximum(features, scalar_array(0, features.dtype))


@relu_op.bind
def _(node: BindRequest) -> Call:
    zero = scalar_array(0, node.output_dtypes[0].as_numpy_dtype)

    def relu_of(features: Array, out: Array | None = None) -> Array:
        return np.maximum(features, zero, out=out)

    return Call(relu_of, out=True, elementwise=True)


@relu_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return relu_grad_op(grad, op.outputs[0])


relu_grad_op = define_op(f"ReluGrad(gradients: T, features: T) -> (backprops: T) {{{_REAL}}}")
same_shapes(relu_grad_op)


@relu_grad_op.kernel("CPU", "XLA")
def _(ctx: Any, gradients: Array, features: Array) -> Array:
    check_alike("ReluGrad", gradients, features)
    return np.multiply(gradients, np.greater(features, scalar_array(0, features.dtype)), dtype=gradients.dtype)


@relu_grad_op.bind
def _(node: BindRequest) -> Call | None:
    shape, dtype = node.input_shapes[1], node.output_dtypes[0].as_numpy_dtype
    if not _shapes_are_equal(node):
        return None
    zero = scalar_array(0, dtype)

    def relu_backward(gradients: Array, features: Array, mask: Array, out: Array | None = None) -> Array:
        np.greater(features, zero, out=mask)
        return np.multiply(gradients, mask, out, dtype=dtype)

    return Call(relu_backward, out=True, elementwise=True, scratch=((tuple(shape.as_list()), np.bool_),))  # type: ignore[arg-type]


def _piecewise_gradient(op: Operation, grad: Tensor) -> list[Tensor]:
    """The second derivative of a piecewise linear function is zero."""
    again = relu_grad_op if op.type == "ReluGrad" else relu6_grad_op
    return [again(grad, op.inputs[1]), zeros_like(op.inputs[1])]


relu_grad_op.gradient(_piecewise_gradient)


def relu(features: Any, name: str | None = None) -> Tensor:
    """max(features, 0). Source: `tf.nn.relu`."""
    result: Tensor = relu_op(features, name=name)
    return result


# --- Relu6 ------------------------------------------------------------------------------------------------------------

relu6_op = define_op(f"Relu6(features: T) -> (activations: T) {{{_REAL}}}")
shape_preserving(relu6_op)


@relu6_op.kernel("CPU", "XLA")
def _(ctx: Any, features: Array) -> Array:
    return np.minimum(np.maximum(features, scalar_array(0, features.dtype)), scalar_array(6, features.dtype))


@relu6_op.bind
def _(node: BindRequest) -> Call:
    dtype = node.output_dtypes[0].as_numpy_dtype
    zero, six = scalar_array(0, dtype), scalar_array(6, dtype)

    def relu6_of(features: Array, out: Array | None = None) -> Array:
        return np.minimum(np.maximum(features, zero, out=out), six, out=out)

    return Call(relu6_of, out=True, elementwise=True)


@relu6_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return relu6_grad_op(grad, op.outputs[0])


relu6_grad_op = define_op(f"Relu6Grad(gradients: T, features: T) -> (backprops: T) {{{_REAL}}}")
same_shapes(relu6_grad_op)


def _relu6_grad(gradients: Array, features: Array, out: Array | None = None) -> Array:
    dtype = features.dtype
    inside = np.greater(features, scalar_array(0, dtype))
    inside &= np.less(features, scalar_array(6, dtype))
    return np.multiply(gradients, inside, out, dtype=dtype)


_defined(relu6_grad_op, _relu6_grad)
relu6_grad_op.gradient(_piecewise_gradient)


def relu6(features: Any, name: str | None = None) -> Tensor:
    """min(max(features, 0), 6). Source: `tf.nn.relu6`."""
    with name_scope(name, "Relu6", [features]) as scope:
        result: Tensor = relu6_op(convert_to_tensor(features, name="features"), name=scope)
        return result


# --- LeakyRelu --------------------------------------------------------------------------------------------------------

_LEAKY = "{alpha: float = 0.20000000298023224; T: type in [half,bfloat16,float,double] = float}"

leaky_relu_op = define_op(f"LeakyRelu(features: T) -> (activations: T) {_LEAKY}")
shape_preserving(leaky_relu_op)


@leaky_relu_op.kernel("CPU", "XLA")
def _(ctx: Any, features: Array, *, alpha: float) -> Array:
    leak = np.multiply(features, scalar_array(alpha, features.dtype))
    return np.maximum(features, leak) if alpha <= 1 else np.minimum(features, leak)


@leaky_relu_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return leaky_relu_grad_op(grad, op.inputs[0], alpha=op.attrs["alpha"])


leaky_relu_grad_op = define_op(f"LeakyReluGrad(gradients: T, features: T) -> (backprops: T) {_LEAKY}")
same_shapes(leaky_relu_grad_op)


@leaky_relu_grad_op.kernel("CPU", "XLA")
def _(ctx: Any, gradients: Array, features: Array, *, alpha: float) -> Array:
    check_alike("LeakyReluGrad", gradients, features)
    dtype = features.dtype
    leak = np.multiply(gradients, scalar_array(alpha, dtype))
    return np.where(np.greater(features, scalar_array(0, dtype)), gradients, leak)


@leaky_relu_grad_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    features = op.inputs[1]
    return [leaky_relu_grad_op(grad, features, alpha=op.attrs["alpha"]), zeros_like(features)]


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Tensor:
    """features where positive, else alpha * features. Source: `tf.nn.leaky_relu`."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = cast(features, dtypes.float32)
        result: Tensor = leaky_relu_op(features, alpha=float(alpha), name=scope)
        return result


# --- Elu and Selu -----------------------------------------------------------------------------------------------------

elu_op = define_op(f"Elu(features: T) -> (activations: T) {{{_FLOAT}}}")
shape_preserving(elu_op)
elu = elu_op


def _elu(features: Array, out: Array | None = None) -> Array:
    # expm1 of the negative part is 0 where features are positive, and the positive part is 0 elsewhere.
    zero = scalar_array(0, features.dtype)
    below = np.expm1(np.minimum(features, zero))
    return np.add(np.maximum(features, zero), below, out)


_defined(elu_op, _elu)


@elu_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return elu_grad_op(grad, op.outputs[0])


elu_grad_op = define_op(f"EluGrad(gradients: T, outputs: T) -> (backprops: T) {{{_FLOAT}}}")
same_shapes(elu_grad_op)


def _elu_grad(gradients: Array, outputs: Array, out: Array | None = None) -> Array:
    # The slope is 1 + y below zero, 1 above.
    dtype = outputs.dtype
    slope = np.fmin(outputs, scalar_array(0, dtype))  # NaN is not below zero
    return np.multiply(gradients, np.add(slope, scalar_array(1, dtype)), out)


_defined(elu_grad_op, _elu_grad)


@elu_grad_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    return _exponential_gradient(op, grad, elu_grad_op)


def _exponential_gradient(op: Operation, grad: Any, again: Op) -> list[Tensor]:
    outputs: Any = op.inputs[1]
    return [again(grad, outputs), where(outputs < 0, grad * op.inputs[0], zeros_like(outputs))]


# Klambauer et al. 2017, "Self-Normalizing Neural Networks": the fixed point of mean 0 and variance 1.
_SELU_SCALE = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA = 1.7580993408473768599402175208123

selu_op = define_op(f"Selu(features: T) -> (activations: T) {{{_FLOAT}}}")
shape_preserving(selu_op)
selu = selu_op


def _selu(features: Array, out: Array | None = None) -> Array:
    dtype = features.dtype
    zero = scalar_array(0, dtype)
    below = np.expm1(np.minimum(features, zero))
    below *= scalar_array(_SELU_SCALE_ALPHA, dtype)
    above = np.multiply(np.maximum(features, zero), scalar_array(_SELU_SCALE, dtype))
    return np.add(above, below, out)


_defined(selu_op, _selu)


@selu_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return selu_grad_op(grad, op.outputs[0])


selu_grad_op = define_op(f"SeluGrad(gradients: T, outputs: T) -> (backprops: T) {{{_FLOAT}}}")
same_shapes(selu_grad_op)


def _selu_grad(gradients: Array, outputs: Array, out: Array | None = None) -> Array:
    # The slope is y + scale * alpha below zero, scale above.
    dtype = outputs.dtype
    negative = np.less(outputs, scalar_array(0, dtype))  # which NaN is not
    slope = np.where(negative, outputs + scalar_array(_SELU_SCALE_ALPHA, dtype), scalar_array(_SELU_SCALE, dtype))
    return np.multiply(gradients, slope, out)


_defined(selu_grad_op, _selu_grad)


@selu_grad_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    return _exponential_gradient(op, grad, selu_grad_op)


# --- Softplus and Softsign --------------------------------------------------------------------------------------------

softplus_op = define_op(f"Softplus(features: T) -> (activations: T) {{{_FLOAT}}}")
shape_preserving(softplus_op)
softplus = softplus_op


def _softplus(features: Array, out: Array | None = None) -> Array:
    # log(1 + e^x) = max(x, 0) + log1p(e^-|x|) never overflows.
    tail = np.log1p(np.exp(-np.abs(features)))
    return np.add(np.maximum(features, scalar_array(0, features.dtype)), tail, out)


_defined(softplus_op, _softplus)


@softplus_op.gradient
def _(op: Operation, grad: Any) -> Tensor:
    result: Tensor = grad * sigmoid(op.inputs[0])
    return result


softsign_op = define_op(f"Softsign(features: T) -> (activations: T) {{{_FLOAT}}}")
shape_preserving(softsign_op)
softsign = softsign_op


def _softsign(features: Array, out: Array | None = None) -> Array:
    return np.divide(features, np.add(np.abs(features), scalar_array(1, features.dtype)), out)


_defined(softsign_op, _softsign)


@softsign_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return softsign_grad_op(grad, op.inputs[0])


softsign_grad_op = define_op(f"SoftsignGrad(gradients: T, features: T) -> (backprops: T) {{{_FLOAT}}}")
same_shapes(softsign_grad_op)


def _softsign_grad(gradients: Array, features: Array, out: Array | None = None) -> Array:
    divisor = np.square(np.add(np.abs(features), scalar_array(1, features.dtype)))
    return np.divide(gradients, divisor, out)


_defined(softsign_grad_op, _softsign_grad)


# --- composite --------------------------------------------------------------------------------------------------------


def crelu(features: Any, name: str | None = None, axis: Any = -1) -> Tensor:
    """relu of `features` and of its negative, one behind the other along `axis`. Source: `tf.nn.crelu`."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        both = concat([features, -features], axis, name=scope)
        return relu(both)
