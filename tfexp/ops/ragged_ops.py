"""Ops on ragged tensors, which to them are a vector of row splits for each ragged dimension, and values.

Row i of a dimension is what lies between splits i and i + 1 of the next one, or of the values.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import Array, reshape, shape
from tfexp.ops.array_gather import gather
from tfexp.ops.cast import cast
from tfexp.ops.shape_rules import with_rank, with_rank_at_least, with_rank_at_most

_SPLITS = "Tsplits: type in [int32,int64] = int64"

range_op = define_op(
    "RaggedRange(starts: T, limits: T, deltas: T) -> (rt_nested_splits: Tsplits, rt_dense_values: T) "
    f"{{T: type in [bfloat16,float,double,int32,int64] = int32; {_SPLITS}}}"
).not_differentiable()
gather_op = define_op(
    "RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, indices: Tindices) -> "
    "(output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues) {Tvalues: type; Tindices: type in "
    f"[int32,int64]; {_SPLITS}; PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0}}"
)
to_sparse_op = define_op(
    "RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T) -> (sparse_indices: int64, "
    f"sparse_values: T, sparse_dense_shape: int64) {{RAGGED_RANK: int >= 1; T: type; {_SPLITS}}}"
)


def _checked(nested_splits: Sequence[Array], values: Array) -> None:
    """InvalidArgumentError unless each dimension's splits begin with 0, do not decrease, and end where the next one does."""
    for number, (splits, within) in enumerate(itertools.pairwise([*nested_splits, values])):
        size = len(within) - (number + 1 < len(nested_splits))
        problem = ""
        if not splits.size:
            problem = "ragged splits may not be empty."
        elif splits[0] != 0:
            problem = f"First value of ragged splits must be 0. It is {splits[0]}"
        elif np.any(splits[1:] < splits[:-1]):
            where = int(np.flatnonzero(splits[1:] < splits[:-1])[0])
            problem = f"Ragged splits must be sorted: {splits[where]} is followed by {splits[where + 1]}"
        elif splits[-1] != size:
            lengths = f"{splits[-1]} and {size}"
            problem = f"Final value of ragged splits must match the length the corresponding ragged values: {lengths}"
        if problem:
            raise InvalidArgumentError(None, None, f"{problem} (ragged dimension {number})")


def _splits_of(lengths: Array, dtype: Any) -> Array:
    result = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=result[1:])
    return result


def _places_in_rows(lengths: Array) -> Array:
    """0, 1, … for each row."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)


# --- ranges -----------------------------------------------------------------------------------------------------------


@range_op.shape
def _(starts: InputShape, limits: InputShape, deltas: InputShape) -> list[TensorShape]:
    ranks = [with_rank_at_most(number, 1).rank for number in (starts, limits, deltas)]
    rows = TensorShape([None] if None in ranks or 1 in ranks else [1])
    for number in (starts, limits, deltas):
        if number.rank == 1:
            rows = merged(rows, number)
    size = rows[0].value
    return [TensorShape([None if size is None else size + 1]), TensorShape([None])]


@range_op.kernel("CPU")
def _(ctx: Any, starts: Array, limits: Array, deltas: Array, *, T: DType, Tsplits: DType) -> list[Array]:
    vectors = [number for number in (starts, limits, deltas) if np.ndim(number)]
    if len({len(vector) for vector in vectors}) > 1:
        sizes = ", ".join(str(list(np.shape(number))) for number in (starts, limits, deltas))
        raise InvalidArgumentError(None, None, f"starts, limits, and deltas must have the same shape, got {sizes}")
    rows = len(vectors[0]) if vectors else 1
    starts, limits, deltas = (np.broadcast_to(number, rows) for number in (starts, limits, deltas))
    if np.any(deltas == 0):
        raise InvalidArgumentError(None, None, "Requires delta != 0")
    steps = -((starts - limits) // deltas) if T.is_integer else np.ceil((limits - starts) / deltas)
    lengths = np.maximum(steps.astype(np.int64), 0)
    values = np.repeat(starts, lengths) + _places_in_rows(lengths).astype(starts.dtype) * np.repeat(deltas, lengths)
    return [_splits_of(lengths, Tsplits.as_numpy_dtype), values.astype(T.as_numpy_dtype, copy=False)]


# From the type that gives way to the one that is kept.
_NUMBERS = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64)


def ragged_range(
    starts: Any, limits: Any, deltas: Any = 1, dtype: Any = None, splits_dtype: DType = dtypes.int64, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(splits, values): row i counts from starts[i] to below limits[i] by deltas[i]."""
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        given = {"starts": starts, "limits": limits, "deltas": deltas}
        tensors = [convert_to_tensor(value, dtype, name=what) for what, value in given.items()]
        if dtype is None:
            widest = max((tensor.dtype for tensor in tensors), key=_NUMBERS.index)
            tensors = [cast(tensor, widest) for tensor in tensors]
        made = range_op(*tensors, Tsplits=splits_dtype, name=scope)
        return made.rt_nested_splits, made.rt_dense_values


