"""Putting tensors together and taking them apart: concat, stack, unstack, split, tile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.kernel import BindRequest, Call
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op, get_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import IndexedSlices, constant, convert_to_tensor
from tfexp.graph.loop_nodes import output_context
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, element_array, expand_dims, rank, shape, shape_n, squeeze
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_identity import identity
from tfexp.ops.shape_rules import fixed_dims, required_dim, with_rank
from tfexp.ops.shared_copy import copy_into

# Beyond this many inputs, the gradient of a concat takes one SplitV instead of a Slice for each.
_MANY_INPUTS = 16


# --- concat -----------------------------------------------------------------------------------------------------------

concat_v2_op = define_op(
    "ConcatV2(values: N * T, axis: Tidx) -> (output: T) {N: int >= 2; T: type; Tidx: type in [int32,int64] = int32}"
)


_WORTH_COPYING_APART = 1 << 19  # elements: by threads, if the single inputs are large enough for that

_SCALARS = "Can't concatenate scalars (use tf.stack instead)"


def concat_shape(values: Sequence[InputShape], axis: InputShape) -> TensorShape:
    """The shape of these joined; ValueError where they cannot be."""
    with_rank(axis, 0)
    ranks = {v.rank for v in values if v.rank is not None}
    if not ranks:
        return TensorShape(None)
    if ranks == {0}:
        raise ValueError(_SCALARS)
    if len(ranks) > 1:
        ordered = [v.rank for v in values if v.rank is not None]
        other = next(r for r in ordered if r != ordered[0])
        raise ValueError(f"Shape must be rank {ordered[0]} but is rank {other}")
    dims = ranks.pop()
    if axis.value is None:
        return TensorShape([None] * dims)
    position = int(axis.value)
    if not -dims <= position < dims:
        raise ValueError(f"Shape must be at least rank {position + 1 if position >= 0 else -position} but is rank {dims}")
    position %= dims
    total: int | None = 0
    rest = TensorShape([None] * (dims - 1))
    for value in values:
        known = value.known_dims or (None,) * dims
        length = known[position]
        total = None if total is None or length is None else total + length
        rest = merged(rest, TensorShape([*known[:position], *known[position + 1 :]]))
    others = rest.as_list()
    return TensorShape([*others[:position], total, *others[position:]])


@concat_v2_op.shape
def _(values: list[InputShape], axis: InputShape) -> TensorShape:
    return concat_shape(values, axis)


def _concatenated(values: list[Array], axis: Array) -> Array:
    dims = np.ndim(values[0])
    if not dims:
        raise ValueError(f"ConcatOp : {_SCALARS}")
    if np.ndim(axis):
        raise ValueError(f"ConcatOp : axis tensor should be a scalar integer, but got shape {dims_text(np.shape(axis))}")
    position = int(axis)
    if not -dims <= position < dims:
        raise ValueError(f"ConcatOp : Expected concatenating dimensions in the range [{-dims}, {dims}), but got {position}")
    position %= dims
    first = np.shape(values[0])
    for i, value in enumerate(values):
        here = np.shape(value)
        if len(here) != dims:
            raise ValueError(
                f"ConcatOp : Ranks of all input tensors should match: shape[0] = {dims_text(first)} vs. shape[{i}] = "
                f"{dims_text(here)}"
            )
        for axis_of, (a, b) in enumerate(zip(first, here, strict=True)):
            if a != b and axis_of != position:
                raise ValueError(
                    f"ConcatOp : Dimensions of inputs should match: shape[0] = {dims_text(first)} vs. "
                    f"shape[{i}] = {dims_text(here)}"
                )
    return np.concatenate(values, position)


@concat_v2_op.kernel("CPU", "XLA", static=("axis",))
def _(ctx: Any, values: list[Array], axis: Array) -> Array:
    return _concatenated(values, axis)


@concat_v2_op.bind
def _(node: BindRequest) -> Call | None:
    axis, dims = node.input_values[-1], fixed_dims(node.output_shapes[0])
    if axis is None or dims is None:
        return None
    position, dtype = int(axis), node.output_dtypes[0].as_numpy_dtype
    if math.prod(dims) < _WORTH_COPYING_APART:

        def join(*inputs: Array, out: Array | None = None) -> Array:
            return np.concatenate(inputs[:-1], position, out=out)

        return Call(join, out=dtype is not object)

    def join_large(*inputs: Array, out: Array | None = None) -> Array:
        result = np.empty(dims, dtype) if out is None else out
        stop = 0
        for value in inputs[:-1]:
            start, stop = stop, stop + value.shape[position]
            copy_into(result[(slice(None),) * (position % len(dims)) + (slice(start, stop),)], value)
        return result

    return Call(join_large, out=dtype is not object)


concat_op = define_op("Concat(concat_dim: int32, values: N * T) -> (output: T) {N: int >= 2; T: type}")


@concat_op.shape
def _(concat_dim: InputShape, values: list[InputShape]) -> TensorShape:
    return concat_shape(values, concat_dim)


@concat_op.kernel("CPU", "XLA", static=("concat_dim",))
def _(ctx: Any, concat_dim: Array, values: list[Array]) -> Array:
    return _concatenated(values, concat_dim)


def _input_shapes(values: Sequence[Tensor]) -> list[Tensor]:
    """The shapes of several tensors: constants when all are known, else one ShapeN."""
    shapes: list[Tensor] = []
    for value in values:
        dims = shape(value)
        if dims._op.type != "Const":
            return shape_n(values)
        shapes.append(dims)
    return shapes


def _concat_gradient(values: Sequence[Tensor], axis: Tensor, grad: Any) -> list[Any]:
    """The parts of `grad` that belong to each of the concatenated values."""
    if len(values) == 1:
        return [grad]
    if isinstance(grad, IndexedSlices):
        return _concat_slices_gradient(values, axis, grad)
    if axis._op.type == "Const" and output_context(axis._op) is not output_context(grad._op):
        # In a loop that runs backwards: written down again rather than brought in.
        axis = constant(static_value(axis), dtype=axis.dtype)
    axis = get_op("FloorMod")(axis, rank(values[0]), name="mod")
    sizes = _input_shapes(values)
    if len(sizes) > _MANY_INPUTS:
        rows = get_op("Slice")(stack(sizes, axis=1), [axis, 0], [1, -1])
        return list(get_op("SplitV")(grad, squeeze(rows), axis, num_split=len(values), name="split"))
    offsets = concat_offset_op(axis, sizes)
    return [get_op("Slice")(grad, begin, dims) for begin, dims in zip(offsets, sizes, strict=True)]


def _concat_slices_gradient(values: Sequence[Tensor], axis: Tensor, grad: IndexedSlices) -> list[IndexedSlices]:
    """A sparse gradient: cut its values when the axis is within a row, its indices when it runs along the rows."""
    along: Any = get_op("FloorMod")(axis, rank(values[0]), name="mod")
    position = static_value(axis)
    if position is None:
        raise ValueError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    if position < 0:
        dims = static_value(rank(values[0]))
        if dims is None:
            raise ValueError("Can only compute IndexedSlices gradient with non-negative concat_dim when the rank is unknown")
        position = position % dims
    sizes: list[Any] = [shape(value) for value in values]
    parts: list[IndexedSlices] = []
    if position > 0:
        # Each part begins where the one before ended, along the axis; `mask` is 1 there and 0 elsewhere.
        count: Any = shape(sizes[0])
        mask = concat([zeros(expand_dims(along, 0), dtypes.int32), [1], zeros(count - along - 1, dtypes.int32)], 0)
        begin: Any = zeros(count, dtypes.int32)
        for size in sizes:
            row = get_op("Slice")(size, [1], [-1])
            cut = get_op("Slice")(grad.values, begin, concat([[-1], row], 0))
            parts.append(IndexedSlices(cut, grad.indices, size))
            begin = get_op("AddV2")(begin, size * mask, name="Add")
        return parts
    indices: Any = grad.indices
    start: Any = constant(0, dtype=indices.dtype.base_dtype)
    for size in sizes:
        length = get_op("GatherV2")(size, along, 0)
        if length.dtype is not indices.dtype.base_dtype:
            length = get_op("Cast")(length, DstT=indices.dtype.base_dtype)
        end = start + length
        inside = get_op("LogicalAnd")(get_op("GreaterEqual")(indices, start), get_op("Less")(indices, end))
        chosen = squeeze(get_op("Where")(inside), axis=[1])
        rows = get_op("GatherV2")(indices, chosen, 0) - start
        parts.append(IndexedSlices(get_op("GatherV2")(grad.values, chosen, 0), rows, size))
        start = end
    return parts


@concat_v2_op.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    return [*_concat_gradient(op.inputs[:-1], op.inputs[-1], grad), None]


@concat_op.gradient
def _(op: Operation, grad: Any) -> list[Any]:
    return [None, *_concat_gradient(op.inputs[1:], op.inputs[0], grad)]


def concat(values: Any, axis: Any, name: str = "concat") -> Tensor:
    """`values` one after the other along an axis that they have. Source: `tf.concat`."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            convert_to_tensor(axis, name="concat_dim", dtype=dtypes.int32).get_shape().assert_has_rank(0)
            alone: Tensor = identity(values[0], name=name)
            return alone
    result: Tensor = concat_v2_op(list(values), axis, name=name)
    return result


