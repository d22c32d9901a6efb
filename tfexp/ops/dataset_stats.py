"""What is measured of a pipeline while it runs: how long an element takes, and how large it is.

A measuring node tells what it finds to the aggregator that `SetStatsAggregatorDataset` after it names, and nothing where
there is none. Data sets that functions make are not measured.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset import Chain, Dataset, DatasetIterator, Element, FromRecipe, define_dataset
from tfexp.ops.summary import histogram_proto

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"

stats_aggregator_handle = define_op(
    "StatsAggregatorHandle() -> (handle: resource) {container: string = ''; shared_name: string = ''} #stateful"
).not_differentiable()
stats_aggregator_summary = define_op(
    "StatsAggregatorSummary(iterator: resource) -> (summary: string) #stateful"
).not_differentiable()
set_stats_aggregator_dataset = define_dataset(
    "SetStatsAggregatorDataset(input_dataset: variant, stats_aggregator: resource, tag: string, counter_prefix: string) -> "
    f"(handle: variant) {{{_TYPES}}} #stateful"
)
_MEASURING = f"StatsDataset(input_dataset: variant, tag: string) -> (handle: variant) {{{_TYPES}}}"
latency_stats_dataset = define_dataset(f"Latency{_MEASURING}")
bytes_produced_stats_dataset = define_dataset(f"BytesProduced{_MEASURING}")


@stats_aggregator_handle.shape
def _() -> TensorShape:
    return TensorShape([])


@stats_aggregator_summary.shape
def _(aggregator: InputShape) -> TensorShape:
    return TensorShape([])


class Aggregator:
    """The numbers that were found since it was made, by tag."""

    def __init__(self) -> None:
        self._found: dict[str, array[float]] = defaultdict(lambda: array("d"))
        self._lock = threading.Lock()

    def add(self, tag: str, value: float) -> None:
        with self._lock:
            self._found[tag].append(value)

    def summary(self) -> Summary:
        """A histogram for each tag."""
        result = Summary()
        with self._lock:
            for tag, values in self._found.items():
                result.value.add(tag=tag).histo.CopyFrom(histogram_proto(np.array(values)))
        return result


Tell = Callable[[str, float], None]
Measure = Callable[[DatasetIterator], tuple[Element | None, float]]


class _Measuring(Chain):
    """An iterator that tells what it measured of each element."""

    def __init__(self, source: DatasetIterator, measure: Measure, tag: str, tell: Tell):
        super().__init__(source)
        self.blocks = False
        self._measure, self._tag, self._tell = measure, tag, tell

    def next(self) -> Element | None:
        element, found = self._measure(self.source)
        if element is not None:
            self._tell(self._tag, found)
        return element


class _Measured(Dataset):
    """A data set that is measured once somebody is `told`."""

    def __init__(self, source: Dataset, measure: Measure, tag: str, tell: Tell | None = None):
        self._source, self._measure, self._tag, self._tell = source, measure, tag, tell
        self.cardinality = source.cardinality

    def iterator(self) -> DatasetIterator:
        source = self._source.iterator()
        return source if self._tell is None else _Measuring(source, self._measure, self._tag, self._tell)

    def fresh(self) -> Dataset:
        return _Measured(self._source.fresh(), self._measure, self._tag, self._tell)

    def divided(self, shards: int, index: int) -> Dataset | None:
        source = self._source.divided(shards, index)
        return None if source is None else _Measured(source, self._measure, self._tag, self._tell)

    def told(self, tell: Tell) -> Dataset:
        return _Measured(self._source.told(tell), self._measure, self._tag, self._tell or tell)


def _latency(source: DatasetIterator) -> tuple[Element | None, float]:
    """Microseconds."""
    begun = time.perf_counter()
    element = source.next()
    return element, (time.perf_counter() - begun) * 1e6


def _size(source: DatasetIterator) -> tuple[Element | None, float]:
    """Bytes; a string counts as what it holds and a pointer."""
    element = source.next()
    return element, sum(_bytes(value) for value in element or ())


def _bytes(value: Any) -> int:
    data = np.asarray(value)
    return data.nbytes + (sum(map(len, data.ravel())) if data.dtype == object else 0)


@latency_stats_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, tag: Any) -> Dataset:
    return _Measured(dataset, _latency, tag[()].decode())


@bytes_produced_stats_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, tag: Any) -> Dataset:
    return _Measured(dataset, _size, tag[()].decode())


@set_stats_aggregator_dataset.kernel("CPU")
def _(ctx: Any, dataset: Dataset, aggregator: Aggregator, tag: Any, counter_prefix: Any) -> Dataset:
    prefix = tag[()].decode()
    told = dataset.told(lambda name, value: aggregator.add(f"{prefix}::{name}" if prefix else name, value))
    return FromRecipe(lambda source: source.iterator(), told, cardinality=dataset.cardinality)


@stats_aggregator_handle.kernel("CPU", handle=True)
def _(ctx: Any, *, container: str, shared_name: str) -> Aggregator:
    found: Aggregator = ctx.resource(container, shared_name or ctx.node_name, Aggregator, "stats_aggregator")
    return found


@stats_aggregator_summary.kernel("CPU")
def _(ctx: Any, aggregator: Aggregator) -> np.ndarray:
    return np.array(aggregator.summary().SerializeToString(), object)
