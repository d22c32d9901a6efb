"""`tf.map_fn` over the rows of ragged tensors, or to ragged results. Source: `ragged_map_ops.map_fn`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.graph.convert import convert_to_tensor
from tfexp.ops import functional
from tfexp.ops.ragged_variant import ragged_tensor_from_variant, ragged_tensor_to_variant
from tfexp.ragged_tensors.tensor import RaggedTensor, converted


class RaggedTensorType:
    """What a ragged result of `map_fn` is: its dtype, and the ragged rank of all of it."""

    def __init__(self, dtype: Any, ragged_rank: int, row_splits_dtype: Any = dtypes.int64):
        self.dtype = dtypes.as_dtype(dtype)
        self.ragged_rank = ragged_rank
        self.row_splits_dtype = dtypes.as_dtype(row_splits_dtype)


def map_fn(fn: Callable[[Any], Any], elems: Any, dtype: Any = None, name: str | None = None, **options: Any) -> Any:
    """`fn` of each row of `elems`, stacked. `dtype`: the results', where they are not like `elems`.

    It has a RaggedTensorType for each result that is ragged. ValueError for results of another ragged rank.
    """
    rows = [converted(leaf) for leaf in nest.flatten(elems)]
    structure = elems if dtype is None else dtype
    declared = [_type_of(row) for row in rows] if dtype is None else nest.flatten(dtype)

    def of_rows(stored: Any) -> Any:
        leaves = [_row(value, ragged) for value, ragged in zip(nest.flatten(stored), rows, strict=True)]
        result = fn(nest.pack_sequence_as(elems, leaves))
        nest.assert_same_structure(structure, result)
        return [_stored(value, kind) for value, kind in zip(nest.flatten(result), declared, strict=True)]

    inputs = [_encoded(row, batched=True) if isinstance(row, RaggedTensor) else convert_to_tensor(row) for row in rows]
    kinds = [dtypes.variant if isinstance(kind, RaggedTensorType) else kind for kind in declared]
    found = functional.map_fn(of_rows, inputs, kinds, name=name, **options)
    results = [_decoded(one, kind) for one, kind in zip(found, declared, strict=True)]
    return nest.pack_sequence_as(structure, results)


def _type_of(row: Any) -> Any:
    if not isinstance(row, RaggedTensor):
        return dtypes.as_dtype(row.dtype)
    return RaggedTensorType(row.dtype, row.ragged_rank, row.row_splits.dtype)


def _encoded(value: Any, batched: bool) -> Any:
    splits = list(value.nested_row_splits) if isinstance(value, RaggedTensor) else []
    values = value.flat_values if isinstance(value, RaggedTensor) else value
    kind = splits[0].dtype if splits else dtypes.int64
    return ragged_tensor_to_variant(splits, values, batched_input=batched, Tsplits=kind)


def _row(stored: Any, whole: Any) -> Any:
    """The row of a ragged tensor, a tensor where it is ragged no more."""
    if not isinstance(whole, RaggedTensor):
        return stored
    rank = whole.ragged_rank - 1
    found = _restored(stored, whole.dtype, rank, 0 if rank == 0 else rank, whole.row_splits.dtype)
    if rank == 0:
        found.set_shape(whole.flat_values.shape[:0].concatenate([None]).concatenate(whole.flat_values.shape[1:]))
    return found


def _restored(stored: Any, dtype: Any, rank: int, of: int, splits_dtype: Any) -> Any:
    splits, values = ragged_tensor_from_variant(
        stored, input_ragged_rank=of, output_ragged_rank=rank, Tvalues=dtype, Tsplits=splits_dtype
    )
    return RaggedTensor.from_nested_row_splits(values, splits, validate=False) if rank else values


def _stored(value: Any, kind: Any) -> Any:
    if not isinstance(kind, RaggedTensorType):
        return value
    value = converted(value)
    # One more, for the rows that are stacked.
    rank = 1 + (value.ragged_rank if isinstance(value, RaggedTensor) else 0)
    if rank != kind.ragged_rank:
        raise ValueError(f"The declared ragged rank ({kind.ragged_rank}) mismatches the result ({rank - 1})")
    if isinstance(value, RaggedTensor):
        return _encoded(value.with_row_splits_dtype(kind.row_splits_dtype), batched=False)
    return _encoded(convert_to_tensor(value, kind.dtype), batched=False)


def _decoded(found: Any, kind: Any) -> Any:
    if not isinstance(kind, RaggedTensorType):
        return found
    return _restored(found, kind.dtype, kind.ragged_rank, kind.ragged_rank - 1, kind.row_splits_dtype)
