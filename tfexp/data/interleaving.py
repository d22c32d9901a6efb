"""Transformations that map with several calls at a time, in one node. Source: `tf.data.experimental`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.data.dataset import Dataset, of_datasets, traced
from tfexp.data.elements import batched
from tfexp.data.structure import map_leaves, spec_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.ops.dataset_interleave import legacy_parallel_interleave_dataset_v2
from tfexp.ops.dataset_map_and_batch import map_and_batch_dataset

Transformation = Callable[[Dataset], Dataset]


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
