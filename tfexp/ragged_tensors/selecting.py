"""Parts of ragged tensors picked, repeated and dropped: batch_gather, gather_nd, squeeze, tile, where. Source: TF 1.15."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_gather, array_join, array_mask, array_repeat, array_tile
from tfexp.ops import check_compare as check
from tfexp.ops.array_identity import identity
from tfexp.ops.cast import cast
from tfexp.ragged_tensors import rows
from tfexp.ragged_tensors.arrays import concat, expand_dims, gather, stack_dynamic_partitions
from tfexp.ragged_tensors.elementwise import map_flat_values
from tfexp.ragged_tensors.tensor import RaggedTensor, converted, of_rows


def batch_gather(params: Any, indices: Any, name: str | None = None) -> Any:
    """Of each row of `params` the elements that the same row of `indices` says. Source: `tf.batch_gather`."""
    with name_scope(name, "RaggedBatchGather", [params, indices]):
        params, indices = converted(params), converted(indices)
        if indices.shape.rank is None or indices.shape.rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        return _batch_gathered(params, indices)


def _batch_gathered(params: Any, indices: Any) -> Any:
    rank, other = indices.shape.rank, ValueError("batch shape from indices does not match params shape")
    if rank == 1:
        return gather(params, indices)
    if params.shape.rank is not None and params.shape.rank < rank:
        raise other
    params.shape[0].assert_is_compatible_with(indices.shape[0])
    if rank > 2:
        if not (isinstance(params, RaggedTensor) and isinstance(indices, RaggedTensor)):
            raise other
        with control_dependencies(rows.same([[params.row_splits], [cast(indices.row_splits, params.row_splits.dtype)]])):
            return indices.with_values(_batch_gathered(params.values, indices.values))
    if not isinstance(params, RaggedTensor):
        params = RaggedTensor.from_tensor(params)
    if not isinstance(indices, RaggedTensor):
        starts: Any = array.expand_dims(params.row_starts(), 1)
        return gather(params.values, starts + cast(indices, starts.dtype))
    starts = array_gather.gather(params.row_starts(), indices.value_rowids())
    return indices.with_values(gather(params.values, starts + cast(indices.values, starts.dtype)))


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """The parts of `params` at the places that the last dimension of `indices` spells. Source: `tf.gather_nd`."""
    if batch_dims:
        raise ValueError("For ragged tensors, batch_dims must be 0")
    with name_scope(name, "RaggedGatherNd", [params, indices]):
        params, indices = converted(params), converted(indices)
        if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
            return array_gather.gather_nd(params, indices)
        rank = indices.shape.rank
        if rank is None:
            raise ValueError("indices.rank be statically known.")
        if rank == 0:
            raise ValueError("indices.rank must be at least 1.")
        if isinstance(indices, RaggedTensor):
            if rank == indices.ragged_rank + 1:
                raise ValueError("The innermost dimension of indices may not be ragged")
            return indices.with_values(gather_nd(params, indices.values))
        length = indices.shape.as_list()[-1]
        if length is None:
            raise ValueError("indices.shape[-1] must be statically known.")
        if length == 0:
            return _whole(params, indices, rank)
        if rank == 1:
            return gather_nd(params, array.expand_dims(indices, 0))[0]
        if rank > 2:
            return gather_nd(params, RaggedTensor.from_tensor(indices, ragged_rank=rank - 2))
        return _at(params, array_join.unstack(cast(indices, params.row_splits.dtype), num=length, axis=1))


def _whole(params: RaggedTensor, indices: Tensor, rank: int) -> Any:
    """All of `params` for each of the indices, which spell no place."""
    sizes: Any = array.shape(indices)
    inner = array_fill.ones([array.rank(params.flat_values) + params.ragged_rank], dtypes.int32)  # type: ignore[operator]
    for _ in range(rank - 1):
        params = expand_dims(params, 0)
    return tile(params, array_join.concat([sizes[:-1], inner], 0))


def _at(x: Any, places: Sequence[Any]) -> Any:
    """x[i, j, …] for the vectors i, j, …"""
    first, *rest = places
    if not isinstance(x, RaggedTensor):
        return array_gather.gather_nd(x, array_join.stack([first, *rest], axis=1))
    if not rest:
        return gather(x, first)
    length = array_gather.gather(x.row_lengths(), first)
    with control_dependencies([check.assert_less(rest[0], length), check.assert_non_negative(rest[0])]):
        start: Any = array_gather.gather(x.row_starts(), first)
    return _at(x.values, [start + rest[0], *rest[1:]])


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None, **_: Any) -> Any:
    """`input` without the dimensions `axis`, which must be 1. ValueError without `axis`. Source: `tf.squeeze`."""
    axis = squeeze_dims if axis is None else axis
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    with name_scope(name, "RaggedSqueeze", [input]):
        x = converted(input)
        wanted = [axis] if isinstance(axis, int) else list(axis)
        for one in sorted({rows.axis_of(a, x.shape.rank) for a in wanted}, reverse=True):
            x = _squeezed(x, one)
        return x


def _squeezed(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return array.squeeze(x, [axis])
    if axis > 1:
        return of_rows(_squeezed(x.values, axis - 1), x.row_splits)
    lengths = x.nrows() if axis == 0 else x.row_lengths()
    one = convert_to_tensor(1, x.row_splits.dtype)
    with control_dependencies(
        [check.assert_equal(lengths, one, message=f"the given axis (axis = {axis}) is not squeezable!")]
    ):
        values = x.values
        return values.with_values(identity(values.values)) if isinstance(values, RaggedTensor) else identity(values)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """`input` so many times along each of its dimensions. Source: `tf.tile`."""
    with name_scope(name, "RaggedTile", [input, multiples]):
        x = converted(input)
        counts = convert_to_tensor(multiples, preferred_dtype=x.row_splits.dtype, name="multiples")
        if not counts.dtype.is_integer:
            raise TypeError(f"multiples must be an integer tensor; dtype={counts.dtype!r}")
        counts = cast(counts, x.row_splits.dtype)
        counts.shape.assert_has_rank(1)
        rank = x.shape.rank if x.shape.rank is not None else counts.shape.as_list()[0]
        if rank is None:
            raise ValueError("tile of a ragged tensor needs its rank, or a known number of multiples")
        counts.shape.assert_is_compatible_with([rank])
        return _tiled(x, array_join.unstack(counts, num=rank))


def _tiled(x: Any, counts: list[Any]) -> Any:
    if not isinstance(x, RaggedTensor):
        return array_tile.tile(x, array_join.stack(counts))
    outer, along, *inner = counts
    if inner:
        x = x.with_values(_tiled(x.values, [array_fill.ones_like(outer), *inner]))
    # Each row, times `along`, one after the other: their values are those of one row.
    repeated = gather(x, array_repeat.repeat(array_fill.range(x.nrows()), along, axis=0))
    whole = of_rows(repeated.values, x.row_splits * along)
    return gather(whole, array_tile.tile(array_fill.range(whole.nrows()), array.reshape(outer, [1])))


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Values of `x` where the condition holds, else of `y`; without both, the coordinates where it holds. `tf.where`.

    The condition has the form of `x` and `y`, or is a vector that chooses among their rows.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope(name, "RaggedWhere", [condition, x, y]):
        condition = converted(condition, dtypes.bool)
        if x is None:
            return _coordinates(condition)
        x, y = converted(x), converted(y)
        ranks = [t.shape.rank for t in (condition, x, y)]
        if all(isinstance(t, RaggedTensor) for t in (condition, x, y)):
            return map_flat_values(array_mask.where, condition, x, y)
        if ranks[0] == 1 and all(r is None or r > 1 for r in ranks[1:]):
            return _rows_where(condition, x, y)
        if not isinstance(condition, RaggedTensor):
            condition.shape.assert_has_rank(1)
        raise ValueError("Input shapes do not match.")


def _rows_where(condition: Tensor, x: Any, y: Any) -> Any:
    for chosen in (x, y):
        condition.shape.assert_is_compatible_with(chosen.shape[:1])
    count = array.shape(condition, out_type=dtypes.int64)[0]  # type: ignore[index]
    mine: Any = array_fill.range(count)
    return gather(concat([x, y], axis=0), array_mask.where(condition, mine, mine + count))


def _coordinates(condition: Any) -> Any:
    """[places, rank], of the places where it is true."""
    if not isinstance(condition, RaggedTensor):
        return array_mask.where(condition)
    inner: Any = _coordinates(condition.values)
    place = inner[:, 0]
    row = array_gather.gather(condition.value_rowids(), place)
    column = place - array_gather.gather(condition.row_starts(), row)
    return array_join.concat([array_join.stack([row, column], axis=1), inner[:, 1:]], 1)


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The elements along these axes from the last to the first. Source: `tf.reverse`."""
    known = static_value(convert_to_tensor(axis))
    if known is None:
        raise ValueError("axis of a ragged tensor must be known at graph construction time")
    with name_scope(name, "RaggedReverse", [tensor]):
        ragged, rank = converted(tensor), tensor.shape.rank
        axes = [int(one) + rank if one < 0 and rank is not None else int(one) for one in known]
        if rank is not None and any(not 0 <= one < rank for one in axes):
            raise ValueError(f"axis={[*map(int, known)]} out of bounds: expected -{rank} <= axis < {rank}")
        backwards, deepest = slice(None, None, -1), max(axes, default=0)
        keys = tuple(backwards if one in axes else slice(None) for one in builtins.range(deepest + 1))
        return ragged[keys]


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: str | None = None) -> list[Any]:
    """The rows of `stack_dynamic_partitions`. TypeError for a number that is none. Source: `tf.dynamic_partition`."""
    if not isinstance(num_partitions, int) or num_partitions < 0:
        raise TypeError("num_partitions must be a non-negative integer")
    stacked: Any = stack_dynamic_partitions(data, partitions, num_partitions, name)
    return [stacked[number] for number in range(num_partitions)]
