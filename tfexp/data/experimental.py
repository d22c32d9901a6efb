"""`tf.data.experimental`: transformations that are given to `Dataset.apply`, and what goes with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.gone import missing_from
from tfexp.data.dataset import Dataset, check_predicate, normalized, spec_of, traced
from tfexp.data.iterator import Iterator
from tfexp.data.structure import flatten, pack_as
from tfexp.graph.scopes import colocate_with
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_files import ignore_errors_dataset
from tfexp.ops.dataset_map import scan_dataset, take_while_dataset
from tfexp.ops.iterator import dataset_to_single_element
from tfexp.ops.iterator_state import deserialize_iterator, serialize_iterator
from tfexp.ops.saveable_object import SaveableObject, SaveSpec

AUTOTUNE = -1

Transformation = Callable[[Dataset], Dataset]

__getattr__ = missing_from("tf.data.experimental")


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """`scan_func(state, element)` gives the next state and what comes out. TypeError when the state changes its types."""

    def apply(dataset: Dataset) -> Dataset:
        values, state = normalized(initial_state)
        function = traced(scan_func, "Dataset.scan()", (state, dataset._element), unpack=True)
        if not (isinstance(function.result, tuple) and len(function.result) == 2):
            raise TypeError("The scan function must return a pair comprising the new state and the output value.")
        new_state, result = function.result
        if [c.dtype for c in flatten(new_state)] != [c.dtype for c in flatten(state)]:
            raise TypeError(f"The element types for the new state must match the initial state: {state} and {new_state}")
        variant = scan_dataset(
            dataset._variant_tensor,
            values,
            function.captured,
            f=function.named,
            preserve_cardinality=True,
            **spec_of(result),
        )
        return Dataset(variant, result)

    return apply


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements up to the first for which `predicate` is false."""

    def apply(dataset: Dataset) -> Dataset:
        function = traced(predicate, "Dataset.take_while()", dataset._element)
        check_predicate(function)
        variant = take_while_dataset(dataset._variant_tensor, function.captured, predicate=function.named, **dataset._spec())
        return Dataset(variant, dataset._element)

    return apply


def ignore_errors(log_warning: bool = False) -> Transformation:
    """The elements that can be computed; those that cannot are counted, and passed over."""
    return lambda dataset: Dataset(
        ignore_errors_dataset(dataset._variant_tensor, log_warning=log_warning, **dataset._spec()),
        dataset._element,
    )


def unbatch() -> Transformation:
    """The slices of the elements along their first axis."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start: Any = 0) -> Transformation:
    """The elements with their numbers before them."""
    return lambda dataset: dataset.enumerate(start)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """Shuffled anew, and again, `count` times."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """Mapped, then put into batches."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: bool = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """As `Dataset.interleave` with a thread for each data set that is open."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length)


class _IteratorSaveable(SaveableObject):
    """The position of an iterator, for a Saver: `tf.data.experimental.make_saveable_from_iterator`."""

    def __init__(self, resource: Tensor):
        serialized = serialize_iterator(resource)
        super().__init__(resource, [SaveSpec(serialized, "", resource.op.name + "-state")], resource.op.name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with colocate_with(self.op):
            return deserialize_iterator(self.op, restored_tensors[0])


def make_saveable_from_iterator(iterator: Iterator) -> SaveableObject:
    """The iterator's position as something that a Saver keeps: add it to `tf.GraphKeys.SAVEABLE_OBJECTS`, or give it to one.

    The iterator has to be initialized before it is restored; it goes on with the very next element then.
    """
    return _IteratorSaveable(iterator._iterator_resource)


def get_single_element(dataset: Dataset) -> Any:
    """The one element of a data set as tensors; InvalidArgumentError, when it runs, for none or several."""
    values = dataset_to_single_element(dataset._variant_tensor, **dataset._spec())
    return pack_as(dataset._element, list(values))
