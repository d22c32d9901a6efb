"""A tensor cut into parts along an axis: Split and SplitV."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.kernel import BindRequest, Call
from tfexp.core.op import define_op
from tfexp.core.shape import Dimension, InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array
from tfexp.ops.array_join import concat
from tfexp.ops.shape_rules import with_rank

split_op = define_op("Split(split_dim: int32, value: T) -> (output: num_split * T) {num_split: int >= 1; T: type}")


@split_op.shape
def _(split_dim: InputShape, value: InputShape, *, num_split: int) -> list[TensorShape]:
    with_rank(split_dim, 0)
    dims = value.known_dims
    if dims is None:
        return [TensorShape(None)] * num_split
    if split_dim.value is None:
        return [TensorShape([None] * len(dims))] * num_split
    axis = int(split_dim.value)
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"Dimension size, given by scalar input {axis}, must be in range [{-len(dims)}, {len(dims)})")
    axis %= len(dims)
    size = dims[axis]
    if size is not None and size % num_split:
        raise ValueError(f"Dimension size must be evenly divisible by {num_split} but is {size}")
    part = None if size is None else size // num_split
    return [TensorShape([*dims[:axis], part, *dims[axis + 1 :]])] * num_split


@split_op.kernel("CPU", "XLA", view=True, static=("split_dim",))
def _(ctx: Any, split_dim: Array, value: Array, *, num_split: int) -> list[Array]:
    dims, axis = np.shape(value), int(split_dim)
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"-input rank(-{len(dims)}) <= split_dim < input rank ({len(dims)}), but got {axis}")
    if dims[axis] % num_split:
        raise ValueError(
            f"Number of ways to split should evenly divide the split dimension, but got split_dim {axis % len(dims)} "
            f"(size = {dims[axis]}) and num_split {num_split}"
        )
    return np.split(value, num_split, axis)


@split_op.bind
def _(node: BindRequest) -> Call | None:
    """The slices, made once: `np.split` takes longer to make them than to cut."""
    axis, dims = node.input_values[0], node.input_shapes[1].known_dims
    if axis is None or dims is None or not -len(dims) <= int(axis) < len(dims):
        return None
    number, ahead = node.attrs["num_split"], (slice(None),) * (int(axis) % len(dims))
    size = dims[int(axis)]
    if size is None or size % number:
        return None
    step = size // number
    cuts = [(*ahead, slice(i * step, (i + 1) * step)) for i in range(number)]
    return Call(lambda split_dim, value: [value[cut] for cut in cuts], view=True)


@split_op.gradient
def _(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    return [None, concat(list(grads), op.inputs[0])]


split_v_op = define_op(
    "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> (output: num_split * T) {num_split: int >= 1; T: type; "
    "Tlen: type in [int32,int64] = int64}"
)


def _split_sizes(sizes: list[int], axis: int, size: int, split_count: int) -> list[int]:
    """The sizes with a -1 among them replaced by what is left; ValueError when they do not add up."""
    if len(sizes) != split_count:
        raise ValueError(f"Length of size_splits should be equal to num_outputs, got {len(sizes)} and {split_count}")
    if sizes.count(-1) > 1:
        raise ValueError("There can only be one -1 in the input.")
    if any(s < -1 for s in sizes):
        raise ValueError(f"Split size at index {next(i for i, s in enumerate(sizes) if s < -1)} must be >= 0 or -1")
    given = sum(s for s in sizes if s != -1)
    if (given > size) if -1 in sizes else (given != size):
        compared = f"less than or equal to {size}" if -1 in sizes else f"{size}"
        raise ValueError(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the "
            f"size of the input along split_dim if not fully specified.  Got: {given}, expected {compared} (axis {axis})"
        )
    return [size - given if s == -1 else s for s in sizes]


@split_v_op.shape
def _(value: InputShape, size_splits: InputShape, split_dim: InputShape, *, num_split: int) -> list[TensorShape]:
    with_rank(split_dim, 0)
    dims = value.known_dims
    if dims is None:
        return [TensorShape(None)] * num_split
    if split_dim.value is None:
        return [TensorShape([None] * len(dims))] * num_split
    axis = int(split_dim.value)
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"Dimension size, given by scalar input {axis}, must be in range [{-len(dims)}, {len(dims)})")
    axis %= len(dims)
    parts: list[int | None] = [None] * num_split
    if size_splits.value is not None:
        sizes, size = size_splits.value.tolist(), dims[axis]
        if size is not None:
            if len(sizes) == num_split and -1 not in sizes and sum(sizes) != size:
                raise ValueError(f"can't split axis of size {size} into pieces of size {dims_text(sizes)}")
            parts = list(_split_sizes(sizes, axis, size, num_split))
        else:
            parts = [None if s == -1 else s for s in sizes]
    return [TensorShape([*dims[:axis], part, *dims[axis + 1 :]]) for part in parts]


@split_v_op.kernel("CPU", "XLA", view=True, static=("size_splits", "split_dim"))
def _(ctx: Any, value: Array, size_splits: Array, split_dim: Array, *, num_split: int) -> list[Array]:
    dims, axis = np.shape(value), int(split_dim)
    if not -len(dims) <= axis < len(dims):
        raise ValueError(f"-input rank(-{len(dims)}) <= split_dim < input rank ({len(dims)}), but got {axis}")
    sizes = _split_sizes(size_splits.tolist(), axis % len(dims), dims[axis], num_split)
    return np.split(value, np.cumsum(sizes)[:-1], axis)


@split_v_op.gradient
def _(op: Operation, *grads: Tensor) -> list[Tensor | None]:
    return [concat(list(grads), op.inputs[2]), None, None]


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> list[Tensor]:
    """`value` in so many equal parts, or in parts of these sizes, along an axis. Source: `tf.split`."""
    if isinstance(num_or_size_splits, (int, np.integer, Dimension)):
        return list(split_op(axis, value, num_split=int(num_or_size_splits), name=name))
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.get_shape().rank == 0:
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. Argument provided: "
            f"{num_or_size_splits}"
        )
    if num is None:
        known = sizes.get_shape().known_dims
        num = known[0] if known else None
        if num is None:
            raise ValueError(f"Cannot infer num from shape {num_or_size_splits}")
    return list(split_v_op(value, sizes, axis, num_split=num, name=name))