concat_offset_op = define_op(
    "ConcatOffset(concat_dim: int32, shape: N * shape_type) -> (offset: N * shape_type) {N: int >= 2; "
    "shape_type: type in [int32,int64] = int32}"
).not_differentiable()


@concat_offset_op.shape
def _(concat_dim: InputShape, shape: list[InputShape]) -> list[TensorShape]:
    for dims in shape:
        with_rank(dims, 1)
    return list(shape)


def _sizes(shape: Array) -> str:
    return f"[{' '.join(map(str, shape.tolist()))}]"


@concat_offset_op.kernel("CPU")
def _(ctx: Any, concat_dim: Array, shape: list[Array]) -> list[Array]:
    if np.ndim(concat_dim):
        raise ValueError(f"Concat dim tensor should be a scalar integer, but got shape {dims_text(np.shape(concat_dim))}")
    for i, here in enumerate(shape):
        if np.ndim(here) != 1:
            raise ValueError(f"input {i} should be a vector, but got shape {dims_text(np.shape(here))}")
    dims = len(shape[0])
    axis = int(concat_dim)
    if not -dims <= axis < dims:
        raise ValueError(f"Concat dim is out of range: {axis} vs. {dims}")
    axis %= dims
    offsets: list[Array] = []
    position = 0
    for i, here in enumerate(shape):
        if len(here) != dims:
            raise ValueError(f"input {i} should contain {dims} elements, but got {len(here)}")
        for j, (a, b) in enumerate(zip(shape[0], here, strict=True)):
            if a != b and j != axis:
                raise ValueError(
                    f"All dimensions except {axis} must match. Input {i} has shape {_sizes(here)} and doesn't match "
                    f"input 0 with shape {_sizes(shape[0])}."
                )
        offset = np.zeros(dims, here.dtype)
        offset[axis] = position
        offsets.append(offset)
        position += int(here[axis])
    return offsets


