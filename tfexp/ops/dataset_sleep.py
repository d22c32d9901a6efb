"""Data sets whose elements take their time: for tests of what waits for them."""

from __future__ import annotations

import threading
from typing import Any

from tfexp.core.errors import CancelledError
from tfexp.ops.dataset import Chain, Dataset, DatasetIterator, Element, FromRecipe, as_count, define_dataset

sleep_dataset = define_dataset(
    "SleepDataset(input_dataset: variant, sleep_microseconds: int64) -> (handle: variant) {output_types: list(type) >= 1; "
    "output_shapes: list(shape) >= 1}"
)


class _Sleep(Chain):
    def __init__(self, source: DatasetIterator, seconds: float):
        super().__init__(source)
        self.blocks = False
        self._seconds = seconds
        self._interrupted = threading.Event()

    def next(self) -> Element | None:
        if self._interrupted.wait(self._seconds):
            raise CancelledError(None, None, "Waiting for the next element was cancelled")
        return self.source.next()

    def interrupt(self, on: bool = True) -> None:
        if on:
            self._interrupted.set()
        else:
            self._interrupted.clear()
        super().interrupt(on)


@sleep_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, sleep_microseconds: Any) -> Dataset:
    seconds = as_count(sleep_microseconds) / 1e6
    return FromRecipe(lambda source: _Sleep(source.iterator(), seconds), dataset, cardinality=dataset.cardinality)
