"""Tensors made of a rule: filled with one value, ranges, one-hot rows, broadcast copies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, broadcast_shapes, dims_text
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.graph.zeros import LARGE
from tfexp.ops.array import Array, rank, require_scalar, reshape, same_shape, shape, shape_internal
from tfexp.ops.shape_rules import with_rank, with_rank_at_most

fill_op = define_op("Fill(dims: index_type, value: T) -> (output: T) {T: type; index_type: type in [int32,int64] = int32}")


@fill_op.shape
def _(dims: InputShape, value: InputShape) -> TensorShape:
    with_rank(value, 0)
    with_rank(dims, 1)
    if dims.value is not None and (dims.value < 0).any():
        raise ValueError("Fill dimensions must be >= 0")
    return dims.value_as_shape


@fill_op.kernel("XLA", static=("dims",))
def _(jax: Any, dims: Array, value: Array) -> Array:
    return np.broadcast_to(value, tuple(dims.tolist()))


@fill_op.kernel("CPU")
def _(ctx: Any, dims: Array, value: Array) -> Array:
    if np.ndim(dims) != 1:
        raise ValueError(f"dims must be a vector, got shape {dims_text(np.shape(dims))}")
    if np.ndim(value):
        raise ValueError(f"value must be a scalar, got shape {dims_text(np.shape(value))}")
    if (dims < 0).any():
        raise ValueError(f"Dimension {dims.min()} must be >= 0")
    value = np.asarray(value)
    return np.full(tuple(dims.tolist()), value, dtype=value.dtype)


@fill_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    dims = grad.get_shape().ndims
    axes = range(0, rank(grad)) if dims is None else constant(np.arange(dims, dtype=np.int32))
    return [None, get_op("Sum")(grad, axes)]


def fill(dims: Any, value: Any, name: str | None = None) -> Tensor:
    """A tensor of shape `dims` whose elements are all `value`. Source: `tf.fill`."""
    result: Tensor = fill_op(dims, value, name=name)
    return result


# --- zeros and ones ---------------------------------------------------------------------------------------------------


def _filled(value: Any, dims: Any, dtype: DType, scope: str) -> Tensor:
    """`value` in a Const where `dims` is known and small, else behind a Fill."""
    if not isinstance(dims, Tensor):
        static = _static_dims(dims)
        if static is None:
            dims = convert_to_tensor(dims, dtype=dtypes.int32)
        elif static.num_elements() < LARGE and not isinstance(dims, int):  # type: ignore[operator]  # fully defined
            return constant(value, shape=static.as_list(), dtype=dtype, name=scope)
        else:
            dims = convert_to_tensor(static)
    if dims.get_shape().known_dims in (None, ()):
        dims = reshape(dims, [-1])  # a scalar stands for a vector's length
    result: Tensor = fill_op(dims, constant(value, dtype=dtype), name=scope)
    return result


def _static_dims(dims: Any) -> TensorShape | None:
    if not isinstance(dims, (int, list, tuple, TensorShape, np.ndarray)):
        return None
    try:
        static = TensorShape(dims)
    except (TypeError, ValueError):
        return None  # it holds tensors: converted as a whole by the caller, which also reports what is no shape
    return static if static.is_fully_defined() else None


def zeros(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Zeros (False, empty strings) of a shape. Source: `tf.zeros`."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "zeros", [shape]) as scope:
        zero: Any = False if dtype is dtypes.bool else "" if dtype is dtypes.string else 0
        return _filled(zero, shape, dtype, scope)


def ones(shape: Any, dtype: Any = dtypes.float32, name: str | None = None) -> Tensor:
    """Ones (True) of a shape. Source: `tf.ones`."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    with name_scope(name, "ones", [shape]) as scope:
        return _filled(True if dtype is dtypes.bool else 1, shape, dtype, scope)


zeros_like_op = define_op("ZerosLike(x: T) -> (y: T) {T: type}").not_differentiable()
zeros_like_op.shape(same_shape)


@zeros_like_op.kernel("CPU")
def _(ctx: Any, x: Any) -> Any:
    x = np.asarray(x)
    return np.full(x.shape, b"", object) if x.dtype == object else np.zeros(x.shape, x.dtype)


