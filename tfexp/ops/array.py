"""The shape of a value, and the same elements in another shape: shape, size, rank, reshape, squeeze.

The other array ops: `array_identity` (constants, placeholders, identities), `array_fill` (zeros, ranges), `array_join`
(concat, stack), `array_split`, `array_tile`, `array_slice` (slices, padding), `array_order` (transpose, reverse, unique),
`array_gather`, `array_mask` (choosing by condition) and `array_partition`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.deprecation import deprecated_argument_lookup
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.shape_rules import fixed_dims, with_rank_at_most
from tfexp.ops.shared_copy import copy_into

Array = np.ndarray


def require_scalar(name: str, value: Any) -> None:
    """InvalidArgumentError, which names the input, for a kernel's input of another rank than 0."""
    if np.ndim(value):
        raise InvalidArgumentError(None, None, f"{name} must be a scalar, not shape {dims_text(np.shape(value))}")


def element_array(value: Any) -> Any:
    """What indexing gave, with a lone string as the 0-d array that kernels hand on."""
    if isinstance(value, bytes):
        scalar = np.empty((), object)
        scalar[()] = value
        return scalar
    return value


def same_shape(x: InputShape) -> TensorShape:
    """The shape rule of ops whose output has the shape of their only input."""
    return x


# --- shape, size, rank ------------------------------------------------------------------------------------------------

shape_op = define_op(
    "Shape(input: T) -> (output: out_type) {T: type; out_type: type in [int32,int64] = int32}"
).not_differentiable()


@shape_op.shape
def _(input: InputShape) -> TensorShape:
    return TensorShape([input.rank])


@shape_op.kernel("CPU")
def _(ctx: Any, input: Array, *, out_type: DType) -> Array:
    return np.array(np.shape(input), out_type.as_numpy_dtype)


def shape(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The shape as a vector: a constant where it is known. Source: `tf.shape`."""
    return shape_internal(input, name, out_type=out_type)


def shape_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """`tf.shape`, with `optimize=False` a Shape node wherever there could be a constant."""
    out_type = dtypes.as_dtype(out_type or dtypes.int32)
    with name_scope(name, "Shape", [input]) as scope:
        if _is_sparse(input):
            sparse_shape: Tensor = get_op("Cast")(input.dense_shape, DstT=out_type, name=scope)
            return sparse_shape
        tensor = convert_to_tensor(input)
        if optimize and tensor.get_shape().is_fully_defined():
            return constant(tensor.get_shape().as_list(), dtype=out_type, name=scope)
        result: Tensor = shape_op(tensor, out_type=out_type, name=scope)
        return result


def shape_as_tensor(input: Tensor) -> Any:
    """The shape, where it is known as a constant in a scope of its own: TensorFlow's `shape_internal` names it so."""
    with name_scope(None, "Shape", [input]) as scope:
        if input.shape.is_fully_defined():
            return convert_to_tensor(input.shape, dtype=dtypes.int32, name="shape_as_tensor")
        return shape_op(input, name=scope)


def _is_sparse(value: Any) -> bool:
    return not isinstance(value, IndexedSlices) and all(
        hasattr(value, part) for part in ("indices", "values", "dense_shape")
    )


shape_n_op = define_op(
    "ShapeN(input: N * T) -> (output: N * out_type) {N: int >= 1; T: type; out_type: type in [int32,int64] = int32}"
).not_differentiable()


@shape_n_op.shape
def _(input: list[InputShape]) -> list[TensorShape]:
    return [TensorShape([x.rank]) for x in input]


@shape_n_op.kernel("CPU")
def _(ctx: Any, input: list[Array], *, out_type: DType) -> list[Array]:
    return [np.array(np.shape(x), out_type.as_numpy_dtype) for x in input]


def shape_n(input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None) -> list[Tensor]:
    """The shapes of several tensors in one node. Source: `tf.shape_n`."""
    return list(shape_n_op(list(input), out_type=out_type, name=name))


size_op = define_op(
    "Size(input: T) -> (output: out_type) {T: type; out_type: type in [int32,int64] = int32}"
).not_differentiable()


@size_op.shape
def _(input: InputShape) -> TensorShape:
    return TensorShape([])


@size_op.kernel("CPU")
def _(ctx: Any, input: Array, *, out_type: DType) -> Array:
    return np.array(np.size(input), out_type.as_numpy_dtype)


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32) -> Tensor:
    """The number of elements: a constant where it is known. Source: `tf.size`."""
    return size_internal(input, name, out_type=out_type)


