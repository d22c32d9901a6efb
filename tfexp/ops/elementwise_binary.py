"""Element-wise ops of two or more arguments: sums, differences, products, powers, extremes. Division has its own file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import IndexedSlices, convert_n_to_tensor_or_indexed_slices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_fill, array_identity, comparison, complex_numbers, elementwise_unary
from tfexp.ops.broadcast import equal_and_known, reduced_gradients
from tfexp.ops.shape_rules import all_merged, broadcasting

# --- sums ---------------------------------------------------------------------------------------------------------

add_op = define_op(
    "Add(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,uint8,int8,int16,int32,int64,complex64,"
    "complex128,string]}"
)
add_v2 = define_op(
    "AddV2(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,uint8,uint16,uint32,uint64,int8,int16,int32,"
    "int64,complex64,complex128]} #commutative aggregate"
)
broadcasting(add_op).ufunc(np.add)
broadcasting(add_v2).ufunc(np.add)
_NUMBERS_ADDED = Call(np.add, out=True, elementwise=True)


@add_op.kernel("CPU")
def _(ctx: Any, x: Any, y: Any) -> Any:
    sums = np.add(x, y)
    return np.asarray(sums, object) if isinstance(sums, bytes) else sums  # NumPy gives the sum of two texts bare


@add_op.bind
def _(node: BindRequest) -> Call | None:
    return None if node.output_dtypes[0] is dtypes.string else _NUMBERS_ADDED


@add_op.gradient
@add_v2.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs
    if equal_and_known(x, y, grad):
        return [grad, grad]
    return reduced_gradients(x, y, grad, grad)


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x + y; strings are joined. `tf.add`."""
    with name_scope(name, "Add", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, dtype_hint=x.dtype.base_dtype, name="y")
        return (add_op if x.dtype.name == "string" else add_v2)(x, y, name=scope)


add_n_op = define_op(
    "AddN(inputs: N * T) -> (sum: T) {N: int >= 1; T: type in [float,double,int32,uint8,int16,int8,complex64,int64,"
    "qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64,variant]} #commutative "
    "aggregate"
)


@add_n_op.shape
def _(inputs: Sequence[InputShape]) -> TensorShape:
    return all_merged(inputs)


def _add_n(*inputs: Any, out: np.ndarray | None = None) -> Any:
    for i, x in enumerate(inputs):
        if np.shape(x) != np.shape(inputs[0]):
            shapes = f"Input 0: {dims_text(np.shape(inputs[0]))} != input {i}: {dims_text(np.shape(x))}"
            message = f"Inputs to operation of type AddN must have the same size and shape.  {shapes}"
            raise InvalidArgumentError(None, None, message)
    if len(inputs) == 1:
        return np.positive(inputs[0], out=out)
    return _added(*inputs, out=out)


def _added(*inputs: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The sum of two or more arrays of one shape."""
    result = np.add(inputs[0], inputs[1], out=out)
    for x in inputs[2:]:
        result = np.add(result, x, out=out)
    return result


@add_n_op.kernel("CPU", "XLA")
def _(ctx: Any, inputs: Sequence[np.ndarray]) -> np.ndarray:
    return _add_n(*inputs)


@add_n_op.bind
def _(node: BindRequest) -> Call | None:
    known = all(shape.is_fully_defined() for shape in node.input_shapes)
    if not known or len(set(node.input_shapes)) > 1:
        return Call(_add_n, out=True, pieces=True)
    if len(node.input_shapes) == 1:
        return Call(lambda x: x, view=True)
    if len(node.input_shapes) == 2:
        return Call(np.add, out=True, elementwise=True)
    return Call(_added, out=True, pieces=True)


@add_n_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    return [grad] * len(op.inputs)


def add_n(inputs: Any, name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and dtype; a single tensor is returned as it is. `tf.add_n`.

    IndexedSlices count as the dense tensors that they stand for. ValueError when there is nothing to add.
    """
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    tensors = convert_n_to_tensor_or_indexed_slices(inputs)
    if len(tensors) == 1:
        only = convert_to_tensor(tensors[0])
        return array_identity.identity(only, name=name) if name else only
    return add_n_op(tensors, name=name)


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None, name: str | None = None) -> Tensor:
    """As `add_n`, with the shape and dtype checked first. `tf.accumulate_n`; ValueError when inputs do not agree."""
    message = "inputs must be a list of at least one Tensor with the same dtype and shape"
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(message)
    tensors = [convert_to_tensor(t) for t in inputs]
    if any(t.dtype.base_dtype is not tensors[0].dtype.base_dtype for t in tensors):
        raise ValueError(message)
    merged = TensorShape(shape)
    for tensor in tensors:
        merged = merged.merge_with(tensor.shape)
    if tensor_dtype is not None and tensors[0].dtype.base_dtype != tensor_dtype:
        raise TypeError(f"tensor_dtype is {tensor_dtype}, but input is of type {tensors[0].dtype}")
    if len(tensors) == 1 and name is None:
        return tensors[0]
    if len(tensors) == 1:
        return array_identity.identity(tensors[0], name=name)
    total: Tensor = add_n_op(tensors, name=name)
    total.set_shape(merged)
    return total


# --- differences --------------------------------------------------------------------------------------------------

sub = define_op(
    "Sub(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,int32,int64,complex64,"
    "complex128,uint32,uint64]}"
)
broadcasting(sub).ufunc(np.subtract)


@sub.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs
    if equal_and_known(x, y, grad):
        return [grad, -grad]
    return reduced_gradients(x, y, grad, -grad)


squared_difference = define_op(
    "SquaredDifference(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,int32,int64,complex64,"
    "complex128]} #commutative"
)
broadcasting(squared_difference)


