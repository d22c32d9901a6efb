"""Iterators whose elements go to several devices in turn: the first to the first device, the second to the second, ...

Whoever asks for a device's next element takes those of the others before it along, which are kept for them.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError, OutOfRangeError
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset import Dataset, as_count
from tfexp.ops.dataset_prefetch import prefetched
from tfexp.ops.iterator import IteratorResource

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"

multi_device_iterator = define_op(
    "MultiDeviceIterator() -> (handle: resource) {devices: list(string) >= 1; shared_name: string; container: string; "
    f"{_TYPES}}} #stateful"
).not_differentiable()
multi_device_iterator_init = define_op(
    "MultiDeviceIteratorInit(dataset: variant, multi_device_iterator: resource, max_buffer_size: int64) -> "
    "(incarnation_id: int64) #stateful"
).not_differentiable()
multi_device_iterator_get_next_from_shard = define_op(
    "MultiDeviceIteratorGetNextFromShard(multi_device_iterator: resource, shard_num: int32, incarnation_id: int64) -> "
    f"(components: output_types) {{{_TYPES}}} #stateful"
).not_differentiable()


@multi_device_iterator.shape
def _() -> TensorShape:
    return TensorShape([])


@multi_device_iterator_init.shape
def _(*inputs: InputShape) -> TensorShape:
    return TensorShape([])


@multi_device_iterator_get_next_from_shard.shape
def _(*inputs: InputShape, output_shapes: list[TensorShape]) -> list[TensorShape]:
    return list(output_shapes)


class _Shards:
    """An iterator and what was taken from it for each of `count` devices. `incarnation`: how often it was begun."""

    def __init__(self, name: str, count: int, types: Sequence[Any], shapes: Sequence[TensorShape]):
        self._iterator = IteratorResource(name, types, shapes)
        self._lock = threading.Lock()
        self._count = count
        self._incarnation = 0
        self._begin()

    def _begin(self) -> None:
        self._waiting: list[deque[list[Any]]] = [deque() for _ in range(self._count)]
        self._turns = itertools.cycle(self._waiting)

    def initialize(self, dataset: Dataset, ahead: int) -> int:
        """Start from the beginning of `dataset`, of which up to `ahead` elements are ready for each device."""
        with self._lock:
            self._iterator.initialize(prefetched(dataset, ahead * self._count))
            self._begin()
            self._incarnation += 1
            return self._incarnation

    def next(self, ctx: Any, shard: int, incarnation: int) -> list[Any]:
        """The next element of a device; OutOfRangeError at the end, or where the iterator was begun anew."""
        with self._lock:
            if incarnation != self._incarnation:
                raise OutOfRangeError(None, None, f"The iterator was begun anew after {incarnation} of its beginnings")
            while not self._waiting[shard]:
                element = self._iterator.next(ctx)
                next(self._turns).append(element)
            return self._waiting[shard].popleft()

    def dispose(self) -> None:
        """Nobody uses it any more."""
        self._iterator.dispose()


@multi_device_iterator.kernel("CPU", handle=True)
def _(
    ctx: Any, *, devices: list[str], shared_name: str, container: str, output_types: list[Any], output_shapes: list[Any]
) -> _Shards:
    name = shared_name or ctx.node_name
    shards: _Shards = ctx.resource(
        container, name, lambda: _Shards(name, len(devices), output_types, output_shapes), "multi_device_iterator"
    )
    return shards


@multi_device_iterator_init.kernel("CPU")
def _(ctx: Any, dataset: Dataset, shards: _Shards, max_buffer_size: Any) -> np.int64:
    ahead = as_count(max_buffer_size)
    if ahead < 1:
        raise InvalidArgumentError(None, None, f"max_buffer_size must be positive, not {ahead}")
    return np.int64(shards.initialize(dataset, ahead))


@multi_device_iterator_get_next_from_shard.kernel("CPU")
def _(ctx: Any, shards: _Shards, shard_num: Any, incarnation_id: Any) -> list[Any]:
    return shards.next(ctx, int(shard_num), int(incarnation_id))
