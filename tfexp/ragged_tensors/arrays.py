"""Functions of arrays for ragged tensors: joined, gathered, masked, expanded; ranges. Source: `tf.ragged`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_gather,
    array_join,
    array_mask,
    array_order,
    array_repeat,
    segment,
)
from tfexp.ops.cast import cast
from tfexp.ops.ragged_ops import gather_op, ragged_range
from tfexp.ops.sort import argsort
from tfexp.ragged_tensors.tensor import RaggedTensor, converted


def range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> RaggedTensor:
    """Row i counts from starts[i] (0) to below limits[i] by deltas[i]. Source: `tf.ragged.range`."""
    if limits is None:
        starts, limits = 0, starts
    splits, values = ragged_range(starts, limits, deltas, dtype, dtypes.as_dtype(row_splits_dtype), name)
    return RaggedTensor(values, splits)


def rows_between(values: Any, begins: Tensor, ends: Tensor) -> RaggedTensor:
    """The rows values[begin:end], one after the other."""
    which = range(begins, ends, row_splits_dtype=begins.dtype)
    return RaggedTensor(gather(values, which.values), which.row_splits)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """The rows `indices` (ragged or not) of `params` (ragged or not). ValueError for another axis. Source: `tf.gather`."""
    if axis not in (None, 0) or batch_dims:
        raise ValueError("For ragged tensors, axis and batch_dims must be 0")
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = converted(params), converted(indices)
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array_gather.gather(params, indices)
        if indices.shape.rank is None:
            raise ValueError("indices of a ragged tensor must have a known rank")
        if indices.shape.rank == 0:
            return params[indices]
        if indices.shape.rank > 1:
            return gather(params, RaggedTensor.from_tensor(indices, ragged_rank=indices.shape.rank - 1))
        made = gather_op(params.nested_row_splits, params.flat_values, indices, OUTPUT_RAGGED_RANK=params.ragged_rank)
        return RaggedTensor.from_nested_row_splits(made.output_dense_values, made.output_nested_splits, validate=False)


def _all_ragged(values: Sequence[Any], rank: int) -> list[RaggedTensor]:
    """The values with the same number of ragged dimensions, `rank` at least."""
    found = [converted(value) for value in values]
    most = max([rank, *(x.ragged_rank for x in found if isinstance(x, RaggedTensor))])
    return [_with_ragged_rank(x, most) for x in found]


def _with_ragged_rank(x: Any, rank: int) -> RaggedTensor:
    if not isinstance(x, RaggedTensor):
        return RaggedTensor.from_tensor(x, ragged_rank=rank)
    if x.ragged_rank == rank:
        return x
    inner = x.values
    if isinstance(inner, RaggedTensor):
        return x.with_values(_with_ragged_rank(inner, rank - 1))
    return x.with_values(RaggedTensor.from_tensor(inner, ragged_rank=rank - x.ragged_rank))


def _axis(axis: Any, rank: int | None) -> int:
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {axis!r}")
    if axis < 0:
        if rank is None:
            raise ValueError("axis may only be negative if the rank is statically known.")
        axis += rank
    if axis < 0 or (rank is not None and axis >= rank):
        raise ValueError(f"axis={axis} out of bounds: expected 0<=axis<{rank}")
    return axis


def concat(values: Any, axis: Any = 0, name: str | None = "concat") -> Any:
    """Ragged tensors, and tensors, joined along `axis`. Source: `tf.concat`."""
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name if name != "concat" else None, "RaggedConcat", values):
        found = [converted(value) for value in values]
        axis = _axis(axis, next((x.shape.rank for x in found if x.shape.rank is not None), None))
        return _concat(found, axis)


def _concat(values: Sequence[Any], axis: int) -> Any:
    if len(values) == 1:
        return values[0]
    if not any(isinstance(x, RaggedTensor) for x in values):
        return array_join.concat(list(values), axis)
    if axis == 0:
        ragged = _all_ragged(values, 1)
        inner = _concat([x.values for x in ragged], 0)
        lengths = array_join.concat([x.row_lengths() for x in ragged], 0)
        return RaggedTensor.from_row_lengths(inner, lengths, validate=False)
    ragged = _all_ragged(values, 1)
    if axis > 1:
        inner = _concat([x.values for x in ragged], axis - 1)
        return ragged[0].with_values(inner)
    # All rows one after another; then for each row of the result, that row of the first, of the second, and so on.
    together = _concat(ragged, 0)
    count: Any = ragged[0].nrows()
    number = len(ragged)
    order = array.reshape(array_order.transpose(array.reshape(array_fill.range(count * number), [number, -1])), [-1])
    mixed = gather(together, order)
    splits: Any = mixed.row_splits
    return RaggedTensor(mixed.values, splits[::number])


def stack(values: Any, axis: Any = 0, name: str | None = "stack") -> Any:
    """Ragged tensors, and tensors, as rows of a new dimension. Source: `tf.ragged.stack`, `tf.stack`."""
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name if name != "stack" else None, "RaggedConcat", values):
        found = [converted(value) for value in values]
        rank = next((x.shape.rank for x in found if x.shape.rank is not None), None)
        axis = _axis(axis, None if rank is None else rank + 1)
        if rank == 1 and axis == 0 and not any(isinstance(x, RaggedTensor) for x in found):
            lengths = array_join.stack([array.shape(x, out_type=dtypes.int64)[0] for x in found])  # type: ignore[index]
            return RaggedTensor.from_row_lengths(array_join.concat(found, 0), lengths, validate=False)
        if not any(isinstance(x, RaggedTensor) for x in found):
            found = [RaggedTensor.from_tensor(x) for x in found]
        return _concat([expand_dims(x, axis) for x in found], axis)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """`input` with a dimension of 1 put in at `axis`. Source: `tf.expand_dims`."""
    axis = dim if axis is None else axis
    with name_scope(name, "RaggedExpandDims", [input]):
        x = converted(input)
        rank = x.shape.rank
        axis = _axis(axis, None if rank is None else rank + 1)
        return _expanded(x, axis)


def _expanded(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return array.expand_dims(x, axis)
    if axis > 1:
        return x.with_values(_expanded(x.values, axis - 1))
    count: Any = x.nrows()
    if axis == 0:
        return RaggedTensor(x, array_join.stack([array_fill.zeros_like(count), count]))
    return RaggedTensor(x, array_fill.range(count + 1))


def boolean_mask(tensor: Any = None, mask: Any = None, name: str | None = None, axis: Any = None, data: Any = None) -> Any:
    """The elements of `tensor` where `mask` is true, in ragged rows. Source: `tf.ragged.boolean_mask`.

    The mask's last dimension becomes ragged; its shape is that of the first dimensions of `tensor`.
    """
    with name_scope(name, "RaggedMask", [tensor, mask]):
        x, chosen = converted(data if tensor is None else tensor), converted(mask, dtypes.bool)
        if isinstance(chosen, RaggedTensor) and not isinstance(x, RaggedTensor):
            x = _with_ragged_rank(x, chosen.ragged_rank)
        if not isinstance(chosen, RaggedTensor):
            if chosen.shape.rank is None or chosen.shape.rank == 0:
                raise ValueError("mask must have a known rank above 0")
            if chosen.shape.rank == 1:
                places = array.reshape(array_mask.where_v2(chosen), [-1])
                return gather(x, places)
            rank = chosen.shape.rank - 1
            chosen = RaggedTensor.from_tensor(chosen, ragged_rank=rank)
            x = x if isinstance(x, RaggedTensor) and x.ragged_rank >= rank else _with_ragged_rank(x, rank)
        return _masked(x, chosen)


def _masked(x: RaggedTensor, mask: RaggedTensor) -> RaggedTensor:
    if isinstance(mask.values, RaggedTensor):
        return x.with_values(_masked(x.values, mask.values))
    kept = cast(mask.values, x.row_splits.dtype)
    lengths = segment.unsorted_segment_sum(kept, mask.value_rowids(), mask.nrows())
    places = array.reshape(array_mask.where_v2(mask.values), [-1])
    return RaggedTensor.from_row_lengths(gather(x.values, places), cast(lengths, x.row_splits.dtype), validate=False)


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32, **_: Any) -> Tensor:
    """The number of all elements. Source: `tf.size`."""
    return array.size(converted(input).flat_values, name=name, out_type=out_type)


def rank(input: Any, name: str | None = None, **_: Any) -> Tensor:
    """The number of dimensions. Source: `tf.rank`."""
    with name_scope(name, "RaggedRank", [input]):
        x = converted(input)
        if x.shape.rank is not None:
            return convert_to_tensor(x.shape.rank, dtypes.int32)
        inner: Any = array.rank(x.flat_values)
        return inner + x.ragged_rank  # type: ignore[no-any-return]


def repeat(input: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Each row so many times. Source: `tf.repeat` along axis 0."""
    if axis != 0:
        raise ValueError("rows of a ragged tensor are repeated along axis 0 only")
    x = converted(input)
    return gather(x, array_repeat.repeat(array_fill.range(x.nrows()), repeats, axis=0), name=name)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> RaggedTensor:
    """Row i has the elements of `data` that `partitions` says i for. Source: `tf.ragged.stack_dynamic_partitions`."""
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        x, which = converted(data), converted(partitions)
        if isinstance(which, RaggedTensor):
            return stack_dynamic_partitions(x.values, which.values, num_partitions)
        if which.shape.rank is None:
            raise ValueError("partitions must have known rank.")
        if which.shape.rank == 0:
            return RaggedTensor.from_value_rowids(expand_dims(x, 0), array.expand_dims(which, 0), num_partitions)
        if which.shape.rank > 1:
            shape: Any = array.shape(x)
            x = array.reshape(x, array_join.concat([[-1], shape[which.shape.rank :]], 0))
            which = array.reshape(which, [-1])
        order = argsort(which, stable=True)
        ids = cast(array_gather.gather(which, order), dtypes.int64)
        return RaggedTensor.from_value_rowids(gather(x, order), ids, cast(num_partitions, dtypes.int64))