def size_internal(input: Any, name: str | None = None, optimize: bool = True, out_type: Any = dtypes.int32) -> Tensor:
    """`tf.size`, with `optimize=False` a Size node wherever there could be a constant."""
    out_type = dtypes.as_dtype(out_type or dtypes.int32)
    with name_scope(name, "Size", [input]) as scope:
        if _is_sparse(input):
            dims = get_op("Cast")(input.dense_shape, DstT=out_type, name="Cast")
            elements: Tensor = get_op("Prod")(dims, constant([0], name="Const"), name=scope)
            return elements
        tensor = convert_to_tensor(input)
        static = tensor.get_shape()
        if optimize and static.is_fully_defined():
            return constant(static.num_elements(), dtype=out_type, name=scope)
        if optimize and 0 in (static.known_dims or ()):
            return constant(0, dtype=out_type, name=scope)
        result: Tensor = size_op(tensor, out_type=out_type, name=scope)
        return result


rank_op = define_op("Rank(input: T) -> (output: int32) {T: type}").not_differentiable()


@rank_op.shape
def _(input: InputShape) -> TensorShape:
    return TensorShape([])


@rank_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    return np.array(np.ndim(input), np.int32)


def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of dimensions: a constant where it is known. Source: `tf.rank`."""
    return rank_internal(input, name)


def rank_internal(input: Any, name: str | None = None, optimize: bool = True) -> Tensor:
    """`tf.rank`, with `optimize=False` a Rank node wherever there could be a constant."""
    with name_scope(name, "Rank", [input]) as scope:
        if _is_sparse(input):
            dims: Tensor = size(input.dense_shape, name=scope)
            return dims
        tensor = convert_to_tensor(input)
        if optimize and tensor.get_shape().ndims is not None:
            return constant(tensor.get_shape().ndims, dtype=dtypes.int32, name=scope)
        result: Tensor = rank_op(tensor, name=scope)
        return result


# --- reshaping --------------------------------------------------------------------------------------------------------

reshape_op = define_op("Reshape(tensor: T, shape: Tshape) -> (output: T) {T: type; Tshape: type in [int32,int64] = int32}")


@reshape_op.shape
def _(tensor: InputShape, shape: InputShape) -> TensorShape:
    with_rank_at_most(shape, 1)
    target = shape.value_as_shape
    dims, elements = target.known_dims, tensor.num_elements()
    if dims is None or elements is None:
        return target
    known = math.prod(d for d in dims if d is not None)
    if None not in dims:
        if known != elements:
            raise ValueError(
                f"Cannot reshape a tensor with {elements} elements to shape {dims_text(dims)} ({known} elements)"
            )
        return target
    if known == 0 and elements:
        raise ValueError(f"Cannot reshape a tensor with {elements} elements to shape {dims_text(dims)} (0 elements)")
    if dims.count(None) > 1 or known == 0:
        return target
    if elements % known:
        raise ValueError(f"Dimension size must be evenly divisible by {known} but is {elements}")
    return TensorShape([elements // known if d is None else d for d in dims])


def _reshaped(tensor: Array, shape: Array) -> Array:
    if np.ndim(shape) != 1:
        raise ValueError(f"sizes input must be 1-D, not {dims_text(np.shape(shape))}")
    dims = shape.tolist()
    open_dims = [i for i, d in enumerate(dims) if d == -1]
    if len(open_dims) > 1:
        raise ValueError(f"Only one input size may be -1, not both {open_dims[0]} and {open_dims[1]}")
    for i, d in enumerate(dims):
        if d < -1:
            raise ValueError(f"Size {i} must be non-negative, not {d}")
    known = math.prod(d for d in dims if d != -1)
    elements = np.size(tensor)
    if open_dims:
        if known == 0:
            if elements:
                raise ValueError(
                    "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes "
                    "are non-zero"
                )
            # Nothing to count: the sizes that are not zero say how the missing one would divide.
            missing = math.prod(d for d in np.shape(tensor) if d) // math.prod(d for d in dims if d > 0)
            return np.reshape(tensor, [missing if d == -1 else d for d in dims])
        if elements % known:
            raise ValueError(
                f"Input to reshape is a tensor with {elements} values, but the requested shape requires a multiple of "
                f"{known}"
            )
        dims[open_dims[0]] = elements // known
    elif known != elements:
        raise ValueError(f"Input to reshape is a tensor with {elements} values, but the requested shape has {known}")
    return np.reshape(tensor, dims)


@reshape_op.kernel("CPU", "XLA", view=True, static=("shape",))
def _(ctx: Any, tensor: Array, shape: Array) -> Array:
    return _reshaped(tensor, shape)


@reshape_op.bind
def _(node: BindRequest) -> Call | None:
    dims = fixed_dims(node.output_shapes[0])
    if dims is None or node.input_shapes[0].num_elements() is None or node.input_values[1] is None:
        return None  # a shape that is only computed or fed has to be checked
    if math.prod(dims) < _MANY:
        return Call(lambda tensor, shape: tensor.reshape(dims), view=True)

    def reshaped(tensor: Array, shape: Array) -> Array:
        if not tensor.flags.c_contiguous:
            tensor = copy_into(np.empty(tensor.shape, tensor.dtype), tensor)  # what is left of a transposed array
        return tensor.reshape(dims)

    return Call(reshaped, view=True)


_MANY = 1 << 19  # elements: copies are worth two threads


@reshape_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    grad = convert_to_tensor(grad)
    dims = op.inputs[0].get_shape().known_dims
    if dims is not None and dims.count(None) == 1:
        # The one unknown dimension follows from the others.
        return [reshape(grad, [-1 if d is None else d for d in dims]), None]
    return [reshape(grad, shape(op.inputs[0])), None]


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Tensor:
    """`tensor` with another shape of as many elements; one dimension may be -1. Source: `tf.reshape`."""
    result: Tensor = reshape_op(tensor, shape, name=name)
    return result


expand_dims_op = define_op("ExpandDims(input: T, dim: Tdim) -> (output: T) {T: type; Tdim: type in [int32,int64] = int32}")


@expand_dims_op.shape
def _(input: InputShape, dim: InputShape) -> TensorShape:
    dims, axis = input.known_dims, dim.value
    if dims is None:
        return TensorShape(None)
    if axis is None:
        return TensorShape([None] * (len(dims) + 1))
    if axis.size != 1:
        raise ValueError("'dim' input must be a tensor with a single value")
    position = int(axis.reshape(()))
    if not -len(dims) - 1 <= position <= len(dims):
        raise ValueError(f"dim {position} not in the interval [{-len(dims) - 1}, {len(dims)}].")
    position %= len(dims) + 1
    return TensorShape([*dims[:position], 1, *dims[position:]])


@expand_dims_op.kernel("CPU", "XLA", view=True, static=("dim",))
def _(ctx: Any, input: Array, dim: Array) -> Array:
    if np.size(dim) != 1:
        raise ValueError("'dim' input must be a tensor with a single value")
    position, rank_before = int(np.reshape(dim, ())), np.ndim(input)
    if not -rank_before - 1 <= position <= rank_before:
        raise ValueError(f"Tried to expand dim index {position} for tensor with {rank_before} dimensions.")
    return np.expand_dims(input, position)


@expand_dims_op.bind
def _(node: BindRequest) -> Call | None:
    if not (node.input_shapes[0].is_fully_defined() and node.output_shapes[0].is_fully_defined()):
        return None
    dims = tuple(node.output_shapes[0].as_list())
    return Call(lambda input, dim: input.reshape(dims), view=True)


@expand_dims_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [reshape(convert_to_tensor(grad), shape(op.inputs[0])), None]


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Tensor:
    """`input` with a dimension of 1 inserted before `axis`. Source: `tf.expand_dims`."""
    axis = deprecated_argument_lookup("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    result: Tensor = expand_dims_op(input, axis, name=name)
    return result


squeeze_op = define_op("Squeeze(input: T) -> (output: T) {T: type; squeeze_dims: list(int) >= 0 = []}")


def _squeezed(dims: Sequence[int | None], squeeze_dims: list[int]) -> list[int | None] | None:
    """The dimensions that stay; None when that depends on an unknown one."""
    rank_before = len(dims)
    for axis in squeeze_dims:
        if not -rank_before <= axis < rank_before:
            raise ValueError(f"Tried to squeeze dim index {axis} for tensor with {rank_before} dimensions.")
    chosen = {axis % rank_before for axis in squeeze_dims}
    for axis in sorted(chosen):
        if dims[axis] not in (1, None):
            raise ValueError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}")
    if not squeeze_dims:
        return None if None in dims else [d for d in dims if d != 1]
    return [d for axis, d in enumerate(dims) if axis not in chosen]


@squeeze_op.shape
def _(input: InputShape, *, squeeze_dims: list[int]) -> TensorShape:
    return TensorShape(None if input.known_dims is None else _squeezed(input.known_dims, squeeze_dims))


@squeeze_op.kernel("CPU", "XLA", view=True)
def _(ctx: Any, input: Array, *, squeeze_dims: list[int]) -> Array:
    dims = _squeezed(np.shape(input), squeeze_dims)
    return np.reshape(input, [d for d in dims or () if d is not None])


@squeeze_op.bind
def _(node: BindRequest) -> Call | None:
    if not (node.input_shapes[0].is_fully_defined() and node.output_shapes[0].is_fully_defined()):
        return None
    dims = tuple(node.output_shapes[0].as_list())
    return Call(lambda input: input.reshape(dims), view=True)


@squeeze_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    return reshape(grad, shape(op.inputs[0]))


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Tensor:
    """`input` without its dimensions of 1, all of them or those in `axis`. Source: `tf.squeeze`."""
    axis = deprecated_argument_lookup("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is None:
        axis = []
    axes = list(axis) if isinstance(axis, (list, tuple, np.ndarray)) else [axis]
    result: Tensor = squeeze_op(input, squeeze_dims=axes, name=name)
    return result
