"""`tf.data.Dataset`: a chain of dataset nodes in the graph, and what is known of the elements. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, as_shape
from tfexp.data.eager_iterator import EagerIterator
from tfexp.data.functions import DatasetFunction
from tfexp.data.iterator import Iterator, make_initializable_iterator, make_one_shot_iterator
from tfexp.data.structure import Component, flatten, flatten_up_to, map_leaves, pack_as
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import colocate_with, executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import dataset as sources
from tfexp.ops import dataset_batch as batches
from tfexp.ops import dataset_choose as choices
from tfexp.ops import dataset_interleave as interleaving
from tfexp.ops import dataset_map as maps
from tfexp.ops.array_mask import where_v2
from tfexp.ops.comparison import equal
from tfexp.ops.dataset_prefetch import cache_dataset, prefetch_dataset
from tfexp.ops.dataset_reduce import reduce_dataset
from tfexp.ops.dataset_shuffle import shuffle_dataset
from tfexp.ops.logical import logical_and

_PARALLEL_LENGTH = -1  # AUTOTUNE


class Options:
    """How a data set may be run: attributes are taken and kept; nothing here depends on them. `tf.data.Options`."""

    def __init__(self) -> None:
        self.__dict__["experimental_optimization"] = type("OptimizationOptions", (), {})()
        self.__dict__["experimental_threading"] = type("ThreadingOptions", (), {})()


class Dataset:
    """A sequence of elements, each a structure of tensors. `tf.data.Dataset`.

    `variant` is the node's output, `element` a structure of `Component`s.
    """

    def __init__(self, variant: Tensor, element: Any):
        self._variant_tensor = variant
        self._element = element

    def __repr__(self) -> str:
        return f"<{type(self).__name__} shapes: {_text(self.output_shapes)}, types: {_text(self.output_types)}>"

    __str__ = __repr__

    @property
    def output_types(self) -> Any:
        """The dtype of each component."""
        return map_leaves(lambda c: c.dtype, self._element)

    @property
    def output_shapes(self) -> Any:
        """The shape of each component."""
        return map_leaves(lambda c: c.shape, self._element)

    @property
    def output_classes(self) -> Any:
        """`tf.Tensor`, or the data set class of nested data sets, for each component."""
        return map_leaves(lambda c: c.value_class, self._element)

    def _spec(self) -> dict[str, Any]:
        """What every dataset node says of its elements."""
        return spec_of(self._element)

    def _made(self, variant: Tensor, element: Any = None) -> Dataset:
        return Dataset(variant, self._element if element is None else element)

    # --- from nothing --------------------------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element: `tensors` as a whole."""
        values, element = normalized(tensors)
        return Dataset(sources.tensor_dataset(values, output_shapes=[c.shape for c in flatten(element)]), element)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The slices of `tensors` along their first axis; ValueError where the lengths differ or there is none."""
        values, element = normalized(tensors)
        for value in values:
            if value.shape.rank == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        length = values[0].shape[0]
        for value in values[1:]:
            length.assert_is_compatible_with(value.shape[0])
        element = map_leaves(lambda c: Component(c.dtype, c.shape[1:]), element)
        return Dataset(sources.tensor_slice_dataset(values, output_shapes=[c.shape for c in flatten(element)]), element)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """As Python's `range`, in int64. ValueError for no or more than three arguments."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`: `args` must be a list of one to three integers, not {args}")
        numbers = slice(*args)
        start = _int64(0 if numbers.start is None else numbers.start, "start")
        stop = _int64(numbers.stop, "stop")
        step = _int64(1 if numbers.step is None else numbers.step, "step")
        element = Component(dtypes.int64, TensorShape([]))
        return Dataset(sources.range_dataset(start, stop, step, **spec_of(element)), element)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements in step: a structure of data sets becomes a data set of that structure; the shortest one ends it."""
        for dataset in flatten(datasets):
            if isinstance(dataset, list):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. "
                    "Python `list` is not supported and you should use `tuple` instead."
                )
            if not isinstance(dataset, Dataset):
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. "
                    f"Encountered object of type {type(dataset)}."
                )
        element = map_leaves(lambda d: d._element, datasets)
        variants = [dataset._variant_tensor for dataset in flatten(datasets)]
        return Dataset(choices.zip_dataset(variants, **spec_of(element)), element)

    # --- choosing ------------------------------------------------------------------------------------------------

    def concatenate(self, dataset: Dataset) -> Dataset:
        """The elements of this data set, then those of the other; TypeError when the two differ in structure or types."""
        try:
            element = map_leaves(_both, self._element, dataset._element)
        except (TypeError, ValueError) as error:
            raise TypeError(f"Incompatible dataset elements:\n  {self!r} vs.   {dataset!r}: {error}") from None
        variants = self._variant_tensor, dataset._variant_tensor
        return self._made(choices.concatenate_dataset(*variants, **spec_of(element)), element)

    def repeat(self, count: Any = None) -> Dataset:
        """The elements `count` times; None or -1: for ever."""
        times = _int64(-1 if count is None else count, "count")
        return self._made(choices.repeat_dataset(self._variant_tensor, times, **self._spec()))

    def take(self, count: Any) -> Dataset:
        """The first `count` elements; -1: all."""
        return self._made(choices.take_dataset(self._variant_tensor, _int64(count, "count"), **self._spec()))

    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements; -1: none."""
        return self._made(choices.skip_dataset(self._variant_tensor, _int64(count, "count"), **self._spec()))

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every `num_shards`-th element, beginning with number `index`."""
        shards, number = _int64(num_shards, "num_shards"), _int64(index, "index")
        return self._made(choices.shard_dataset(self._variant_tensor, shards, number, **self._spec()))

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
            **self._spec(),
        )
        return self._made(variant)

    def cache(self, filename: Any = "") -> Dataset:
        """The elements, kept in memory from their first run on."""
        name = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
        return self._made(cache_dataset(self._variant_tensor, name, **self._spec()))

    def prefetch(self, buffer_size: Any) -> Dataset:
        """The elements, of which a thread has up to `buffer_size` ready."""
        size = _int64(-1 if buffer_size is None else buffer_size, "buffer_size")
        with colocate_with(self._variant_tensor.op):
            return self._made(prefetch_dataset(self._variant_tensor, size, legacy_autotune=False, **self._spec()))

    # --- several at once -----------------------------------------------------------------------------------------

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """`batch_size` elements stacked along a new first axis; the last batch may be smaller, or be dropped."""
        size = _int64(batch_size, "batch_size")
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        element = map_leaves(_batched(batch_size, drop_remainder), self._element)
        return self._made(batches.batch_dataset_v2(self._variant_tensor, size, drop, **spec_of(element)), element)

    def padded_batch(
        self, batch_size: Any, padded_shapes: Any, padding_values: Any = None, drop_remainder: Any = False
    ) -> Dataset:
        """Batches of elements that are filled up to `padded_shapes` (None or -1: the longest in the batch) first."""
        size = _int64(batch_size, "batch_size")
        shapes = [_partial_shape(s, c) for s, c in self._beside(padded_shapes)]
        given = map_leaves(lambda c: None, self._element) if padding_values is None else padding_values
        paddings = [_padding(value, c) for value, c in self._beside(given)]
        drop = convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        wanted = [TensorShape([None if d < 0 else d for d in np.asarray(known)]) for _, known in shapes]
        padded = [Component(c.dtype, s) for c, s in zip(flatten(self._element), wanted, strict=True)]
        element = map_leaves(_batched(batch_size, drop_remainder), pack_as(self._element, padded))
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
        element = map_leaves(lambda c: Component(dtypes.variant, TensorShape([]), c), self._element)
        return self._made(batches.window_dataset(self._variant_tensor, *numbers, drop, **spec_of(element)), element)

    def unbatch(self) -> Dataset:
        """The slices of the elements along their first axis."""
        normalized = self.map(normalize)
        element = map_leaves(lambda c: Component(c.dtype, c.shape[1:]), self._element)
        return self._made(batches.unbatch_dataset(normalized._variant_tensor, **spec_of(element)), element)

    # --- functions -----------------------------------------------------------------------------------------------

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """`map_func` of each element; a tuple's components are its arguments."""
        function = traced(map_func, "Dataset.map()", self._element)
        attrs = {**spec_of(function.result), "f": function.named}
        if num_parallel_calls is None:
            return self._made(maps.map_dataset(self._variant_tensor, function.captured, **attrs), function.result)
        calls = _int64(num_parallel_calls, "num_parallel_calls")
        variant = maps.parallel_map_dataset_v2(self._variant_tensor, function.captured, calls, **attrs)
        return self._made(variant, function.result)

    map_with_legacy_function = map

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the data sets that `map_func` makes, one data set after another."""
        function = self._of_datasets(map_func, "Dataset.flat_map()")
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
        function = self._of_datasets(map_func, "Dataset.interleave()")
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

    def _of_datasets(self, map_func: Callable[..., Any], name: str) -> DatasetFunction:
        function = traced(map_func, name, self._element)
        if not (isinstance(function.result, Component) and function.result.inner is not None):
            raise TypeError(f"`map_func` must return a `Dataset` object. Got {_text(function.result)}")
        return function

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which `predicate` is true."""
        function = traced(predicate, "Dataset.filter()", self._element)
        check_predicate(function)
        variant = maps.filter_dataset(self._variant_tensor, function.captured, predicate=function.named, **self._spec())
        return self._made(variant)

    filter_with_legacy_function = filter

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """`reduce_func(state, element)` from `initial_state` through all elements: the last state, as tensors."""
        with name_scope("initial_state"):
            values, state = normalized(initial_state)
        function = traced(reduce_func, "reduce()", (state, self._element), unpack=True)
        results = reduce_dataset(
            self._variant_tensor, values, function.captured, f=function.named, **spec_of(function.result)
        )
        return pack_as(function.result, list(results))

    def enumerate(self, start: Any = 0) -> Dataset:
        """The elements with their numbers before them."""
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """`transformation_func` of this data set; TypeError when that is no data set."""
        result = transformation_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(result)}.")
        return result

    def with_options(self, options: Options) -> Dataset:
        """This data set: no option changes what comes out."""
        if not isinstance(options, Options):
            raise TypeError(f"with_options wants a tf.data.Options, not {options!r}")
        return self

    def options(self) -> Options:
        """The options that were given: none that matter."""
        return Options()

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