# --- stack and unstack ------------------------------------------------------------------------------------------------

pack_op = define_op("Pack(values: N * T) -> (output: T) {N: int >= 1; T: type; axis: int = 0}")


@pack_op.shape
def _(values: list[InputShape], *, axis: int) -> TensorShape:
    common = TensorShape(values[-1])
    for i in range(len(values) - 2, -1, -1):
        try:
            common = merged(TensorShape(values[i]), common)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i} with other shapes.") from None
    dims = common.known_dims
    if dims is None:
        return common
    if not -len(dims) - 1 <= axis <= len(dims):
        raise ValueError(f"Invalid axis: {axis}; must be in [{-len(dims) - 1},{len(dims) + 1})")
    position = axis % (len(dims) + 1)
    return TensorShape([*dims[:position], len(values), *dims[position:]])


@pack_op.kernel("CPU", "XLA")
def _(ctx: Any, values: list[Array], *, axis: int) -> Array:
    first = np.shape(values[0])
    for i, value in enumerate(values):
        if np.shape(value) != first:
            raise ValueError(
                f"Shapes of all inputs must match: values[0].shape = {dims_text(first)} != values[{i}].shape = "
                f"{dims_text(np.shape(value))}"
            )
    if not first:  # scalars, of which `stack` would first make arrays of one element
        has_dtype = isinstance(values[0], (np.ndarray, np.generic))  # the value of a variant may be any object
        packed = np.empty(len(values), values[0].dtype if has_dtype else object)
        for i, value in enumerate(values):
            packed[i] = value[()] if isinstance(value, np.ndarray) else value
        return packed
    return np.stack(values, axis)


