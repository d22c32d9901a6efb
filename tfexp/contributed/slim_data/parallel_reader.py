"""`tf.contrib.slim.parallel_reader`: several readers that fill one queue."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfexp.core import dtypes as types
from tfexp.formats.file_io import glob_files
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import add_n
from tfexp.ops.queue import FIFOQueue, QueueBase, RandomShuffleQueue
from tfexp.ops.readers import ReaderBase
from tfexp.ops.summary import scalar
from tfexp.train.input import string_input_producer
from tfexp.train.queue_runner import QueueRunner, add_queue_runner


class ParallelReader(ReaderBase):
    """Readers of files whose records go into one queue, of (key, value) pairs, each by a thread of its own.

    `reader_class(**reader_kwargs)` makes one of the `num_readers`.
    """

    def __init__(
        self,
        reader_class: Callable[..., ReaderBase],
        common_queue: QueueBase,
        num_readers: int = 4,
        reader_kwargs: Mapping[str, Any] | None = None,
    ):
        if len(common_queue.dtypes) != 2:
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        for dtype in common_queue.dtypes:
            if not dtype.is_compatible_with(types.string):
                raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        return len(self._readers)

    @property
    def common_queue(self) -> QueueBase:
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """(key, value) of the next record of the files in `queue`, as the common queue has it."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """(keys, values) of at most `num_records` records."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name=name)

    def _configure_readers_by(self, queue: Any) -> None:
        enqueues = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        add_queue_runner(QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records the readers have read."""
        return add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files the readers have read to their ends."""
        return add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(
    data_sources: Any,
    reader_class: Callable[..., ReaderBase],
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: Mapping[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Sequence[Any] | None = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """(key, value) of one record after another of the files, by several readers, shuffled unless told otherwise.

    `num_epochs` None: without end. `data_sources` are those of `get_data_files`.
    """
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        kinds = dtypes or [types.string, types.string]
        queue: QueueBase
        if shuffle:
            queue = RandomShuffleQueue(capacity, min_after_dequeue, dtypes=kinds, seed=seed, name="common_queue")
        else:
            queue = FIFOQueue(capacity, dtypes=kinds, name="common_queue")
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), types.float32) * (1.0 / capacity))
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


def single_pass_read(
    data_sources: Any,
    reader_class: Callable[..., ReaderBase],
    reader_kwargs: Mapping[str, Any] | None = None,
    scope: str | None = None,
) -> Any:
    """(key, value) of one record after another of the files, each once, in their order."""
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


def get_data_files(data_sources: Any) -> list[str]:
    """The files of a name, a pattern or a list of such. ValueError where there are none."""
    if isinstance(data_sources, list | tuple):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif re.search(r"[*?[]", data_sources):
        files = glob_files(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files
