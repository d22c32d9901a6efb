"""Transformations that `Dataset.apply` takes, and what goes with iterators. Source: `tf.data.experimental`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, as_shape
from tfexp.data.dataset import Dataset, traced
from tfexp.data.elements import check_predicate
from tfexp.data.iterator import Iterator
from tfexp.data.iterator_saving import IteratorSaveable
from tfexp.data.mixing import scanned
from tfexp.data.seeds import seed_tensors
from tfexp.data.sparse import SPARSE
from tfexp.data.specs import component_structure, spec_structure
from tfexp.data.statistics import StatsAggregator, told
from tfexp.data.structure import Component, as_values, spec_of
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_files import ignore_errors_dataset
from tfexp.ops.dataset_map import take_while_dataset
from tfexp.ops.dataset_shuffle import shuffle_and_repeat_dataset
from tfexp.ops.dataset_sparse import dense_to_sparse_batch_dataset
from tfexp.ops.dataset_stats import bytes_produced_stats_dataset, latency_stats_dataset
from tfexp.ops.dataset_wrap import dataset_cardinality
from tfexp.ops.iterator import dataset_to_single_element
from tfexp.ops.saveable_object import SaveableObject

Transformation = Callable[[Dataset], Dataset]


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`scan_func(state, element)` gives the next state and what comes out. TypeError when the state changes its types."""
    return lambda dataset: scanned(dataset, initial_state, scan_func)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements up to the first for which `predicate` is false."""

    def apply(dataset: Dataset) -> Dataset:
        function = traced(predicate, "Dataset.take_while()", dataset._element)
        check_predicate(function, "must return")
        variant = take_while_dataset(
            dataset._variant_tensor, function.captured, predicate=function.named, **dataset._flat_structure
        )
        return Dataset(variant, dataset._element, dataset)

    return apply


def ignore_errors(log_warning: bool = False) -> Transformation:
    """The elements that can be computed; those that cannot are counted, and passed over."""
    return lambda dataset: Dataset(
        ignore_errors_dataset(dataset._variant_tensor, log_warning=log_warning, **dataset._flat_structure),
        dataset._element,
        dataset,
    )


def unbatch() -> Transformation:
    """The slices of the elements along their first axis."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: Any = 0) -> Transformation:
    """The elements with their numbers before them."""
    return lambda dataset: dataset.enumerate(start)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """Shuffled anew, and again, `count` times."""

    def apply(dataset: Dataset) -> Dataset:
        size = convert_to_tensor(buffer_size, dtype=dtypes.int64, name="buffer_size")
        times = convert_to_tensor(-1 if count is None else count, dtype=dtypes.int64, name="count")
        seeds = seed_tensors(seed)
        variant = shuffle_and_repeat_dataset(dataset._variant_tensor, size, *seeds, times, **dataset._flat_structure)
        return Dataset(variant, dataset._element, dataset)

    return apply


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Batches of elements of different shapes as SparseTensors.

    `row_shape`: the dense shape of an element; None stands for the largest size in the batch.

    TypeError for data sets of anything but single tensors.
    """

    def apply(dataset: Dataset) -> Dataset:
        component = dataset._element
        if not (isinstance(component, Component) and component.kind is None):
            raise TypeError(
                "`dense_to_sparse_batch()` requires an input dataset whose elements have a single component, not "
                f"{dataset.output_types}"
            )
        shape = as_shape(row_shape)
        dims = [-1 if size is None else size for size in shape.as_list()]
        element = Component(component.dtype, TensorShape([None]).concatenate(shape), None, SPARSE)
        variant = dense_to_sparse_batch_dataset(
            dataset._variant_tensor, batch_size, constant(dims, dtype=dtypes.int64), **spec_of(element)
        )
        return Dataset(variant, element, dataset)

    return apply


def cardinality(dataset: Dataset) -> Tensor:
    """How many elements there are: an int64, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
    count: Tensor = dataset_cardinality(dataset._variant_tensor)
    return count


def get_structure(dataset_or_iterator: Any) -> Any:
    """The structure of the elements, a TypeSpec for each part. TypeError for what has none."""
    if not isinstance(dataset_or_iterator, (Dataset, Iterator)):
        raise TypeError(f"`dataset_or_iterator` must be a Dataset or Iterator object, but got {type(dataset_or_iterator)}.")
    return spec_structure(dataset_or_iterator._element)


def to_variant(dataset: Dataset) -> Tensor:
    """The data set as a tensor."""
    return dataset._variant_tensor


def from_variant(variant: Tensor, structure: Any) -> Dataset:
    """The data set of a tensor that `to_variant` gave."""
    dataset = Dataset(variant, component_structure(structure))
    dataset._keeps = True
    return dataset


def make_saveable_from_iterator(iterator: Iterator) -> SaveableObject:
    """The iterator's position as something that a Saver keeps: add it to `tf.GraphKeys.SAVEABLE_OBJECTS`, or give it to one.

    The iterator has to be initialized before it is restored; it goes on with the very next element then.
    """
    return iterator_saveable(iterator._iterator_resource)


def iterator_saveable(resource: Tensor) -> SaveableObject:
    """The same of the iterator's resource, as `tf.GraphKeys.GLOBAL_ITERATORS` has it."""
    return IteratorSaveable(resource, f"{resource.name}-state", resource.op.name)


def latency_stats(tag: Any) -> Transformation:
    """The elements; how many microseconds each took is told to the `StatsAggregator` of the options, under `tag`."""
    return lambda dataset: _measured(dataset, latency_stats_dataset, tag)


def bytes_produced_stats(tag: Any) -> Transformation:
    """The elements; how many bytes each has is told to the `StatsAggregator` of the options, under `tag`."""
    return lambda dataset: _measured(dataset, bytes_produced_stats_dataset, tag)


def _measured(dataset: Dataset, node: Callable[..., Tensor], tag: Any) -> Dataset:
    name = convert_to_tensor(tag, dtype=dtypes.string, name="tag")
    return Dataset(node(dataset._variant_tensor, name, **dataset._flat_structure), dataset._element, dataset)


def set_stats_aggregator(stats_aggregator: StatsAggregator, prefix: str = "", counter_prefix: str = "") -> Transformation:
    """The elements; `stats_aggregator` is told what is measured before."""
    return lambda dataset: Dataset(told(dataset, stats_aggregator, prefix, counter_prefix), dataset._element, dataset)


def get_single_element(dataset: Dataset) -> Any:
    """The one element of a data set as tensors; InvalidArgumentError, when it runs, for none or several. TypeError."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a `tf.data.Dataset` object. Got {type(dataset)}.")
    values = dataset_to_single_element(dataset._variant_tensor, **dataset._flat_structure)
    return as_values(values, dataset._element)
