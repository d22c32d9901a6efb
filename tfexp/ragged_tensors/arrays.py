"""Functions of arrays for ragged tensors: joined, gathered, masked, expanded; ranges. Source: `tf.ragged`, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import (
    array,
    array_fill,
    array_gather,
    array_identity,
    array_join,
    array_mask,
    array_order,
    array_repeat,
    check_compare,
    segment,
)
from tfexp.ops.cast import cast
from tfexp.ops.ragged_ops import gather_op, ragged_range
from tfexp.ops.sort import argsort
from tfexp.ragged_tensors import rows
from tfexp.ragged_tensors.tensor import RaggedTensor, converted, of_rows


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
    return of_rows(values, splits)


def rows_between(values: Any, begins: Tensor, ends: Tensor) -> RaggedTensor:
    """The rows values[begin:end], one after the other."""
    which = range(begins, ends, row_splits_dtype=begins.dtype)
    return of_rows(gather(values, which.values), which.row_splits)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """The rows `indices` (ragged or not) of `params` (ragged or not). ValueError for another axis. Source: `tf.gather`."""
    if axis not in (None, 0):
        raise ValueError("axis != 0 is not supported for ragged gather yet.")
    if batch_dims:
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    with name_scope(name, "RaggedGather", [params, indices]):
        params, indices = converted(params), converted(indices)
        if isinstance(indices, RaggedTensor):
            return indices.with_values(gather(params, indices.values))
        if not isinstance(params, RaggedTensor):
            return array_gather.gather(params, indices)
        if indices.shape.rank is None:
            raise ValueError("indices.shape.ndims must be known statically")
        if indices.shape.rank == 0:
            return params[indices]
        if indices.shape.rank > 1:
            return gather(params, RaggedTensor.from_tensor(indices, ragged_rank=indices.shape.rank - 1))
        made = gather_op(params.nested_row_splits, params.flat_values, indices, OUTPUT_RAGGED_RANK=params.ragged_rank)
        count = indices.shape[0].value
        made.output_nested_splits[0].set_shape([None if count is None else count + 1])
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


def concat(values: Any, axis: Any = 0, name: str | None = "concat") -> Any:
    """Ragged tensors, and tensors, joined along `axis`. Source: `tf.concat`."""
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name if name != "concat" else None, "RaggedConcat", values):
        found = [converted(value) for value in values]
        if len(found) == 1:
            return found[0]
        return _concat(found, rows.axis_of(axis, _common_rank(found)))


def _common_rank(values: Sequence[Any]) -> int | None:
    """The rank of all, None where it is unknown of each. ValueError if there are none, or of different ranks."""
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    rank = next((x.shape.rank for x in values if x.shape.rank is not None), None)
    if rank is not None:
        for x in values:
            x.shape.assert_has_rank(rank)
    return rank


def _concat(values: Sequence[Any], axis: int) -> Any:
    if not any(isinstance(x, RaggedTensor) for x in values):
        return array_join.concat(list(values), axis)
    if axis == 0:
        ragged = _all_ragged(values, 1)
        inner = _concat([x.values for x in ragged], 0)
        lengths = array_join.concat([x.row_lengths() for x in ragged], 0)
        return RaggedTensor.from_row_lengths(inner, lengths, validate=False)
    ragged = _all_ragged(values, 1)
    if axis > 1:
        with control_dependencies(rows.same([[x.row_splits] for x in ragged])):
            return ragged[0].with_values(_concat([x.values for x in ragged], axis - 1))
    for x in ragged[1:]:
        ragged[0].shape[:1].assert_is_compatible_with(x.shape[:1])
    # All rows one after another; then for each row of the result, that row of the first, of the second, and so on.
    together = _concat(ragged, 0)
    count: Any = ragged[0].nrows()
    message, number = "Input tensors have incompatible shapes.", len(ragged)
    with control_dependencies([check_compare.assert_equal(x.nrows(), count, message=message) for x in ragged[1:]]):
        count = array_identity.identity(count)
    order = array.reshape(array_order.transpose(array.reshape(array_fill.range(count * number), [number, -1])), [-1])
    mixed = gather(together, order)
    splits: Any = mixed.row_splits
    return of_rows(mixed.values, splits[::number])


def stack(values: Any, axis: Any = 0, name: str | None = "stack") -> Any:
    """Ragged tensors, and tensors, as rows of a new dimension. Source: `tf.ragged.stack`, `tf.stack`.

    Of tensors alone a tensor where the new dimension is the last or the one before it, if these are not the first.
    """
    values = values if isinstance(values, (list, tuple)) else [values]
    with name_scope(name if name != "stack" else None, "RaggedConcat", values):
        found = [converted(value) for value in values]
        rank = _common_rank(found)
        axis = rows.axis_of(axis, None if rank is None else rank + 1)
        if rank == 1 and axis == 0 and not any(isinstance(x, RaggedTensor) for x in found):
            lengths = array_join.stack([array.shape(x, out_type=dtypes.int64)[0] for x in found])  # type: ignore[index]
            return RaggedTensor.from_row_lengths(array_join.concat(found, 0), lengths, validate=False)
        if not any(isinstance(x, RaggedTensor) for x in found):
            if rank is not None and (rank == 0 or axis >= max(rank - 1, 1)):
                return array_join.stack(found, axis)
            found = [RaggedTensor.from_tensor(x, ragged_rank=max(axis, 1)) for x in found]
        return _concat([expand_dims(x, axis) for x in found], axis)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """`input` with a dimension of 1 put in at `axis`. Source: `tf.expand_dims`."""
    axis = dim if axis is None else axis
    with name_scope(name, "RaggedExpandDims", [input]):
        x = converted(input)
        rank = x.shape.rank
        axis = rows.axis_of(axis, None if rank is None else rank + 1)
        return _expanded(x, axis)


def _expanded(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return array.expand_dims(x, axis)
    if axis > 1:
        return x.with_values(_expanded(x.values, axis - 1))
    count: Any = x.nrows()
    if axis == 0:
        return of_rows(x, array_join.stack([array_fill.zeros_like(count), count]))
    return of_rows(x, array_fill.range(count + 1))


def boolean_mask(tensor: Any = None, mask: Any = None, name: str | None = None, axis: Any = None, data: Any = None) -> Any:
    """The elements of `tensor` where `mask` is true, in ragged rows. Source: `tf.ragged.boolean_mask`.

    The mask's last dimension becomes ragged; its shape is that of the first dimensions of `tensor`.
    """
    with name_scope(name, "RaggedMask", [tensor, mask]):
        x, chosen = converted(data if tensor is None else tensor), converted(mask, dtypes.bool)
        if chosen.shape.rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if chosen.shape.rank == 0:
            raise ValueError("mask cannot be scalar.")
        if chosen.shape.rank == 1:
            x.shape[:1].assert_is_compatible_with(chosen.shape)
            return gather(x, array.reshape(array_mask.where_v2(chosen), [-1]))
        if not isinstance(x, RaggedTensor) and not isinstance(chosen, RaggedTensor):
            x.shape[: chosen.shape.rank].assert_is_compatible_with(chosen.shape)
        chosen = _with_ragged_rank(chosen, chosen.shape.rank - 1)
        x = (
            x
            if isinstance(x, RaggedTensor) and x.ragged_rank >= chosen.ragged_rank
            else _with_ragged_rank(x, chosen.ragged_rank)
        )
        return _masked(x, chosen)


def _masked(x: RaggedTensor, mask: RaggedTensor) -> RaggedTensor:
    if isinstance(mask.values, RaggedTensor):
        return x.with_values(_masked(x.values, mask.values))
    kept = cast(mask.values, x.row_splits.dtype)
    lengths = segment.unsorted_segment_sum(kept, mask.value_rowids(), mask.nrows())
    with control_dependencies(rows.same([[mask.row_splits], [x.row_splits]])):
        x.values.shape[:1].assert_is_compatible_with(mask.values.shape[:1])
        places = array.reshape(array_mask.where_v2(mask.values), [-1])
    return RaggedTensor.from_row_lengths(gather(x.values, places), cast(lengths, x.row_splits.dtype), validate=False)


def size(input: Any, name: str | None = None, out_type: Any = dtypes.int32, **_: Any) -> Tensor:
    """The number of all elements. Source: `tf.size`."""
    x = converted(input)
    return array.size(x.flat_values if isinstance(x, RaggedTensor) else x, name=name, out_type=out_type)


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
        count = convert_to_tensor(num_partitions, name="num_partitions")
        count.shape.assert_has_rank(0)
        return _stacked(x, which, count)


def _stacked(x: Any, which: Any, count: Tensor) -> RaggedTensor:
    if which.shape.rank is None:
        raise ValueError("partitions must have known rank.")
    if isinstance(which, RaggedTensor) or (isinstance(x, RaggedTensor) and which.shape.rank > 1):
        which = _with_ragged_rank(which, max(1, getattr(which, "ragged_rank", which.shape.rank - 1)))
        x = _with_ragged_rank(x, max(which.ragged_rank, getattr(x, "ragged_rank", 0)))
        message = "data and partitions have incompatible ragged shapes"
        with control_dependencies(rows.same([[x.row_splits], [cast(which.row_splits, x.row_splits.dtype)]], message)):
            return _stacked(x.values, which.values, count)
    which.shape.assert_is_compatible_with(x.shape[: which.shape.rank])
    if which.shape.rank == 0:
        x, which = expand_dims(x, 0), array.expand_dims(which, 0)
    if which.shape.rank > 1:
        shape: Any = array.shape(x)
        x = array.reshape(x, array_join.concat([[-1], shape[which.shape.rank :]], 0))
        which = array.reshape(which, [-1])
    count = cast(count, which.dtype)
    checks = [
        check_compare.assert_non_negative(which, message="partitions must be non-negative"),
        check_compare.assert_less(which, count, message="partitions must be less than num_partitions"),
    ]
    with control_dependencies(checks):
        order = argsort(which, stable=True)
    return RaggedTensor.from_value_rowids(gather(x, order), array_gather.gather(which, order), count)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """The one-hot vectors of ragged indices. ValueError for an `axis` before the ragged ones. Source: `tf.one_hot`."""
    if isinstance(axis, int) and axis >= 0:
        if axis < indices.ragged_rank:
            raise ValueError("axis may not be less than indices.ragged_rank.")
        axis -= indices.ragged_rank
    return indices.with_flat_values(array_fill.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype, name))