def traced(function: Callable[..., Any], transformation: str, element: Any, unpack: bool = False) -> DatasetFunction:
    """`function` of elements of that structure as a graph function; see `DatasetFunction`."""
    return DatasetFunction(function, transformation, element, Dataset, unpack)


# --- pieces ------------------------------------------------------------------------------------------------------------


def _text(structure: Any) -> str:
    if isinstance(structure, dict):
        return "{" + ", ".join(f"{key}: {_text(value)}" for key, value in structure.items()) + "}"
    if isinstance(structure, tuple):
        return "(" + ", ".join(map(_text, structure)) + ")"
    return repr(structure) if isinstance(structure, DType) else str(structure)


def spec_of(element: Any) -> dict[str, Any]:
    leaves = flatten(element)
    return {"output_types": [c.dtype for c in leaves], "output_shapes": [c.shape for c in leaves]}


def normalized(structure: Any) -> tuple[list[Tensor], Any]:
    """A structure of values as tensors, and its Components."""
    with name_scope("normalize_element"):
        tensors = [convert_to_tensor(value, name=f"component_{i}") for i, value in enumerate(flatten(structure))]
    return tensors, pack_as(structure, [Component(t.dtype.base_dtype, t.shape) for t in tensors])


def _int64(value: Any, name: str) -> Tensor:
    return convert_to_tensor(value, dtype=dtypes.int64, name=name)


