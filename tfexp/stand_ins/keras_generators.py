"""`tensorflow.python.keras.engine.training_generator`: data of any kind as a generator of batches. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfexp.core import nest
from tfexp.data.dataset import Dataset
from tfexp.keras.training.dataset_batches import is_dataset
from tfexp.keras.training.generator_batches import is_generator
from tfexp.keras.utils.data import Sequence


def convert_to_generator_like(
    data: Any, batch_size: int | None = None, steps_per_epoch: int | None = None, epochs: int = 1, shuffle: bool = False
) -> tuple[Any, int | None]:
    """(what gives batches by `next`, or a Sequence; how many there are in an epoch).

    Arrays are cut into batches, for all epochs, in the structure that they are in. ValueError without a `batch_size` for
    these.
    """
    parts = [one for one in data if one is not None] if isinstance(data, tuple) else [data]
    first = parts[0] if len(parts) == 1 else None
    if isinstance(first, Sequence):
        return first, steps_per_epoch or len(first)
    if is_generator(first):
        return first, steps_per_epoch
    if is_dataset(first):
        return iter(first) if isinstance(first, Dataset) else first, steps_per_epoch
    if batch_size is None:
        raise ValueError("A `batch_size` is required for arrays.")
    count = len(nest.flatten(data)[0])
    return _batches(data, count, batch_size, epochs, shuffle), steps_per_epoch or -(-count // batch_size)


def _batches(data: Any, count: int, batch_size: int, epochs: int, shuffle: bool) -> Iterator[Any]:
    """Each epoch's batches, in an order of its own if shuffled."""
    for _ in range(epochs):
        order = np.random.permutation(count) if shuffle else np.arange(count)
        for start in range(0, count, batch_size):
            which = order[start : start + batch_size]
            yield nest.map_structure(lambda array, which=which: array[which], data)
