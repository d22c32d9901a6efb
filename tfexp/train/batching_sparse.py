"""Sparse tensors in batches made by queues: the queue holds numbers, a map of the session what they stand for. TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.operation import Operation
from tfexp.graph.shape_inference import static_value
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.ops import array
from tfexp.ops.sparse_map import add_sparse, take_many_sparse


@dataclass(frozen=True)
class Stored:
    """A column of sparse tensors: the node whose map they are in, and the rank of a batch of them."""

    map_op: Operation
    rank: int | None


def store(lists: list[list[Any]], many: bool, keep: Any) -> tuple[list[list[Any]], list[Stored | None]]:
    """(the lists with numbers for sparse tensors, what is stored in each column). TypeError for a column that is mixed."""
    columns: list[list[Any]] = []
    stored: list[Stored | None] = []
    for column in zip(*lists, strict=True):
        sparse = [isinstance(t, SparseTensor) for t in column]
        if not any(sparse):
            columns.append(list(column))
            stored.append(None)
            continue
        if not all(sparse):
            raise TypeError(f"Expected inputs to match in type: of {column}, some are sparse and some are not.")
        numbers, map_op = _numbers(column, many, keep)
        columns.append(numbers)
        ranks = {t.get_shape().ndims for t in column}
        rank = ranks.pop() if len(ranks) == 1 else None
        stored.append(Stored(map_op, rank if many or rank is None else rank + 1))
    return [list(row) for row in zip(*columns, strict=True)], stored


def _numbers(column: Sequence[SparseTensor], many: bool, keep: Any) -> tuple[list[Any], Operation]:
    """For each list of tensors the number of its sparse one, all in the map of the first; and the node that has the map."""
    numbers: list[Any] = []
    map_op: Operation | None = None
    always = keep.shape.rank == 1 or static_value(keep) is not None
    for x in column:
        if always:
            number = add_sparse(x, map_op, many)
            map_op = map_op or number.op
        else:
            kept: list[Operation] = []

            def put(x: SparseTensor = x, kept: list[Operation] = kept, known: Operation | None = map_op) -> Any:
                added = add_sparse(x, known, many)
                kept.append(added.op)
                return added

            # What is not kept is not put into the map either.
            number = cond(keep, put, lambda: constant([-1] if many else -1, dtypes.int64))
            map_op = map_op or kept[0]
        numbers.append(array.expand_dims(number, [-1]))
    assert map_op is not None
    return numbers, map_op


def restore(taken: list[Any], stored: list[Stored | None]) -> list[Any]:
    """The batch with sparse tensors for their numbers; whoever uses one part of it waits for all."""
    batch = [t if s is None else _restored(t, s) for t, s in zip(taken, stored, strict=True)]
    made = [part.op for part in batch]
    tied = [
        SparseTensor(*[with_dependencies(made, part) for part in x.parts])
        if isinstance(x, SparseTensor)
        else with_dependencies(made, x)
        for x in batch
    ]
    # A single one has nothing to wait for; TensorFlow makes the nodes all the same.
    return batch if len(batch) == 1 else tied


def _restored(numbers: Any, stored: Stored) -> SparseTensor:
    return take_many_sparse(array.squeeze(numbers, axis=[1]), stored.map_op, stored.rank)
