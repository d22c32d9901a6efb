"""Transformations that `Dataset.apply` takes, and iterators that are saved. Source: `tf.data.experimental`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.data.dataset import Dataset, of_datasets, traced
from tfexp.data.functions import stateful_function
from tfexp.data.iterator import Iterator
from tfexp.data.seeds import seed_tensors
from tfexp.data.structure import as_tensor, batched, map_leaves, normalized, spec_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import colocate_with
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_files import ignore_errors_dataset
from tfexp.ops.dataset_interleave import legacy_parallel_interleave_dataset_v2
from tfexp.ops.dataset_map import scan_dataset
from tfexp.ops.dataset_map_and_batch import map_and_batch_dataset
from tfexp.ops.dataset_shuffle import shuffle_and_repeat_dataset
from tfexp.ops.iterator_state import deserialize_iterator, serialize_iterator
from tfexp.ops.saveable_object import SaveableObject, SaveSpec

Transformation = Callable[[Dataset], Dataset]

AUTOTUNE = -1
"""As a number of calls or as the size of a buffer: the data set chooses."""


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`scan_func(state, element)` gives the next state and what comes out. TypeError when the state changes its types."""

    def next_state(found: Any) -> Any:
        if not (isinstance(found, tuple) and len(found) == 2):
            raise TypeError("The scan function must return a pair comprising the new state and the output value.")
        return found[0]

    def apply(dataset: Dataset) -> Dataset:
        leaves, state = normalized(initial_state)
        function = stateful_function(scan_func, "Dataset.scan()", state, dataset._element, next_state=next_state)
        result = function.result[1]
        variant = scan_dataset(
            dataset._variant_tensor,
            [as_tensor(leaf) for leaf in leaves],
            function.captured,
            f=function.named,
            preserve_cardinality=True,
            **spec_of(result),
        )
        return Dataset(variant, result, dataset)

    return apply


def ignore_errors(log_warning: bool = False) -> Transformation:
    """The elements that can be computed; those that cannot are counted, and passed over."""
    return lambda dataset: Dataset(
        ignore_errors_dataset(dataset._variant_tensor, log_warning=log_warning, **dataset._flat_structure),
        dataset._element,
        dataset,
    )


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """Shuffled anew, and again, `count` times."""

    def apply(dataset: Dataset) -> Dataset:
        size = convert_to_tensor(buffer_size, dtype=dtypes.int64, name="buffer_size")
        times = convert_to_tensor(-1 if count is None else count, dtype=dtypes.int64, name="count")
        seeds = seed_tensors(seed)
        variant = shuffle_and_repeat_dataset(dataset._variant_tensor, size, *seeds, times, **dataset._flat_structure)
        return Dataset(variant, dataset._element, dataset)

    return apply


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """As `Dataset.interleave` with a thread for each data set that is open."""

    def apply(dataset: Dataset) -> Dataset:
        function = of_datasets(map_func, "tf.data.experimental.parallel_interleave()", dataset)
        element = function.result.inner
        numbers = {
            "cycle_length": cycle_length,
            "block_length": block_length,
            "buffer_output_elements": 2 * block_length if buffer_output_elements is None else buffer_output_elements,
            "prefetch_input_elements": 2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements,
        }
        variant = legacy_parallel_interleave_dataset_v2(
            dataset._variant_tensor,
            function.captured,
            *[convert_to_tensor(value, dtype=dtypes.int64, name=name) for name, value in numbers.items()],
            f=function.named,
            deterministic="false" if sloppy else "true",
            **spec_of(element),
        )
        return Dataset(variant, element, dataset)

    return apply


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """Mapped, then put into batches. ValueError when both numbers of parallel calls are given."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")
    if num_parallel_calls is None:
        num_parallel_calls = batch_size if num_parallel_batches is None else batch_size * num_parallel_batches

    def apply(dataset: Dataset) -> Dataset:
        function = traced(map_func, "tf.data.experimental.map_and_batch()", dataset._element)
        element = map_leaves(batched(batch_size, drop_remainder), function.result)
        variant = map_and_batch_dataset(
            dataset._variant_tensor,
            function.captured,
            convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size"),
            convert_to_tensor(num_parallel_calls, dtype=dtypes.int64, name="num_parallel_calls"),
            convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder"),
            f=function.named,
            preserve_cardinality=True,
            **spec_of(element),
        )
        return Dataset(variant, element, dataset)

    return apply


class IteratorSaveable(SaveableObject):
    """The position of the iterator `resource`, for a Saver that keeps it under `key`."""

    def __init__(self, resource: Tensor, key: str, name: str):
        serialized = serialize_iterator(resource)
        super().__init__(resource, [SaveSpec(serialized, "", key)], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with colocate_with(self.op):
            return deserialize_iterator(self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Iterator) -> SaveableObject:
    """The iterator's position as something that a Saver keeps: add it to `tf.GraphKeys.SAVEABLE_OBJECTS`, or give it to one.

    The iterator has to be initialized before it is restored; it goes on with the very next element then. The runner's
    resumed runs use it (E11).
    """
    resource = iterator._iterator_resource
    return IteratorSaveable(resource, f"{resource.name}-state", resource.op.name)