zeros_like_op.kernel("XLA")(lambda jax, x: np.zeros_like(x))

ones_like_op = define_op(
    "OnesLike(x: T) -> (y: T) {T: type in [bfloat16,half,float,double,int8,uint8,int16,uint16,int32,uint32,int64,uint64,"
    "complex64,complex128,bool]}"
).not_differentiable()
ones_like_op.shape(same_shape)


@ones_like_op.kernel("CPU")
def _(ctx: Any, x: Array) -> Array:
    x = np.asarray(x)
    return np.ones(x.shape, x.dtype)


ones_like_op.kernel("XLA")(lambda jax, x: np.ones_like(x))


def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Zeros of `tensor`'s shape and, unless given, its dtype. Source: `tf.zeros_like`."""
    with name_scope(name, "zeros_like", [tensor]) as scope:
        if not isinstance(tensor, IndexedSlices):  # whose shape may be known without making them dense
            tensor = convert_to_tensor(tensor, name="tensor")
        if optimize and tensor.get_shape().is_fully_defined() and tensor.dtype.base_dtype is not dtypes.variant:
            # As in TensorFlow, what is false counts as no dtype here, and only here: programs say `zeros_like(x, False)`.
            return zeros(tensor.get_shape(), dtype=dtype or tensor.dtype.base_dtype, name=scope)
        wanted = tensor.dtype.base_dtype if dtype is None else dtypes.as_dtype(dtype)
        if wanted is not tensor.dtype.base_dtype:
            return zeros(shape_internal(tensor, optimize=optimize), dtype=wanted, name=scope)
        result: Tensor = zeros_like_op(tensor, name=scope)
        return result