def _both(one: Component, other: Component) -> Component:
    if one.dtype != other.dtype:
        raise TypeError(f"{one.dtype.name} and {other.dtype.name}")
    shape = one.shape if one.shape == other.shape else _common(one.shape, other.shape)
    return Component(one.dtype, shape, one.inner)


def _common(one: TensorShape, other: TensorShape) -> TensorShape:
    """What is known of values that have either shape."""
    if one.rank is None or one.rank != other.rank:
        return TensorShape(None)
    return TensorShape([a if a == b else None for a, b in zip(one.as_list(), other.as_list(), strict=True)])


def _batched(batch_size: Any, drop_remainder: Any) -> Callable[[Component], Component]:
    known = isinstance(batch_size, (int, np.integer)) and drop_remainder is True
    length = int(batch_size) if known else None
    return lambda c: Component(c.dtype, TensorShape([length]).concatenate(c.shape), c.inner)


def _partial_shape(value: Any, component: Component) -> tuple[Tensor, np.ndarray]:
    """A padded shape as the int64 tensor of the node, unknown sizes as -1, and what is known of it."""
    if isinstance(value, Tensor):
        return value, np.full(component.shape.rank or 0, -1)
    dims = [-1 if d is None else int(d) for d in as_shape(_without_negative(value)).as_list()]
    if component.shape.rank is not None and len(dims) != component.shape.rank:
        raise ValueError(
            f"The padded shape {tuple(value)} is not compatible with the corresponding input component shape "
            f"{component.shape}."
        )
    return constant(np.array(dims, np.int64), dtype=dtypes.int64), np.array(dims)


