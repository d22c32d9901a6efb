"""`tf.data.Dataset`: a chain of dataset nodes in the graph, and what is known of the elements. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.data.functions import DatasetFunction, stateful_function
from tfexp.data.generator import generator_variant
from tfexp.data.iterator import EagerIterator, Iterator, make_initializable_iterator, make_one_shot_iterator
from tfexp.data.options import Options, merged
from tfexp.data.padding import padded_shape, padding_value
from tfexp.data.seeds import seed_tensors
from tfexp.data.sparse import SPARSE
from tfexp.data.structure import (
    KINDS,
    Component,
    Kind,
    Structured,
    as_tensor,
    as_values,
    batched,
    components_of,
    flatten,
    flatten_up_to,
    map_leaves,
    normalized,
    pack_as,
    slices_tensor,
    spec_of,
    text_of,
)
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import colocate_with, control_dependencies, executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import dataset as sources
from tfexp.ops import dataset_batch as batches
from tfexp.ops import dataset_choose as choices
from tfexp.ops import dataset_interleave as interleaving
from tfexp.ops import dataset_map as maps
from tfexp.ops import dataset_windows as windows
from tfexp.ops.array import shape as array_shape
from tfexp.ops.array_identity import identity
from tfexp.ops.check import Assert
from tfexp.ops.comparison import greater
from tfexp.ops.dataset_cache import cache_dataset
from tfexp.ops.dataset_options import options_dataset
from tfexp.ops.dataset_prefetch import prefetch_dataset
from tfexp.ops.dataset_reduce import reduce_dataset
from tfexp.ops.dataset_shuffle import shuffle_dataset
from tfexp.ops.elementwise_binary import add, maximum
from tfexp.ops.files import matching_files
from tfexp.ops.string_join import reduce_join

_PARALLEL_LENGTH = -1  # AUTOTUNE


class Dataset(Structured):
    """A sequence of elements, each a structure of tensors. `tf.data.Dataset`.

    `variant` is the node's output, `element` a structure of `Component`s; options come from the `inputs`.
    """

    def __init__(self, variant: Tensor, element: Any, *inputs: Dataset):
        self._variant_tensor = variant
        self._element = element
        self._options: Options = inputs[0]._options if len(inputs) == 1 else merged(data._options for data in inputs)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} shapes: {text_of(self.output_shapes)}, types: {text_of(self.output_types)}>"

    __str__ = __repr__

    def _made(self, variant: Tensor, element: Any = None) -> Dataset:
        return Dataset(variant, self._element if element is None else element, self)

    # --- from nothing --------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element: `tensors` as a whole."""
        leaves, element = normalized(tensors)
        shapes = [c.node_shape for c in flatten(element)]
        return Dataset(sources.tensor_dataset([as_tensor(leaf) for leaf in leaves], output_shapes=shapes), element)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The slices of `tensors` along their first axis; ValueError where the lengths differ or there is none."""
        leaves, element = normalized(tensors)
        if not leaves:
            raise ValueError("from_tensor_slices wants at least one tensor, got none")
        for leaf in leaves:
            if leaf.shape.rank == 0:
                raise ValueError(f"Value {leaf} has insufficient rank for batching.")
        length = leaves[0].shape[0]
        for leaf in leaves[1:]:
            length.assert_is_compatible_with(leaf.shape[0])
        element = map_leaves(lambda c: c.slice(), element)
        values = [slices_tensor(leaf) for leaf in leaves]
        return Dataset(sources.tensor_slice_dataset(values, output_shapes=[c.node_shape for c in flatten(element)]), element)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """As Python's `range`, in int64. ValueError for no or more than three arguments."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}. One to three integers are needed.")
        numbers = slice(*args)
        start = _int64(0 if numbers.start is None else numbers.start, "start")
        stop = _int64(numbers.stop, "stop")
        step = _int64(1 if numbers.step is None else numbers.step, "step")
        element = Component(dtypes.int64, TensorShape([]))
        return Dataset(sources.range_dataset(start, stop, step, **spec_of(element)), element)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any], output_types: Any, output_shapes: Any = None, args: Any = None
    ) -> Dataset:
        """What the iterator `generator(*args)` yields (`args` as NumPy arrays), anew in each run through the data set.

        `output_types`, `output_shapes`: structures of what each element is. TypeError for what is not callable;
        InvalidArgumentError, when it runs, for an element that is something else.
        """
        if not callable(generator):
            raise TypeError("`generator` must be callable.")
        if args is not None and not isinstance(args, (list, tuple)):
            raise TypeError("values must be a sequence.")
        tensors = [convert_to_tensor(value, name=f"args_{i}") for i, value in enumerate(args or ())]
        element = components_of(output_types, output_shapes)

        def flat_map_fn(unused_dummy: Tensor) -> Dataset:
            return Dataset(generator_variant(generator, output_types, element, tensors), element)

        return Dataset.from_tensors(0).flat_map(flat_map_fn)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: Any = None) -> Dataset:
        """The names of the files of a pattern, or of several; shuffled anew in each run unless `shuffle` is False.

        InvalidArgumentError, when it runs, where no file matches.
        """
        with name_scope("list_files"):
            pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
            found = matching_files(pattern)
            there = greater(array_shape(found)[0], 0, name="match_not_empty")
            message = add("No files matched pattern: ", reduce_join(pattern, separator=", "), name="message")
            with control_dependencies([Assert(there, [message], summarize=1, name="assert_not_empty")]):
                found = identity(found)
            names = Dataset.from_tensor_slices(found)
            if shuffle is False:
                return names
            return names.shuffle(maximum(array_shape(found, out_type=dtypes.int64)[0], np.int64(1)), seed=seed)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements in step: a structure of data sets becomes a data set of that structure; the shortest one ends it."""
        for dataset in flatten(datasets):
            if isinstance(dataset, list):
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. Nested structures do "
                    "not support Python lists; please use a tuple instead."
                )
            if not isinstance(dataset, Dataset):
                raise TypeError(
                    "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects. It has "
                    f"an object of type {type(dataset)}."
                )
        element = map_leaves(lambda d: d._element, datasets)
        variants = [dataset._variant_tensor for dataset in flatten(datasets)]
        return Dataset(choices.zip_dataset(variants, **spec_of(element)), element, *flatten(datasets))

    # --- choosing ------------------------------------------------------------------------------------------------

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this data set, then those of the other; TypeError when the two differ in structure or types."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`dataset` must be a Dataset object, but got {type(dataset)}.")
        try:
            element = map_leaves(lambda a, b: a.most_specific(b), self._element, dataset._element)
        except (TypeError, ValueError) as error:
            what = "classes" if self.output_types == dataset.output_types else "types"
            one, other = (getattr(data, f"output_{what}") for data in (self, dataset))
            raise TypeError(f"Two datasets to concatenate have different {what} {one} and {other}: {error}") from None
        variants = self._variant_tensor, dataset._variant_tensor
        return Dataset(choices.concatenate_dataset(*variants, **spec_of(element)), element, self, dataset)

    def repeat(self, count: Any = None) -> Dataset:
        """The elements `count` times; None or -1: for ever."""
        times = _int64(-1 if count is None else count, "count")
        return self._made(choices.repeat_dataset(self._variant_tensor, times, **self._flat_structure))

    def take(self, count: Any) -> Dataset:
        """The first `count` elements; -1: all."""
        return self._made(choices.take_dataset(self._variant_tensor, _int64(count, "count"), **self._flat_structure))

    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements; -1: none."""
        return self._made(choices.skip_dataset(self._variant_tensor, _int64(count, "count"), **self._flat_structure))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every `num_shards`-th element, beginning with number `index`."""
        shards, number = _int64(num_shards, "num_shards"), _int64(index, "index")
        return self._made(choices.shard_dataset(self._variant_tensor, shards, number, **self._flat_structure))

    def shuffle(self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None) -> Dataset:
        """Elements drawn at random from a buffer of that size, in TensorFlow's order for TensorFlow's seeds."""
        size = _int64(buffer_size, "buffer_size")
        first, second = seed_tensors(seed)
        variant = shuffle_dataset(
            self._variant_tensor,
            size,
            first,
            second,
            reshuffle_each_iteration=True if reshuffle_each_iteration is None else reshuffle_each_iteration,
            **self._flat_structure,
        )
        return self._made(variant)

    def cache(self, filename: Any = "") -> Dataset:
        """The elements, kept in memory from their first run on."""
        name = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
        return self._made(cache_dataset(self._variant_tensor, name, **self._flat_structure))

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The elements, of which a thread has up to `buffer_size` ready."""
        size = _int64(-1 if buffer_size is None else buffer_size, "buffer_size")
        with colocate_with(self._variant_tensor._op):
            legacy = buffer_size is None or (isinstance(buffer_size, int) and buffer_size == -1)
            return self._made(prefetch_dataset(self._variant_tensor, size, legacy_autotune=legacy, **self._flat_structure))

    # --- several at once -----------------------------------------------------------------------------------------

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """`batch_size` elements stacked along a new first axis; the last batch may be smaller, or be dropped."""
        size = _int64(batch_size, "batch_size")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        element = map_leaves(batched(batch_size, drop_remainder), self._element)
        return self._made(batches.batch_dataset_v2(self._variant_tensor, size, drop, **spec_of(element)), element)

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any, padding_values: Any = None, drop_remainder: Any = False
    ) -> Dataset:
        """Batches of elements that are filled up to `padded_shapes` (None or -1: the longest in the batch) first."""
        for component in flatten(self._element):
            if component.kind is not None:
                raise TypeError(f"Batching of padded {component.kind.name} tensors is not currently supported")
        size = _int64(batch_size, "batch_size")
        shapes = [padded_shape(s, c) for s, c in self._beside(padded_shapes)]
        given = map_leaves(lambda c: None, self._element) if padding_values is None else padding_values
        paddings = [padding_value(value, c) for value, c in self._beside(given)]
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        wanted = [TensorShape([None if d < 0 else d for d in np.asarray(known)]) for _, known in shapes]
        padded = [Component(c.dtype, s) for c, s in zip(flatten(self._element), wanted, strict=True)]
        element = map_leaves(batched(batch_size, drop_remainder), pack_as(self._element, padded))
        variant = batches.padded_batch_dataset_v2(
            self._variant_tensor,
            size,
            [tensor for tensor, _ in shapes],
            paddings,
            drop,
            output_shapes=spec_of(element)["output_shapes"],
        )
        return self._made(variant, element)

    def _beside(self, structure: Any) -> list[tuple[Any, Component]]:
        """The parts of `structure` that go with the components."""
        return list(zip(flatten_up_to(self._element, structure), flatten(self._element), strict=True))

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False) -> Dataset:
        """Data sets of `size` elements each, `stride` apart, that begin `shift` elements after each other."""
        numbers = _int64(size, "size"), _int64(size if shift is None else shift, "shift"), _int64(stride, "stride")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        element = map_leaves(lambda c: Component(dtypes.variant, TensorShape([]), c, DATASET), self._element)
        return self._made(windows.window_dataset(self._variant_tensor, *numbers, drop, **spec_of(element)), element)

    # --- functions -----------------------------------------------------------------------------------------------

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """`map_func` of each element; a tuple's components are its arguments."""
        if num_parallel_calls is None:
            return mapped(self, map_func)
        function = traced(map_func, "Dataset.map()", self._element)
        attrs = {**spec_of(function.result), "f": function.named}
        calls = _int64(num_parallel_calls, "num_parallel_calls")
        variant = maps.parallel_map_dataset_v2(self._variant_tensor, function.captured, calls, **attrs)
        return self._made(variant, function.result)

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the data sets that `map_func` makes, one data set after another."""
        function = of_datasets(map_func, "Dataset.flat_map()", self)
        element = function.result.inner
        attrs = {**spec_of(element), "f": function.named}
        return self._made(interleaving.flat_map_dataset(self._variant_tensor, function.captured, **attrs), element)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = _PARALLEL_LENGTH,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:
        """The elements of the data sets that `map_func` makes, `block_length` of each of `cycle_length` in turn."""
        function = of_datasets(map_func, "Dataset.interleave()", self)
        element = function.result.inner
        attrs = {**spec_of(element), "f": function.named}
        lengths = [_int64(cycle_length, "cycle_length"), _int64(block_length, "block_length")]
        if num_parallel_calls is None:
            return self._made(
                interleaving.interleave_dataset(self._variant_tensor, function.captured, *lengths, **attrs), element
            )
        ahead = _int64(-1, "buffer_output_elements"), _int64(-1, "prefetch_input_elements")
        calls = _int64(num_parallel_calls, "num_parallel_calls")
        variant = interleaving.parallel_interleave_dataset_v4(
            self._variant_tensor, function.captured, *lengths, *ahead, calls, **attrs
        )
        return self._made(variant, element)

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which `predicate` is true."""
        function = traced(predicate, "Dataset.filter()", self._element)
        result = function.result
        if not (isinstance(result, Component) and result.dtype is dtypes.bool and result.shape.is_compatible_with([])):
            what = text_of(map_leaves(lambda c: c.dtype, result))
            raise ValueError(f"`predicate` return type must be convertible to a scalar boolean tensor. Was {what}.")
        variant = maps.filter_dataset(
            self._variant_tensor, function.captured, predicate=function.named, **self._flat_structure
        )
        return self._made(variant)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """`reduce_func(state, element)` from `initial_state` through all elements: the last state, as tensors."""
        with name_scope("initial_state"):
            leaves, state = normalized(initial_state)
        values = [as_tensor(leaf) for leaf in leaves]
        function = stateful_function(reduce_func, "reduce()", state, self._element)
        results = reduce_dataset(
            self._variant_tensor, values, function.captured, f=function.named, **spec_of(function.result)
        )
        return as_values(results, function.result)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """`transformation_func` of this data set; TypeError when that is no data set."""
        result = transformation_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {result}.")
        return result

    def with_options(self, options: Options) -> Dataset:
        """This data set, whose parallel maps run as `options` say. ValueError where other options were set before."""
        if not isinstance(options, Options):
            raise TypeError(f"Incompatible options type: {type(options)} vs {Options}")
        with colocate_with(self._variant_tensor._op):
            made = self._made(
                options_dataset(self._variant_tensor, serialized_options=options.serialized(), **self._flat_structure)
            )
        made._options = self._options.merge(options)
        return made

    def options(self) -> Options:
        """The options of this data set and of those that it is made of."""
        return self._options

    # --- iterators -----------------------------------------------------------------------------------------------

    def __iter__(self) -> EagerIterator:
        """The elements' values, in eager execution; RuntimeError otherwise."""
        if not executing_eagerly():
            raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")
        return EagerIterator(self)

    def make_one_shot_iterator(self) -> Iterator | EagerIterator:
        """An iterator that goes through the data set once."""
        return make_one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Iterator:
        """An iterator that begins whenever its `initializer` runs."""
        return make_initializable_iterator(self, shared_name)