def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Tensor:
    """Ones of `tensor`'s shape and, unless given, its dtype. Source: `tf.ones_like`."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name="tensor")
        if optimize and tensor.get_shape().is_fully_defined():
            with name_scope("Shape"):
                dims = convert_to_tensor(tensor.get_shape())
        else:
            dims = shape_internal(tensor, optimize=False)
        result = ones(dims, dtype=tensor.dtype if dtype is None else dtype, name=scope)
        result.set_shape(tensor.get_shape())
        return result


# --- ranges -----------------------------------------------------------------------------------------------------------

range_op = define_op(
    "Range(start: Tidx, limit: Tidx, delta: Tidx) -> (output: Tidx) {Tidx: type in [bfloat16,half,float,double,int8,int16,"
    "int32,int64,uint16,uint32,uint64] = int32}"
).not_differentiable()


def _range_length(start: Any, limit: Any, delta: Any) -> int:
    start, limit, delta = (np.asarray(v).item() for v in (start, limit, delta))
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if delta > 0 and start > limit:
        raise ValueError(f"Requires start <= limit when delta > 0: {start}/{limit}")
    if delta < 0 and start < limit:
        raise ValueError(f"Requires start >= limit when delta < 0: {start}/{limit}")
    if isinstance(delta, int):
        return -((start - limit) // delta)
    return math.ceil(abs((limit - start) / delta))


@range_op.shape
def _(start: InputShape, limit: InputShape, delta: InputShape) -> TensorShape:
    for bound in (start, limit, delta):
        with_rank(bound, 0)
    values = [bound.value for bound in (start, limit, delta)]
    return TensorShape([None if any(v is None for v in values) else _range_length(*values)])


@range_op.kernel("CPU")
def _(ctx: Any, start: Array, limit: Array, delta: Array) -> Array:
    for name, bound in (("start", start), ("limit", limit), ("delta", delta)):
        require_scalar(name, bound)
    start = np.asarray(start)
    length = _range_length(start, limit, delta)
    return (start + np.arange(length, dtype=start.dtype) * delta).astype(start.dtype)


_RANGE_TYPES = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range") -> Tensor:
    """`start`, `start + delta`, … before `limit`; with one argument, from 0 to it. Source: `tf.range`."""
    if limit is None:
        start, limit = 0, start
    dtype = None if dtype is None else dtypes.as_dtype(dtype)
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        bounds = [
            convert_to_tensor(value, dtype=None if isinstance(value, Tensor) else dtype, name=argument)
            for value, argument in ((start, "start"), (limit, "limit"), (delta, "delta"))
        ]
        if dtype is None:
            found = {b.dtype.base_dtype for b in bounds}
            if found <= set(_RANGE_TYPES):
                dtype = max(found, key=_RANGE_TYPES.index)
        if dtype is not None:
            bounds = [b if b.dtype.base_dtype is dtype else get_op("Cast")(b, DstT=dtype, name="Cast") for b in bounds]
        result: Tensor = range_op(*bounds, name=scope)
        return result


lin_space_op = define_op(
    "LinSpace(start: T, stop: T, num: Tidx) -> (output: T) {T: type in [bfloat16,half,float,double]; "
    "Tidx: type in [int32,int64] = int32}"
).not_differentiable()


@lin_space_op.shape
def _(start: InputShape, stop: InputShape, num: InputShape) -> TensorShape:
    for bound in (start, stop, num):
        with_rank(bound, 0)
    if num.value is None:
        return TensorShape([None])
    if num.value <= 0:
        raise ValueError(f"Requires num > 0: {num.value}")
    return TensorShape([int(num.value)])


@lin_space_op.kernel("CPU")
def _(ctx: Any, start: Array, stop: Array, num: Array) -> Array:
    for name, bound in (("start", start), ("stop", stop), ("num", num)):
        require_scalar(name, bound)
    if num <= 0:
        raise ValueError(f"Requires num > 0: {num}")
    start = np.asarray(start)
    result = np.linspace(start.astype(np.float64), np.asarray(stop).astype(np.float64), int(num)).astype(start.dtype)
    if num > 1:
        result[-1] = stop
    return result


def lin_space(start: Any, stop: Any, num: Any, name: str | None = None) -> Tensor:
    """`num` values from `start` to `stop`, both included. Source: `tf.lin_space`, TF 1.15."""
    result: Tensor = lin_space_op(start, stop, num, name=name)
    return result


linspace = lin_space


# --- one-hot ----------------------------------------------------------------------------------------------------------

one_hot_op = define_op(
    "OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> (output: T) {axis: int = -1; T: type; "
    "TI: type in [uint8,int8,int32,int64] = int64}"
).not_differentiable()


@one_hot_op.shape
def _(indices: InputShape, depth: InputShape, on_value: InputShape, off_value: InputShape, *, axis: int) -> TensorShape:
    if depth.rank:
        raise ValueError(f"Input must be scalar but has rank {depth.rank}")
    for scalar in (on_value, off_value):
        with_rank(scalar, 0)
    if axis < -1:
        raise ValueError(f"axis must be >= -1: {axis}")
    dims = indices.known_dims
    if dims is None:
        return TensorShape(None)
    classes = None if depth.value is None else int(depth.value)
    if classes is not None and classes < 0:
        raise ValueError(f"Dimension size, given by scalar input 1, must be non-negative but is {classes}")
    position = _one_hot_position(axis, len(dims))
    return TensorShape([*dims[:position], classes, *dims[position:]])


def _one_hot_position(axis: int, indices_rank: int) -> int:
    if axis > indices_rank:
        raise ValueError(f"Expected axis to be -1 or between [0, {indices_rank + 1}).  But received: {axis}")
    return indices_rank if axis == -1 else axis


@one_hot_op.kernel("XLA", static=("depth",))
def _(jax: Any, indices: Array, depth: Array, on_value: Array, off_value: Array, *, axis: int) -> Array:
    position = _one_hot_position(axis, indices.ndim)
    classes = np.arange(int(depth), dtype=indices.dtype).reshape((-1,) + (1,) * (indices.ndim - position))
    return np.where(np.equal(np.expand_dims(indices, position), classes), on_value, off_value)


@one_hot_op.kernel("CPU")
def _(ctx: Any, indices: Array, depth: Array, on_value: Array, off_value: Array, *, axis: int) -> Array:
    if depth < 0:
        raise ValueError(f"depth must be non-negative, got: {depth}")
    position = _one_hot_position(axis, np.ndim(indices))
    classes = np.arange(int(depth)).reshape((-1,) + (1,) * (np.ndim(indices) - position))
    hot = np.expand_dims(indices, position) == classes
    off_value = np.asarray(off_value)
    result = np.full(hot.shape, off_value, dtype=off_value.dtype)
    result[hot] = on_value
    return result


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """Rows of `depth` elements, `on_value` (1) at the index and `off_value` (0) elsewhere. Source: `tf.one_hot`."""
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        on = None if on_value is None else convert_to_tensor(on_value, dtype_hint=wanted)
        off = None if off_value is None else convert_to_tensor(off_value, dtype_hint=wanted)
        found = {"on_value": on, "off_value": off}
        given = {argument: t.dtype.base_dtype for argument, t in found.items() if t is not None}
        for argument, its_dtype in given.items():
            if wanted is not None and its_dtype is not wanted:
                raise TypeError(f"dtype {its_dtype.name} of {argument} does not match dtype parameter {wanted.name}")
        if len(set(given.values())) > 1:
            raise TypeError(
                f"dtype {given['on_value'].name} of on_value does not match dtype {given['off_value'].name} of off_value"
            )
        element = next(iter(given.values()), wanted or dtypes.float32)
        on = convert_to_tensor(1, dtype=element, name="on_value") if on is None else on
        off = convert_to_tensor(0, dtype=element, name="off_value") if off is None else off
        result: Tensor = one_hot_op(indices, depth, on, off, axis=axis, name=scope)
        return result


# --- broadcasting -----------------------------------------------------------------------------------------------------

broadcast_to_op = define_op(
    "BroadcastTo(input: T, shape: Tidx) -> (output: T) {T: type; Tidx: type in [int32,int64] = int32}"
)


@broadcast_to_op.shape
def _(input: InputShape, shape: InputShape) -> TensorShape:
    with_rank_at_most(shape, 1)
    target = shape.value_as_shape
    if input.known_dims is not None and target.known_dims is not None:
        if len(input.known_dims) > len(target.known_dims):
            raise ValueError(f"Shape must be at most rank {len(target)} but is rank {len(input)}")
        # A dimension of the input that is not 1 is the output's too, even where the target is not known.
        both = broadcast_shapes(input, target).known_dims or ()
        return TensorShape([d if wanted is None else wanted for wanted, d in zip(target.known_dims, both, strict=True)])
    return target


@broadcast_to_op.kernel("CPU", "XLA", static=("shape",))
def _(ctx: Any, input: Array, shape: Array) -> Array:
    dims = tuple(np.asarray(shape).tolist()) if np.ndim(shape) else (int(shape),)
    if np.ndim(input) > len(dims):
        raise ValueError(
            f"Rank of input ({np.ndim(input)}) must be no greater than rank of output shape ({len(dims)}). "
            f"Incompatible shapes: {dims_text(np.shape(input))} vs. {dims_text(dims)}"
        )
    for size in dims:
        if size < 0:
            raise ValueError(f"Dimension {size} must be >= 0")
    try:
        return np.broadcast_to(input, dims).copy()
    except ValueError:
        raise ValueError(_unlike(np.shape(input), dims)) from None


def _unlike(given: tuple[int, ...], wanted: tuple[int, ...]) -> str:
    """Why the one shape does not become the other: even if both could be broadcast to a third."""
    try:
        np.broadcast_shapes(given, wanted)
    except ValueError:
        return f"Incompatible shapes: {dims_text(given)} vs. {dims_text(wanted)}"
    return f"Unable to broadcast tensor of shape {dims_text(given)} to tensor of shape {dims_text(wanted)}"


@broadcast_to_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor | None]:
    source, target = op.inputs
    before = shape(source, out_type=target.dtype.base_dtype)
    known = static_value(target)
    if known is not None:
        target = constant(known, dtype=target.dtype.base_dtype)
    axes = get_op("BroadcastGradientArgs")(target, before)[1]
    return [reshape(get_op("Sum")(grad, axes, keep_dims=True), before), None]


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """`input` repeated along its dimensions of 1 until it has that shape. Source: `tf.broadcast_to`."""
    result: Tensor = broadcast_to_op(input, shape, name=name)
    return result
