"""`tensorflow.python.data.ops.multi_device_iterator_ops`: the elements of a data set, in turn for several devices.

Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.data.dataset import Dataset
from tfexp.data.devices import generated
from tfexp.data.eager_iterator import EagerIterator
from tfexp.data.iterator import Iterator, make_initializable_iterator
from tfexp.data.optional import Optional, get_next_as_optional
from tfexp.data.structure import Structured, spec_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import device as on_device
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.tensor import Tensor
from tfexp.ops.multi_device_iterator import (
    multi_device_iterator,
    multi_device_iterator_get_next_from_shard,
    multi_device_iterator_init,
)


class MultiDeviceIterator(Structured):
    """The first element of `dataset` for the first of `devices`, the second for the second, and so on.

    The data set runs on `source_device`, with up to `max_buffer_size` elements ready for each device there and
    `prefetch_buffer_size` on the device. In graphs, its `initializer` begins it.
    """

    def __init__(
        self,
        dataset: Dataset,
        devices: Sequence[str],
        max_buffer_size: Any = 1,
        prefetch_buffer_size: Any = 1,
        source_device: str = "/cpu:0",
    ):
        self._devices = list(devices)
        self._element = dataset._element
        spec = spec_of(dataset._element)
        with on_device(source_device):
            resource = multi_device_iterator(devices=self._devices, shared_name="", container="", **spec)
            ahead = convert_to_tensor(max_buffer_size, dtype=dtypes.int64, name="max_buffer_size")
            begun = multi_device_iterator_init(dataset._variant_tensor, resource, ahead)

        def shard(number: int, device: str) -> Dataset:
            def give(inputs: Sequence[Tensor]) -> list[Tensor]:
                return list(multi_device_iterator_get_next_from_shard(inputs[0], number, inputs[1], **spec))

            made = generated(dataset, device, [resource, begun], give)
            return made.prefetch(prefetch_buffer_size) if prefetch_buffer_size else made

        self._iterators: list[Iterator | EagerIterator] = []
        for number, device in enumerate(self._devices):
            with on_device(device):
                made = shard(number, device)
                self._iterators.append(iter(made) if executing_eagerly() else make_initializable_iterator(made))

    @property
    def initializer(self) -> Operation | None:
        """The operation that begins the data set; None in eager execution, where it has begun."""
        begun = [iterator.initializer for iterator in self._iterators if isinstance(iterator, Iterator)]
        return group(*begun) if begun else None

    def get_next(self, device: str | None = None) -> Any:
        """The next elements, one for each device; or that of `device`, ValueError for one that it has not."""
        if device is not None:
            return self._next(self._devices.index(device))
        return [self._next(number) for number in range(len(self._devices))]

    def _next(self, number: int) -> Any:
        with on_device(self._devices[number]):
            return self._iterators[number].get_next()

    def get_next_as_optional(self) -> list[Optional]:
        """The next elements as Optionals, one for each device: at the end, ones without a value."""
        found = []
        for device, iterator in zip(self._devices, self._iterators, strict=True):
            with on_device(device):
                found.append(get_next_as_optional(iterator))
        return found