def mapped(dataset: Dataset, function: Callable[..., Any], *, keeps: bool = False, inter_op: bool = True) -> Dataset:
    """`Dataset.map`; `keeps`, `inter_op`: what the node says of how many elements there are, and of threads."""
    call = traced(function, "Dataset.map()", dataset._element)
    attrs = {"preserve_cardinality": keeps, "use_inter_op_parallelism": inter_op, **spec_of(call.result)}
    variant = maps.map_dataset(dataset._variant_tensor, call.captured, f=call.named, **attrs)
    return Dataset(variant, call.result, dataset)


def of_datasets(map_func: Callable[..., Any], name: str, dataset: Dataset) -> DatasetFunction:
    """`map_func` of the elements of `dataset` as a graph function; TypeError unless it makes data sets."""
    function = traced(map_func, name, dataset._element)
    if not (isinstance(function.result, Component) and function.result.kind is DATASET):
        types = text_of(map_leaves(lambda c: c.dtype, function.result))
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {types}")
    return function


def traced(function: Callable[..., Any], transformation: str, element: Any, unpack: bool = False) -> DatasetFunction:
    """`function` of elements of that structure as a graph function; see `DatasetFunction`."""
    return DatasetFunction(function, transformation, element, unpack)


class _DatasetKind(Kind):
    name = "dataset"
    value_class = Dataset
    node_shape = TensorShape([])

    def belongs(self, value: Any) -> bool:
        return isinstance(value, Dataset)

    def component(self, value: Dataset) -> Component:
        return Component(dtypes.variant, TensorShape([]), value._element, DATASET)

    def to_tensor(self, value: Dataset) -> Tensor:
        return value._variant_tensor

    def from_tensor(self, tensor: Tensor, component: Component) -> Dataset:
        return Dataset(tensor, component.inner)


DATASET = _DatasetKind()
KINDS.extend([SPARSE, DATASET])


# --- pieces ------------------------------------------------------------------------------------------------------------


def _int64(value: Any, name: str) -> Tensor:
    return convert_to_tensor(value, dtype=dtypes.int64, name=name)