# --- rows -------------------------------------------------------------------------------------------------------------


@gather_op.shape
def _(
    splits: list[InputShape], values: InputShape, indices: InputShape, *, PARAMS_RAGGED_RANK: int, OUTPUT_RAGGED_RANK: int
) -> list[Any]:
    for vector in splits:
        with_rank(vector, 1)
    if indices.rank is not None and PARAMS_RAGGED_RANK + indices.rank - 1 != OUTPUT_RAGGED_RANK:
        raise ValueError(
            f"OUTPUT_RAGGED_RANK must be PARAMS_RAGGED_RANK + rank(indices) - 1 = {PARAMS_RAGGED_RANK + indices.rank - 1}, "
            f"got {OUTPUT_RAGGED_RANK}"
        )
    dims = with_rank_at_least(values, 1)
    of_values = TensorShape(None) if dims.rank is None else TensorShape([None, *dims.as_list()[1:]])
    return [*[TensorShape([None])] * OUTPUT_RAGGED_RANK, of_values]


@gather_op.kernel("CPU")
def _(ctx: Any, splits: list[Array], values: Array, indices: Array, *, Tsplits: DType) -> list[Any]:
    _checked(splits, values)
    rows, chosen = len(splits[0]) - 1, np.ravel(indices)
    if chosen.size and not (chosen.min() >= 0 and chosen.max() < rows):
        place = int(np.flatnonzero((chosen < 0) | (chosen >= rows))[0])
        where = ",".join(map(str, np.unravel_index(place, np.shape(indices))))
        raise InvalidArgumentError(None, None, f"indices[{where}] = {chosen[place]} is not in [0, {rows})")
    kind = Tsplits.as_numpy_dtype
    shape = np.shape(indices)
    # The indices' own dimensions but the first have rows of one length.
    outer = [np.arange(np.prod(shape[:i], dtype=int) + 1, dtype=kind) * kind(shape[i]) for i in range(1, len(shape))]
    inner = []
    for level in splits:
        lengths = level[chosen + 1] - level[chosen]
        inner.append(_splits_of(lengths, kind))
        chosen = np.repeat(level[chosen], lengths) + _places_in_rows(lengths)
    made = [*outer, *inner] if shape else inner[1:]
    return [*made, values[chosen]]


@gather_op.gradient
def _(op: Operation, *grads: Any) -> list[Any]:
    """Each value's gradient, at the place that it was taken from."""
    *nested, values, indices = op.inputs
    splits = nested[0]
    for deeper in nested[1:]:
        splits = gather(deeper, splits)
    flat = reshape(indices, [-1])
    begins = gather(splits, flat)
    ends = gather(splits[1:], flat)
    _, taken = ragged_range(begins, ends)
    return [*[None] * len(nested), IndexedSlices(grads[-1], taken, shape(values)), None]


# --- sparse -----------------------------------------------------------------------------------------------------------


@to_sparse_op.shape
def _(splits: list[InputShape], values: InputShape) -> list[TensorShape]:
    for vector in splits:
        with_rank(vector, 1)
    dims = with_rank_at_least(values, 1).known_dims
    if dims is None:
        return [TensorShape([None, None]), TensorShape([None]), TensorShape([None])]
    count, rank = TensorShape(dims).num_elements(), len(splits) + len(dims)
    return [TensorShape([count, rank]), TensorShape([count]), TensorShape([rank])]


@to_sparse_op.kernel("CPU", view=True)
def _(ctx: Any, splits: list[Array], values: Array) -> list[Array]:
    _checked(splits, values)
    lengths = [np.diff(level) for level in splits]
    # For each row of a dimension, its own indices; then for each part of it, these and the place in it.
    columns = [np.arange(len(lengths[0]))]
    for of_rows in lengths:
        columns = [*(np.repeat(column, of_rows) for column in columns), _places_in_rows(of_rows)]
    inner = values.shape[1:]
    within = np.argwhere(np.ones(inner)).T
    size = within.shape[1]
    indices = np.stack([*(np.repeat(c, size) for c in columns), *(np.tile(row, len(values)) for row in within)], 1)
    dims = [len(lengths[0]), *(of_rows.max(initial=0) for of_rows in lengths), *inner]
    return [indices.astype(np.int64), values.reshape(-1), np.array(dims, np.int64)]


@to_sparse_op.gradient
def _(op: Operation, *grads: Any) -> list[Tensor | None]:
    return [*[None] * (len(op.inputs) - 1), reshape(grads[1], shape(op.inputs[-1]))]
