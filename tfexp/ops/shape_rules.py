"""Shape rules that several op families share, with the wording of TensorFlow's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.merged_shape import merged
from tfexp.core.op import Op
from tfexp.core.shape import TensorShape, broadcast_shapes, dims_text


def with_rank(shape: TensorShape, rank: int) -> TensorShape:
    """`shape` with that rank; ValueError `Shape must be rank …` when it has another."""
    if shape.rank not in (None, rank):
        raise ValueError(f"Shape must be rank {rank} but is rank {shape.rank}")
    return TensorShape([None] * rank) if shape.rank is None else shape


def with_rank_at_least(shape: TensorShape, rank: int) -> TensorShape:
    """`shape`; ValueError `Shape must be at least rank …` when its rank is known and lower."""
    if shape.rank is not None and shape.rank < rank:
        raise ValueError(f"Shape must be at least rank {rank} but is rank {shape.rank}")
    return shape


def with_rank_at_most(shape: TensorShape, rank: int) -> TensorShape:
    """`shape`; ValueError `Shape must be at most rank …` when its rank is known and higher."""
    if shape.rank is not None and shape.rank > rank:
        raise ValueError(f"Shape must be at most rank {rank} but is rank {shape.rank}")
    return shape


def required_dim(dim: int | None, size: int) -> int:
    """`size`; ValueError `Dimension must be …` when the dimension is known to be another."""
    if dim not in (None, size):
        raise ValueError(f"Dimension must be {size} but is {dim}")
    return size


def merged_dims(d: int | None, e: int | None) -> int | None:
    """The dimension that both are; ValueError `Dimensions must be equal, …`."""
    if d is not None and e is not None and d != e:
        raise ValueError(f"Dimensions must be equal, but are {d} and {e}")
    return e if d is None else d


def check_begins_with(shape: TensorShape, beginning: TensorShape) -> None:
    """ValueError unless the first dimensions of `shape` may be those of `beginning`."""
    if beginning.known_dims is None:
        return
    dims = with_rank_at_least(shape, len(beginning.known_dims)).known_dims
    for d, e in zip(dims or (), beginning.known_dims, strict=False):
        merged_dims(d, e)


def check_alike(op_name: str, *values: Any) -> None:
    """ValueError for the first of a kernel's inputs that has not the shape of input 0."""
    first = np.shape(values[0])
    for i, value in enumerate(values[1:], 1):
        if np.shape(value) != first:
            raise ValueError(
                f"Inputs to operation of type {op_name} must have the same size and shape.  Input 0: {dims_text(first)} != "
                f"input {i}: {dims_text(np.shape(value))}"
            )


def all_merged(shapes: Sequence[TensorShape]) -> TensorShape:
    """The shape that all allow, for ops whose inputs are alike (AddN)."""
    result = shapes[-1]
    for i in range(len(shapes) - 2, -1, -1):
        try:
            result = merged(shapes[i], result)
        except ValueError as error:
            raise ValueError(f"{error}\n\tFrom merging shape {i} with other shapes.") from None
    return result


def square_matrices(shape: TensorShape) -> TensorShape:
    """The shape of square matrices; ValueError `Dimensions must be equal, …` for others."""
    dims = with_rank_at_least(shape, 2).known_dims
    if dims is None:
        return TensorShape(None)
    size = merged_dims(dims[-2], dims[-1])
    return TensorShape([*dims[:-2], size, size])


def broadcasting(op: Op) -> Op:
    """Give a binary op the shape rule of broadcasting."""
    op.shape(lambda x, y: broadcast_shapes(x, y))
    return op


def sparse_rank(indices: TensorShape, values: TensorShape, dims: TensorShape) -> int | None:
    """The rank of a sparse tensor of such parts, if it is known; ValueError where they are not parts of one."""
    count, rank = with_rank(indices, 2).as_list()
    (number,) = with_rank(values, 1).as_list()
    (length,) = with_rank(dims, 1).as_list()
    if None not in (count, number) and count != number:
        raise ValueError(f"Number of elements in index ({count}) and values ({number}) do not match.")
    if None not in (rank, length) and rank != length:
        raise ValueError(f"Index rank ({rank}) and shape rank ({length}) do not match.")
    return rank if length is None else length


def shape_preserving(op: Op) -> Op:
    """Give an op the rule of the element-wise unary ops: the output is shaped like the first input."""
    op.shape(lambda x, *others: x)
    return op


def shaped_as_first(op: Op) -> Op:
    """Give an op of two inputs of one shape the rule of the gradients that take the op's output: its shape as it is known.

    TensorFlow learns nothing from the other input's shape; that the two contradict each other is an error all the same.
    """

    def rule(y: TensorShape, dy: TensorShape) -> TensorShape:
        merged(y, dy)
        return y

    op.shape(rule)
    return op


def same_shapes(op: Op) -> Op:
    """Give an op of two inputs the rule of the `…Grad` ops: both have one shape, and so has the output."""
    op.shape(lambda x, y: merged(x, y))
    return op


def fixed_dims(shape: TensorShape) -> tuple[int, ...] | None:
    """The sizes of all dimensions, where they are known."""
    dims = shape.known_dims
    return None if dims is None or None in dims else tuple(size for size in dims if size is not None)
