"""Resources without a name: iterators, and what data sets that run anew keep in common. Each run of such an op makes one.

Here a resource lasts as long as anything refers to it, so what deletes one has only an iterator's threads to end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops.dataset import COMMON, Dataset, define_dataset
from tfexp.ops.dataset_cache import Memory, cached
from tfexp.ops.dataset_shuffle import LastingStream, shuffled
from tfexp.ops.iterator import IteratorResource

_TYPES = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1"

anonymous_iterator = define_op(f"AnonymousIterator() -> (handle: resource) {{{_TYPES}}} #stateful")
anonymous_iterator_v2 = define_op(f"AnonymousIteratorV2() -> (handle: resource, deleter: variant) {{{_TYPES}}} #stateful")
anonymous_iterator_v3 = define_op(f"AnonymousIteratorV3() -> (handle: resource) {{{_TYPES}}} #stateful")
iterator_get_device = define_op("IteratorGetDevice(resource: resource) -> (device: string) #stateful")
anonymous_memory_cache = define_op("AnonymousMemoryCache() -> (handle: resource, deleter: variant) #stateful")
anonymous_random_seed_generator = define_op(
    "AnonymousRandomSeedGenerator(seed: int64, seed2: int64) -> (handle: resource, deleter: variant) #stateful"
)
cache_dataset_v2 = define_dataset(
    f"CacheDatasetV2(input_dataset: variant, filename: string, cache: resource) -> (handle: variant) {{{COMMON}}} #stateful"
)
shuffle_dataset_v2 = define_dataset(
    "ShuffleDatasetV2(input_dataset: variant, buffer_size: int64, seed_generator: resource) -> (handle: variant) "
    f"{{{COMMON}}} #stateful"
)


for _op in (anonymous_iterator, anonymous_iterator_v3, iterator_get_device):

    @_op.shape
    def _(*inputs: InputShape) -> TensorShape:
        return TensorShape([])


for _op in (anonymous_iterator_v2, anonymous_memory_cache, anonymous_random_seed_generator):

    @_op.shape
    def _(*inputs: InputShape) -> list[TensorShape]:
        return [TensorShape([]), TensorShape([])]


@anonymous_iterator.kernel("CPU")
@anonymous_iterator_v3.kernel("CPU")
def _(ctx: Any, *, output_types: list[Any], output_shapes: list[Any]) -> IteratorResource:
    return IteratorResource("anonymous", output_types, output_shapes)


@anonymous_iterator_v2.kernel("CPU")
def _(ctx: Any, *, output_types: list[Any], output_shapes: list[Any]) -> list[IteratorResource]:
    return [IteratorResource("anonymous", output_types, output_shapes)] * 2


@iterator_get_device.kernel("CPU")
def _(ctx: Any, resource: IteratorResource) -> Any:
    return np.array(ctx.device.encode(), object)


@anonymous_memory_cache.kernel("CPU")
def _(ctx: Any) -> list[Memory]:
    return [Memory()] * 2


@anonymous_random_seed_generator.kernel("CPU")
def _(ctx: Any, seed: Any, seed2: Any) -> list[LastingStream]:
    return [LastingStream.from_seeds(int(seed), int(seed2))] * 2


for _kind in ("Iterator", "MemoryCache", "RandomSeedGenerator"):
    _delete = define_op(f"Delete{_kind}(handle: resource, deleter: variant) -> () #stateful")

    @_delete.shape
    def _(handle: InputShape, deleter: InputShape) -> list[TensorShape]:
        return []

    @_delete.kernel("CPU")
    def _(ctx: Any, resource: Any, deleter: Any) -> list[Any]:
        if isinstance(resource, IteratorResource):
            resource.dispose()
        return []


@cache_dataset_v2.kernel("CPU")
def _(ctx: Any, dataset: Dataset, filename: Any, cache: Memory, *, output_types: list[Any]) -> Dataset:
    return cached(dataset, filename, len(output_types), cache)


@shuffle_dataset_v2.kernel("CPU")
def _(ctx: Any, dataset: Dataset, buffer_size: Any, seeds: LastingStream) -> Dataset:
    return shuffled(dataset, buffer_size, seeds, anew=True)
