"""Private data sets and transformations: pools of threads, sleep, names of files, rewriting, records. Source: TF 1.15.

`tensorflow.python.data.experimental.ops`: `threadpool`, `sleep`, `matching_files`, `optimization`, `readers`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.data.dataset import Dataset
from tfexp.data.files import shuffled_and_repeated
from tfexp.data.interleaving import map_and_batch
from tfexp.data.readers import TFRecordDataset
from tfexp.data.structure import Component
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_files import matching_files_dataset
from tfexp.ops.dataset_sleep import sleep_dataset

Transformation = Callable[[Dataset], Dataset]

_numbers = itertools.count()

# Files that are read at a time, and records that are shuffled, where a caller does not say so.
_READS, _SHUFFLED = 24, 10_000


def _through(dataset: Dataset, node: Callable[..., Tensor], *inputs: Any) -> Dataset:
    """The elements of `dataset` as a node with further `inputs` gives them."""
    return Dataset(node(dataset._variant_tensor, *inputs, **dataset._flat_structure), dataset._element, dataset)


class PrivateThreadPool:
    """A pool of threads, to be given to a data set by `override_threadpool`; results do not depend on it."""

    def __init__(self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1):
        self._resource = get_op("ThreadPoolHandle")(
            num_threads=num_threads,
            max_intra_op_parallelism=max_intra_op_parallelism,
            display_name="private_thread_pool" if display_name is None else display_name,
            shared_name=f"private_thread_pool_{next(_numbers)}",
        )


def override_threadpool(dataset: Dataset, thread_pool: PrivateThreadPool) -> Dataset:
    """`dataset`, whose functions run in the threads of `thread_pool`."""
    return _through(dataset, get_op("ThreadPoolDataset"), thread_pool._resource)


def sleep(sleep_microseconds: Any) -> Transformation:
    """The elements, each so much later."""
    return lambda dataset: _through(
        dataset, sleep_dataset, convert_to_tensor(sleep_microseconds, dtype=dtypes.int64, name="sleep_microseconds")
    )


def optimize(optimizations: Sequence[str] | None = None) -> Transformation:
    """The elements of the data set as rewritten by these passes; results do not depend on it."""
    return lambda dataset: _through(
        dataset,
        get_op("OptimizeDataset"),
        convert_to_tensor(list(optimizations or ()), dtype=dtypes.string, name="optimizations"),
    )


def non_serializable() -> Transformation:
    """The elements of the data set, which no pass rewrites."""
    return lambda dataset: _through(dataset, get_op("NonSerializableDataset"))


def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: Any,
    parser_fn: Callable[..., Any] | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int | None = None,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    num_parallel_parser_calls: Any = None,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the records in all files of a pattern, or of what `parser_fn` makes of each.

    All have `batch_size` records, but the last one, of several epochs, only without `drop_final_batch`.
    """
    names = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    records: Dataset = TFRecordDataset(
        names, num_parallel_reads=_READS if num_parallel_reads is None else num_parallel_reads
    )
    size = _SHUFFLED if shuffle_buffer_size is None else shuffle_buffer_size
    records = shuffled_and_repeated(records, num_epochs, shuffle, size, shuffle_seed)
    drop = drop_final_batch or num_epochs is None
    if parser_fn is None:
        batches = records.batch(batch_size, drop_remainder=drop)
    else:
        batches = records.apply(
            map_and_batch(parser_fn, batch_size, num_parallel_calls=num_parallel_parser_calls, drop_remainder=drop)
        )
    return batches.prefetch(prefetch_buffer_size)


class MatchingFilesDataset(Dataset):
    """The names of the files that match a pattern, or any of several."""

    def __init__(self, patterns: Any):
        names = matching_files_dataset(convert_to_tensor(patterns, dtype=dtypes.string, name="patterns"))
        super().__init__(names, Component(dtypes.string, TensorShape([])))
