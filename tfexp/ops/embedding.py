"""Embeddings: rows of one table, or of a table in several parts, by id."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import rank, reshape, shape, size
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where
from tfexp.ops.array_partition import dynamic_partition, parallel_dynamic_stitch_op
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_norm
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.reduce import reduce_sum


def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """The rows `ids` of a table: of shape ids.shape + params.shape[1:]. Source: `tf.nn.embedding_lookup`, TF 1.15.

    A list of tables (or a partitioned variable) is one table in parts: id i is row i // n of part i % n ("mod"), or the
    parts follow each other, the first ones a row longer ("div"). Rows are scaled down to an L2 norm of at most `max_norm`.
    ValueError for no tables or another strategy; an id out of range is an InvalidArgumentError of the run.
    """
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    if not isinstance(params, (list, tuple)):
        params = list(params) if hasattr(params, "_variable_list") else [params]
    params = list(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as scope:
        if not any(hasattr(p, "sparse_read") for p in params):
            params = [convert_to_tensor(p, name=f"params_{i}") for i, p in enumerate(params)]
        ids = convert_to_tensor(ids, name="ids")
        graph = get_default_graph()
        if len(params) == 1:
            with graph.colocate_with(params[0]):
                rows = _clipped(gather(params[0], ids, name=scope), ids, max_norm)
            # Whoever uses the rows is not tied to the table's device.
            return identity(rows)  # type: ignore[no-any-return]
        flat_ids: Any = reshape(ids, [-1])
        positions = range_(size(flat_ids))
        assignments, rows_of_parts = _partitioned(params, flat_ids, partition_strategy)
        assignments = cast(assignments, dtypes.int32)
        dealt_ids = dynamic_partition(rows_of_parts, assignments, len(params))
        dealt_positions = dynamic_partition(positions, assignments, len(params))
        found = []
        for part, part_ids in zip(params, dealt_ids, strict=True):
            with graph.colocate_with(part):
                found.append(gather(part, part_ids))
        rows = parallel_dynamic_stitch_op(dealt_positions, found, name=scope)
        element = params[0].get_shape()[1:]
        for part in params[1:]:
            element = element.merge_with(part.get_shape()[1:])
        dims: Any = element.as_list() if element.is_fully_defined() else None
        if dims is None:
            with graph.colocate_with(params[0]):
                dims = shape(params[0])[1:]  # type: ignore[index]  # bound by ops.overloads
        rows = reshape(rows, concat([shape(ids), dims], 0))
        rows.set_shape(ids.get_shape().concatenate(element))
        return _clipped(rows, ids, max_norm)


def _partitioned(params: list[Any], ids: Any, strategy: str) -> tuple[Any, Any]:
    """For each id the part that has its row, and the row's number there."""
    count = len(params)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError(f"Unrecognized partition strategy: {strategy}.Must be one of either `mod` or `div`.")
    total = _total_rows(params, ids)
    per_part, longer = total // count, total % count
    assignments: Any = maximum(ids // (per_part + 1), (ids - longer) // per_part)
    return assignments, where(assignments < longer, ids % (per_part + 1), (ids - longer) % per_part)


def _total_rows(params: list[Any], ids: Any) -> Any:
    lengths = [None if p.get_shape().known_dims is None else p.get_shape().known_dims[0] for p in params]
    if None not in lengths:
        return constant(sum(length for length in lengths if length is not None), ids.dtype.base_dtype)
    sizes: list[Any] = []
    for part, length in zip(params, lengths, strict=True):
        if length is not None:
            sizes.append(length)
            continue
        with get_default_graph().colocate_with(part):
            sizes.append(shape(part)[0])  # type: ignore[index]
    return reduce_sum(cast(stack(sizes), ids.dtype.base_dtype))


def _clipped(rows: Any, ids: Any, max_norm: float | None) -> Tensor:
    if max_norm is None:
        result: Tensor = rows
        return result
    ends: list[Any] = [rank(x) if x.get_shape().ndims is None else x.get_shape().ndims for x in (ids, rows)]
    known = all(isinstance(end, int) for end in ends)
    return clip_by_norm(rows, max_norm, axes=list(range(*ends)) if known else range_(*ends))
