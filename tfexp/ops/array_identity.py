"""Values that enter a graph or pass through it: constants, placeholders, identities that gradients pass or do not pass."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorboard.compat.proto.tensor_pb2 import TensorProto

from tfexp.core.dtypes import DType, type_text
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.formats.tensor import make_ndarray
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, same_shape


def _pass_through(node: BindRequest) -> Call:
    return Call(_first, view=True)


def _first(x: Any) -> Any:
    return x


# --- constants and placeholders --------------------------------------------------------------------------------------

const_op = define_op("Const() -> (output: dtype) {value: tensor; dtype: type}")


@const_op.shape
def _(*, value: TensorProto) -> TensorShape:
    return TensorShape(value.tensor_shape)


@const_op.kernel("CPU")
def _(ctx: Any, *, value: TensorProto) -> Array:
    return make_ndarray(value)


const_op.not_differentiable()


placeholder_op = define_op("Placeholder() -> (output: dtype) {dtype: type; shape: shape = unknown}")


# Another name of it, for shapes that were as meant when Placeholder's scalar shape meant an unknown one.
placeholder_v2_op = define_op("PlaceholderV2() -> (output: dtype) {dtype: type; shape: shape}")


@placeholder_op.shape
@placeholder_v2_op.shape
def _(*, shape: TensorShape) -> TensorShape:
    return shape


@placeholder_op.kernel("CPU")
@placeholder_v2_op.kernel("CPU")
def _(ctx: Any, *, dtype: DType, shape: TensorShape) -> Array:
    name = "" if ctx is None else ctx.node_name
    known = f" and shape {dims_text(shape.known_dims)}" if shape.known_dims else ""
    raise ValueError(f"You must feed a value for placeholder tensor {name!r} with dtype {type_text(dtype)}{known}")


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor that every run has to feed. Running it unfed is an InvalidArgumentError. Source: `tf.placeholder`."""
    if executing_eagerly():
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    result: Tensor = placeholder_op(dtype=dtype, shape=TensorShape(shape), name=name)
    return result


placeholder_with_default_op = define_op(
    "PlaceholderWithDefault(input: dtype) -> (output: dtype) {dtype: type; shape: shape}"
)


@placeholder_with_default_op.shape
def _(input: InputShape, *, shape: TensorShape) -> TensorShape:
    merged(input, shape)
    return shape


@placeholder_with_default_op.kernel("CPU", view=True)
def _(ctx: Any, input: Array, *, shape: TensorShape) -> Array:
    if not shape.is_compatible_with(np.shape(input)):  # a list or a data set is a value without a shape
        raise InvalidArgumentError(None, None, f"The default has shape {list(np.shape(input))}, the placeholder {shape}")
    return input


@placeholder_with_default_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return grad


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A placeholder that has `input`'s value when it is not fed. Source: `tf.placeholder_with_default`."""
    result: Tensor = placeholder_with_default_op(input, shape=TensorShape(shape), name=name)
    return result


# --- identities -------------------------------------------------------------------------------------------------------

identity_op = define_op("Identity(input: T) -> (output: T) {T: type}")
identity_op.shape(same_shape)
identity_op.bind(_pass_through)


@identity_op.kernel("CPU", "XLA", view=True)
def _(ctx: Any, input: Array) -> Array:
    return input


@identity_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return grad


def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor (or IndexedSlices) with the same value. Source: `tf.identity`."""
    if isinstance(input, IndexedSlices):
        shape = input.dense_shape
        return IndexedSlices(
            identity_op(input.values, name=name),
            identity_op(input.indices, name=name),
            None if shape is None else identity_op(shape, name=name),
        )
    return identity_op(input, name=name)


identity_n_op = define_op("IdentityN(input: T) -> (output: T) {T: list(type) >= 1}")


@identity_n_op.shape
def _(inputs: list[InputShape]) -> list[InputShape]:
    return inputs


@identity_n_op.kernel("CPU", "XLA", view=True)
def _(ctx: Any, inputs: list[Array]) -> list[Array]:
    return inputs


@identity_n_op.gradient
def _(op: Operation, *grads: Tensor) -> list[Tensor]:
    return list(grads)


stop_gradient_op = define_op("StopGradient(input: T) -> (output: T) {T: type}").not_differentiable()
stop_gradient_op.shape(same_shape)
stop_gradient_op.bind(_pass_through)


@stop_gradient_op.kernel("CPU", "XLA", view=True)
def _(ctx: Any, input: Array) -> Array:
    return input


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """`input` as a constant for `tf.gradients`. Source: `tf.stop_gradient`."""
    result: Tensor = stop_gradient_op(input, name=name)
    return result


ensure_shape_op = define_op("EnsureShape(input: T) -> (output: T) {shape: shape; T: type}")


@ensure_shape_op.shape
def _(input: InputShape, *, shape: TensorShape) -> TensorShape:
    return merged(shape, input)


@ensure_shape_op.kernel("CPU", view=True)
def _(ctx: Any, input: Array, *, shape: TensorShape) -> Array:
    if not shape.is_compatible_with(np.shape(input)):
        raise ValueError(
            f"Shape of tensor {dims_text(np.shape(input))} is not compatible with expected shape "
            f"{dims_text(shape.as_list())}."
        )
    return input


@ensure_shape_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return grad


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, with its static shape refined and checked again at run time. Source: `tf.ensure_shape`."""
    result: Tensor = ensure_shape_op(x, shape=TensorShape(shape), name=name)
    return result
