"""Partitioners: into how many parts `tf.get_variable` cuts a variable; and the function that cuts without a scope.

A partitioner is called with `shape` (a fully defined TensorShape) and `dtype` and returns the number of parts along each
dimension, of which one may be larger than 1. Source: TF 1.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.ops.partitioned_variable import PartitionedVariable
from tfexp.ops.variable_scope import get_variable_scope, variable_scope

Partitioner = Callable[..., list[int]]


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """`num_shards` parts along `axis` (one for each row where there are fewer rows)."""

    def partitioner(shape: TensorShape, **unused: Any) -> list[int]:
        return _along(shape, axis, min(num_shards, _length(shape, axis)))

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """As few parts along `axis` as keep each below `max_shard_bytes`, at most `max_shards`, at least one row in each."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is "
            f"{max_shard_bytes} and bytes_per_string_element is {bytes_per_string_element}"
        )
    if max_shards is not None and max_shards < 1:
        raise ValueError(f"max_shards must be positive, got {max_shards}.")

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        shape = _known(shape)
        row = _row_bytes(shape, axis, dtype, bytes_per_string_element)
        rows_per_shard = max(1, max_shard_bytes // row) if row else _length(shape, axis)
        shards = max(1, math.ceil(_length(shape, axis) / max(1, rows_per_shard)))
        return _along(shape, axis, min(shards, max_shards) if max_shards is not None else shards)

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Partitioner:
    """As many parts along `axis` as there can be of at least `min_slice_size` bytes, at most `max_partitions`."""

    def partitioner(shape: TensorShape, dtype: DType) -> list[int]:
        shape = _known(shape)
        dims = shape.as_list()
        if axis >= len(dims):
            raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
        total = _row_bytes(shape, axis, dtype, bytes_per_string_element) * _length(shape, axis)
        shards = max(1, min(max_partitions, math.ceil(total / min_slice_size)))
        return _along(shape, axis, max(1, min(shards, _length(shape, axis))))

    return partitioner


def _known(shape: Any) -> TensorShape:
    if not isinstance(shape, TensorShape):
        raise ValueError(f"shape is not a TensorShape: {shape}")
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    return shape


def _length(shape: TensorShape, axis: int) -> int:
    try:
        length: Any = shape.as_list()[axis]
    except IndexError:
        raise IndexError(f"Cannot partition variable along axis {axis} when shape is only {shape}") from None
    return int(length)


def _row_bytes(shape: TensorShape, axis: int, dtype: DType, bytes_per_string_element: int) -> int:
    length = _length(shape, axis)
    elements: Any = shape.num_elements()
    size = bytes_per_string_element if dtype.base_dtype is dtypes.string else dtype.base_dtype.size
    return elements // length * size if length else 0


def _along(shape: TensorShape, axis: int, shards: int) -> list[int]:
    partitions = [1] * len(shape.as_list())
    partitions[axis] = shards
    return partitions


def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Sequence[int],
    initializer: Any,
    dtype: Any = dtypes.float32,
    trainable: bool = True,
    collections: Sequence[Any] | None = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The parts of a variable of `shape`, cut into `slicing[i]` along dimension i. `tf.create_partitioned_variables`.

    initializer: a tensor of the whole, or a function `(shape, dtype, partition_info)` of a part. At most one element of
    `slicing` may be larger than 1. ValueError when shape and slicing do not fit.
    """
    if len(shape) != len(slicing):
        raise ValueError(
            f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(f"A partitioned Variable must have rank at least 1: shape: {shape}")
    with variable_scope(name, "PartitionedVariable", reuse=reuse):
        variable: PartitionedVariable = get_variable_scope()._get_partitioned_variable(
            name=None,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=trainable,
            partitioner=lambda **unused: slicing,
            collections=collections,
        )
        return list(variable)
