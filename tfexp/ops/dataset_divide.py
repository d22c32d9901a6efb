"""Data sets that are divided: elements among workers, by their files or one by one, and batches among replicas."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.dataset import (
    UNKNOWN,
    Chain,
    Dataset,
    DatasetIterator,
    Element,
    FromRecipe,
    State,
    as_count,
    define_dataset,
    kept,
)
from tfexp.ops.dataset_choose import sharded

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"

# --- among workers -------------------------------------------------------------------------------------------------------

auto_shard_dataset = define_dataset(
    "AutoShardDataset(input_dataset: variant, num_workers: int64, index: int64) -> (handle: variant) "
    f"{{auto_shard_policy: int = 0; {_TYPES}; num_replicas: int = 0}}",
    any_shape=["num_workers", "index"],
)
_OFF, _BY_FILE, _BY_ELEMENT = -1, 1, 2  # policies besides 0, AUTO


@auto_shard_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, num_workers: Any, index: Any, *, auto_shard_policy: int) -> Dataset:
    workers, number = as_count(num_workers), as_count(index)
    if workers <= 0:
        raise InvalidArgumentError(None, None, "num_workers must be greater than zero.")
    if not 0 <= number < workers:
        raise InvalidArgumentError(None, None, f"index must be between 0 and {workers - 1}")
    if auto_shard_policy == _OFF:
        return dataset
    by_file = None if auto_shard_policy == _BY_ELEMENT else dataset.divided(workers, number)
    if by_file is None and auto_shard_policy == _BY_FILE:
        raise InvalidArgumentError(None, None, "The data set does not read files only: it cannot be divided by them")
    return sharded(dataset, workers, number, fill=True) if by_file is None else by_file


# --- among replicas ------------------------------------------------------------------------------------------------------

rebatch_dataset = define_dataset(
    "RebatchDataset(input_dataset: variant, num_replicas: int64) -> (handle: variant) "
    f"{{{_TYPES}; use_fallback: bool = true}}",
    any_shape=["num_replicas"],
)


class _Rebatch(Chain):
    """Each batch in so many parts, of which the last ones may be smaller, or empty."""

    def __init__(self, source: DatasetIterator, parts: int):
        super().__init__(source)
        self.blocks = False
        self._parts = parts
        self._batch: Element | None = None
        self._given = 0  # parts of that batch

    def next(self) -> Element | None:
        if self._batch is None:
            self._batch, self._given = self._next_batch(), 0
        if self._batch is None:
            return None
        size = -(-len(self._batch[0]) // self._parts)
        start = self._given * size
        part = [array[start : start + size] for array in self._batch]
        self._given += 1
        if self._given == self._parts:
            self._batch = None
        return part

    def _next_batch(self) -> Element | None:
        batch = self.source.next()
        if batch is not None and len({np.shape(array)[:1] for array in batch} - {()}) != 1:
            raise InvalidArgumentError(
                None,
                None,
                "Cannot use rebatching fallback when 0th dimensions of dataset components don't match. Component shapes "
                f"are {[list(np.shape(array)) for array in batch]}",
            )
        return batch

    def save(self) -> State:
        batch = None if self._batch is None else [kept(array) for array in self._batch]
        return {"source": self.source.save(), "batch": batch, "given": self._given}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])
        self._batch, self._given = state["batch"], state["given"]


@rebatch_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, num_replicas: Any) -> Dataset:
    parts = as_count(num_replicas)
    if parts <= 0:
        raise InvalidArgumentError(None, None, f"num_replicas must be greater than zero, not {parts}.")
    counted = dataset.cardinality * parts if dataset.cardinality > 0 else dataset.cardinality
    return FromRecipe(lambda source: _Rebatch(source.iterator(), parts), dataset, cardinality=max(counted, UNKNOWN))