def _without_negative(value: Any) -> Any:
    if isinstance(value, TensorShape):
        return value
    return [None if d is None or int(getattr(d, "value", d) or 0) == -1 else d for d in value]


def _padding(value: Any, component: Component) -> Tensor:
    if value is None:
        value = "" if component.dtype is dtypes.string else np.zeros((), component.dtype.as_numpy_dtype)
    padding = convert_to_tensor(value, name="padding_value")
    if padding.shape.rank not in (0, None):
        raise ValueError(f"The padding value should be a scalar, but its shape is {padding.shape}.")
    if padding.dtype != component.dtype:
        raise TypeError(
            f"The padding value type {padding.dtype.name} does not match the component's: {component.dtype.name}"
        )
    return padding


def normalize(*element: Any) -> Any:
    """The element as it is: unbatching a data set begins with this map."""
    return element if len(element) > 1 else element[0]


def seed_tensors(seed: Any) -> tuple[Tensor, Tensor]:
    """The two seeds of a dataset node; (0, 0) stands for "at random", so that this pair is given as another one."""
    first, second = get_seed(seed)
    one = convert_to_tensor(0 if first is None else first, dtype=dtypes.int64, name="seed")
    if second is None:
        return one, constant(0, dtype=dtypes.int64, name="seed2")
    with name_scope("seed2") as scope:
        two = convert_to_tensor(second, dtype=dtypes.int64)
        both = logical_and(
            equal(one, constant(0, dtype=dtypes.int64, name="Equal/y")),
            equal(two, constant(0, dtype=dtypes.int64, name="Equal_1/y")),
        )
        return one, where_v2(both, constant(2**31 - 1, dtype=dtypes.int64), two, name=scope)


def check_predicate(function: DatasetFunction) -> None:
    """ValueError unless the function returns one boolean scalar."""
    result = function.result
    if not (isinstance(result, Component) and result.dtype is dtypes.bool and result.shape.is_compatible_with([])):
        raise ValueError(
            "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
            f"{_text(result)}."
        )
