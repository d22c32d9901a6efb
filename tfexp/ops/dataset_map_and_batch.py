"""Mapped and put into batches by one node: the same elements as by two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import dims_text
from tfexp.ops.dataset import Dataset, as_count, define_dataset
from tfexp.ops.dataset_batch import batches
from tfexp.ops.dataset_map import MAP, parallel_map

map_and_batch_dataset = define_dataset(
    "MapAndBatchDataset(input_dataset: variant, other_arguments: Targuments, batch_size: int64, num_parallel_calls: int64, "
    f"drop_remainder: bool) -> (handle: variant) {{{MAP}preserve_cardinality: bool = false; metadata: string = ''}}"
)


@map_and_batch_dataset.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    arguments: Sequence[Any],
    batch_size: Any,
    num_parallel_calls: Any,
    drop_remainder: Any,
    *,
    f: Any,
) -> Dataset:
    if as_count(batch_size) <= 0:
        raise InvalidArgumentError(None, None, "batch_size must be greater than zero.")
    mapped = parallel_map(ctx, dataset, arguments, num_parallel_calls, f)
    return batches(mapped, batch_size, drop_remainder, _unlike)


def _unlike(component: int, first: tuple[int, ...], number: int, other: tuple[int, ...]) -> str:
    return (
        "Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: "
        f"{dims_text(other)}, [batch]: {dims_text(first)} (component {component}, element {number})"
    )