def _squared_difference(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    difference = np.subtract(x, y, out=out)
    if difference.dtype.kind == "c":
        return np.multiply(np.conjugate(difference), difference, out=out)
    return np.multiply(difference, difference, out=out)


@squared_difference.kernel("CPU", "XLA")
def _(ctx: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return _squared_difference(x, y)


@squared_difference.bind
def _(node: BindRequest) -> Call:
    return Call(_squared_difference, out=True, elementwise=True)


@squared_difference.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs
    with control_dependencies([grad]):
        grad_x = scalar_mul(2.0, grad) * (x - y)
    if equal_and_known(x, y, grad):
        return [grad_x, -grad_x]
    return reduced_gradients(x, y, grad_x, -grad_x)


# --- products -----------------------------------------------------------------------------------------------------

mul = define_op(
    "Mul(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,uint8,int8,uint16,int16,int32,uint32,uint64,"
    "int64,complex64,complex128]} #commutative"
)
broadcasting(mul).ufunc(np.multiply)


@mul.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs
    if equal_and_known(x, y, grad) and grad.dtype.name in ("int32", "float32"):
        return [mul(grad, y), mul(grad, x)]
    grad_x = mul(grad, complex_numbers.conj(y))
    return reduced_gradients(x, y, grad_x, mul(complex_numbers.conj(x), grad))


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A scalar (Python or 0-D tensor) times a Tensor or IndexedSlices. `tf.scalar_mul`; ValueError if it is no scalar."""
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar.shape.ndims != 0:
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return mul(scalar, x, name=name)


pow_op = define_op(
    "Pow(x: T, y: T) -> (z: T) {T: type in [bfloat16,float,half,double,int8,int16,int32,int64,complex64,complex128]}"
)
broadcasting(pow_op)


def _pow(x: np.ndarray, y: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    if x.dtype.kind == "i" and np.any(np.less(y, 0)):
        raise InvalidArgumentError(None, None, "Integers to negative integer powers are not allowed")
    return np.power(x, y, out=out)


@pow_op.kernel("CPU", "XLA", floats=True)
def _(ctx: Any, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return _pow(x, y)


# What a constant exponent of a floating power may be computed by instead: the same values, much sooner.
_POWERS: dict[float, Any] = {
    2.0: lambda x, y, out=None: np.square(x, out=out),
    1.0: lambda x, y, out=None: np.positive(x, out=out),
    0.5: lambda x, y, out=None: np.sqrt(x, out=out),
    -1.0: lambda x, y, out=None: np.reciprocal(x, out=out),
}


@pow_op.bind
def _(node: BindRequest) -> Call:
    x, exponent = node.input_dtypes[0], node.input_values[1]
    if x.is_integer:
        return Call(_pow, out=True)
    if x.is_floating and exponent is not None and exponent.ndim == 0 and float(exponent) in _POWERS:
        return Call(_POWERS[float(exponent)], out=True, elementwise=True)
    return Call(np.power, out=True, elementwise=True)


@pow_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y, z = op.inputs[0], op.inputs[1], op.outputs[0]
    cx, cy = complex_numbers.conj(x), complex_numbers.conj(y)
    grad_x = grad * cy * pow(cx, cy - 1)
    # log x where it exists; there is no real gradient for the exponent of a negative number.
    if x.dtype.is_complex:
        mask = comparison.not_equal(cx, 0)
    else:
        mask = cx > 0
    safe_x = get_op("Select")(mask, cx, array_fill.ones_like(x))
    log_x = get_op("Select")(mask, elementwise_unary.log(safe_x), array_fill.zeros_like(x))
    grad_y = grad * complex_numbers.conj(z) * log_x
    return reduced_gradients(x, y, grad_x, grad_y)


def pow(x: Any, y: Any, name: str | None = None) -> Tensor:
    """x to the power y. `tf.pow`."""
    with name_scope(name, "Pow", [x]) as scope:
        return pow_op(x, y, name=scope)


# --- extremes -----------------------------------------------------------------------------------------------------

maximum = define_op(
    "Maximum(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,int8,uint8,int16,uint16,int32,uint32,"
    "int64,uint64]}"
)
broadcasting(maximum).ufunc(np.maximum)
minimum = define_op(
    "Minimum(x: T, y: T) -> (z: T) {T: type in [bfloat16,half,float,double,int8,uint8,int16,uint16,int32,uint32,"
    "int64,uint64]}"
)
broadcasting(minimum).ufunc(np.minimum)


def _extreme_gradient(op: Operation, grad: Tensor, chooses_x: Any) -> list[Tensor | None]:
    """The whole gradient goes to the input that was chosen, to x where both are equal."""
    x, y = op.inputs
    zeros = array_fill.zeros_like(grad)
    mask = chooses_x(x, y)
    grad_x = get_op("SelectV2")(mask, grad, zeros)
    return reduced_gradients(x, y, grad_x, get_op("SelectV2")(mask, zeros, grad))


@maximum.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return _extreme_gradient(op, grad, comparison.greater_equal)


@minimum.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return _extreme_gradient(op, grad, comparison.less_equal)


# --- angles -------------------------------------------------------------------------------------------------------

atan2 = define_op("Atan2(y: T, x: T) -> (z: T) {T: type in [bfloat16,half,float,double]}")
broadcasting(atan2).ufunc(np.arctan2)


@atan2.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    y, x = op.inputs
    with control_dependencies([grad]):
        square = elementwise_unary.square
        over_r2 = grad / (square(y) + square(x))
        grad_y = x * over_r2
        grad_x = -y * over_r2
        return reduced_gradients(y, x, grad_y, grad_x)
