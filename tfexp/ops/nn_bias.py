"""Biases: BiasAdd and its gradient, and the two layers that are one line around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, reshape, shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_tile import tile
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.shape_rules import with_rank, with_rank_at_least

_NUMBER = (
    "T: type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,qint16,quint16,uint16,"
    "complex128,half,uint32,uint64]"
)
_FORMAT = f"{{{_NUMBER}; data_format: string in ['NHWC','NCHW'] = 'NHWC'}}"


def _channel_axis(data_format: str, dims: int) -> int:
    """NCHW has the channels second, NHWC last."""
    return 1 if data_format == "NCHW" and dims > 1 else dims - 1


bias_add_op = define_op(f"BiasAdd(value: T, bias: T) -> (output: T) {_FORMAT}")


@bias_add_op.shape
def _(value: InputShape, bias: InputShape, *, data_format: str) -> TensorShape:
    length = with_rank(bias, 1).as_list()[0]
    dims = with_rank_at_least(value, 3 if data_format == "NCHW" else 2).known_dims
    if dims is None:
        return TensorShape(None)
    axis = _channel_axis(data_format, len(dims))
    if dims[axis] is not None and length is not None and dims[axis] != length:
        raise ValueError(f"Dimensions must be equal, but are {dims[axis]} and {length}")
    channels = length if dims[axis] is None else dims[axis]
    return TensorShape([*dims[:axis], channels, *dims[axis + 1 :]])


def _with_bias(value: Array, bias: Array, data_format: str) -> Array:
    dims = np.shape(value)
    if len(dims) < 2:
        raise ValueError(f"Input tensor must be at least 2D: {dims_text(dims)}")
    if np.ndim(bias) != 1:
        raise ValueError(f"Biases must be 1D: {dims_text(np.shape(bias))}")
    axis = _channel_axis(data_format, len(dims))
    if dims[axis] != len(bias):
        raise ValueError(
            f"Must provide as many biases as the last dimension of the input tensor: {dims_text(np.shape(bias))} vs. "
            f"{dims_text(dims)}"
        )
    return np.add(value, bias.reshape((-1,) + (1,) * (len(dims) - 1 - axis)))


@bias_add_op.kernel("CPU", "XLA")
def _(ctx: Any, value: Array, bias: Array, *, data_format: str) -> Array:
    return _with_bias(value, bias, data_format)


@bias_add_op.bind
def _(node: BindRequest) -> Call | None:
    value, bias = node.input_shapes
    if not value.is_fully_defined() or not bias.is_fully_defined() or len(value) < 2 or len(bias) != 1:
        return None
    axis = _channel_axis(node.attrs["data_format"], len(value))
    if value.as_list()[axis] != bias.as_list()[0]:
        return None
    if axis == len(value) - 1:
        return Call(np.add, out=True, elementwise=True)
    dims = (-1,) + (1,) * (len(value) - 1 - axis)
    return Call(lambda value, bias, out=None: np.add(value, bias.reshape(dims), out), out=True, elementwise=True)


@bias_add_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    return [grad, bias_add_grad_op(grad, data_format=op.attrs["data_format"])]


bias_add_grad_op = define_op(f"BiasAddGrad(out_backprop: T) -> (output: T) {_FORMAT}")


@bias_add_grad_op.shape
def _(out_backprop: InputShape, *, data_format: str) -> TensorShape:
    dims = with_rank_at_least(out_backprop, 3 if data_format == "NCHW" else 2).known_dims
    return TensorShape([None if dims is None else dims[_channel_axis(data_format, len(dims))]])


@bias_add_grad_op.kernel("CPU", "XLA")
def _(ctx: Any, out_backprop: Array, *, data_format: str) -> Array:
    dims = np.shape(out_backprop)
    if len(dims) < 2:
        raise ValueError(f"Input tensor must be at least 2D: {dims_text(dims)}")
    axis = _channel_axis(data_format, len(dims))
    return np.add.reduce(out_backprop, tuple(i for i in range(len(dims)) if i != axis), dtype=out_backprop.dtype)


@bias_add_grad_op.bind
def _(node: BindRequest) -> Call | None:
    shape, dtype = node.input_shapes[0], node.output_dtypes[0].as_numpy_dtype
    if not shape.is_fully_defined() or len(shape) < 2 or dtype not in (np.float32, np.float64):
        return None
    dims = shape.as_list()
    if _channel_axis(node.attrs["data_format"], len(dims)) != len(dims) - 1 or 0 in dims:
        return None
    # Column sums are three times as fast as a product with a row of ones (BLAS) as by np.sum.
    rows = shape.num_elements() // dims[-1]  # type: ignore[operator]  # fully defined
    ones = np.ones(rows, dtype)
    flat = (rows, -1)

    def column_sums(out_backprop: Array, out: Array | None = None) -> Array:
        return np.dot(ones, out_backprop.reshape(flat), out)

    return Call(column_sums, out=True)


@bias_add_grad_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    dims: Any = shape(op.inputs[0])
    bias_dims = shape(grad)
    if op.attrs["data_format"] == "NCHW":
        expanded = concat([ones_like(dims[:1]), bias_dims, ones_like(dims[2:])], 0)
        multiples = concat([dims[:1], [1], dims[2:]], 0)
    else:
        expanded = concat([ones_like(dims[:-1]), bias_dims], 0)
        multiples = concat([dims[:-1], [1]], 0)
    return tile(reshape(grad, expanded), multiples)


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Tensor:
    """value + bias, a vector along the last axis (`data_format` NC…: along the second). Source: `tf.nn.bias_add`."""
    with name_scope(name, "BiasAdd", [value, bias]) as scope:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise ValueError(f"data_format must be of the form `N...C` or `NC...`: {data_format}")
        value = convert_to_tensor(value, name="input")
        bias = convert_to_tensor(bias, dtype=value.dtype.base_dtype, name="bias")
        result: Tensor = bias_add_op(value, bias, data_format=data_format, name=scope)
        return result


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """matmul(x, weights) + biases. Source: `tf.nn.xw_plus_b`."""
    with name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return bias_add(matmul(x, weights), biases, name=scope)


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Tensor:
    """relu(matmul(x, weights) + biases). Source: `tf.nn.relu_layer`."""
    with name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        x = convert_to_tensor(x, name="x")
        weights = convert_to_tensor(weights, name="weights")
        biases = convert_to_tensor(biases, name="biases")
        return relu(bias_add(matmul(x, weights), biases), name=scope)