@pack_op.bind
def _(node: BindRequest) -> Call | None:
    if not node.output_shapes[0].is_fully_defined() or node.output_dtypes[0].as_numpy_dtype is object:
        return None
    dims = node.output_shapes[0].as_list()
    axis = node.attrs["axis"] % len(dims)
    if len(dims) == 1:
        dtype = node.output_dtypes[0].as_numpy_dtype
        return Call(lambda *values: np.array(values, dtype))
    return Call(lambda *values, out=None: np.stack(values, axis, out=out), out=True)


@pack_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    return unstack(grad, num=op.attrs["N"], axis=op.attrs["axis"])


def stack(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """`values`, of one shape, along a new axis. Source: `tf.stack`."""
    if axis == 0:
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass  # not a list that packs as a whole (say, of arrays and tensors): stacked one by one below
    first = convert_to_tensor(values[0], name=name).get_shape()
    if first.ndims is not None and not -first.ndims - 1 <= axis <= first.ndims:
        raise ValueError(f"axis = {axis} not in [{-first.ndims - 1}, {first.ndims + 1})")
    result: Tensor = pack_op(list(values), axis=axis, name=name)
    return result


unpack_op = define_op("Unpack(value: T) -> (output: num * T) {num: int >= 0; T: type; axis: int = 0}")


@unpack_op.shape
def _(value: InputShape, *, num: int, axis: int) -> list[TensorShape]:
    dims = value.known_dims
    if dims is None:
        return [TensorShape(None)] * num
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"Invalid axis: {axis}; must be in [{-len(dims)},{len(dims)})")
    position = axis % len(dims)
    required_dim(dims[position], num)
    return [TensorShape([*dims[:position], *dims[position + 1 :]])] * num


@unpack_op.kernel("CPU", view=True)
def _(ctx: Any, value: Array, *, num: int, axis: int) -> list[Array]:
    here = np.shape(value)
    if not -len(here) <= axis < len(here):
        raise ValueError(f"axis = {axis} not in [{-len(here)}, {len(here)})")
    if here[axis] != num:
        raise ValueError(f"Input shape axis {axis % len(here)} must equal {num}, got shape {dims_text(here)}")
    return [element_array(part) for part in np.moveaxis(value, axis, 0)]


@unpack_op.kernel("XLA")
def _(jax: Any, value: Array, *, num: int, axis: int) -> list[Array]:
    first = np.moveaxis(value, axis, 0)
    return [first[number] for number in range(num)]


@unpack_op.gradient
def _(op: Operation, *grads: Tensor) -> Tensor:
    return stack(list(grads), axis=op.attrs["axis"])


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Tensor]:
    """The slices of `value` along an axis, without that axis. ValueError when their number is not known. `tf.unstack`."""
    if num is None:
        value = convert_to_tensor(value)
        dims = value.get_shape().known_dims
        if dims is not None:
            if not -len(dims) <= axis < len(dims):
                raise ValueError(f"axis = {axis} not in [{-len(dims)}, {len(dims)})")
            num = dims[axis]
        if num is None:
            raise ValueError(f"Cannot infer num from shape {value.get_shape()}")
    parts = unpack_op(value, num=num, axis=axis, name=name)
    return list(parts) if num else []
