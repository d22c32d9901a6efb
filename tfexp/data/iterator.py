"""Iterators over data sets: one-shot, initializable, reinitializable and feedable. Source: `tf.data.Iterator`, TF 1.15."""

from __future__ import annotations

import secrets
import warnings
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.attr_value_pb2 import NameAttrList

from tfexp.core import dtypes
from tfexp.core.errors import OutOfRangeError
from tfexp.core.nest import assert_same_structure
from tfexp.data.structure import Structured, as_values, components_of, flatten, spec_of
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.function_graph import ByValueGraph
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import collect, colocate_with, executing_eagerly, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.ops import iterator as ops

if TYPE_CHECKING:
    from tfexp.data.dataset import Dataset

# A training loop asks for the next element again and again by mistake where one `get_next()` before it would do.
GET_NEXT_CALL_WARNING_THRESHOLD = 32
GET_NEXT_CALL_WARNING_MESSAGE = (
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that "
    "`Iterator.get_next()` is being called inside a training loop, which will cause gradual slowdown and eventual resource "
    "exhaustion. If this is the case, restructure your code to call `next_element = iterator.get_next()` once outside the "
    "loop, and use `next_element` as the input to some computation that is invoked inside the loop."
)


class Iterator(Structured):
    """Where a program gets a data set's elements from: `get_next()` is a structure of tensors.

    Programs rarely make one from its `iterator_resource`, but those that find that of an imported graph may: the three
    structures describe its elements. ValueError where one of them is None.
    """

    def __init__(
        self,
        iterator_resource: Tensor,
        initializer: Operation | None,
        output_types: Any,
        output_shapes: Any,
        output_classes: Any,
    ):
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError("All of `output_types`, `output_shapes` and `output_classes` must be specified")
        self._begin(iterator_resource, initializer, components_of(output_types, output_shapes, output_classes))

    @classmethod
    def _over(cls, resource: Tensor, initializer: Operation | None, element: Any) -> Iterator:
        """An iterator over elements of that structure of components."""
        iterator = cls.__new__(cls)
        iterator._begin(resource, initializer, element)
        return iterator

    def _begin(self, resource: Tensor, initializer: Operation | None, element: Any) -> None:
        self._iterator_resource = resource
        self._initializer = initializer
        self._element = element
        self._calls = 0
        self._string_handle = ops.iterator_to_string_handle(resource)
        collect(GraphKeys.GLOBAL_ITERATORS, resource)

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None, output_classes: Any = None
    ) -> Iterator:
        """An iterator for all data sets with such elements; `make_initializer(dataset)` begins one of them."""
        element = components_of(output_types, output_shapes, output_classes)
        leaves = flatten(element)
        resource = ops.iterator_v2(
            container="",
            shared_name=shared_name or "",
            output_types=[c.node_dtype for c in leaves],
            output_shapes=[c.node_shape for c in leaves],
        )
        return Iterator._over(resource, None, element)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """The iterator whose handle is fed: one `get_next` for several data sets."""
        element = components_of(output_types, output_shapes, output_classes)
        leaves = flatten(element)
        handle = convert_to_tensor(string_handle, dtype=dtypes.string)
        resource = ops.iterator_from_string_handle_v2(
            handle, output_types=[c.node_dtype for c in leaves], output_shapes=[c.node_shape for c in leaves]
        )
        return Iterator._over(resource, None, element)

    @property
    def initializer(self) -> Operation:
        """The operation that begins the data set; ValueError for an iterator that has none."""
        if self._initializer is None:
            raise ValueError(
                "The iterator does not have an initializer: use `make_initializable_iterator` or `make_initializer(dataset)`"
            )
        return self._initializer

    def make_initializer(self, dataset: Dataset, name: str | None = None) -> Operation:
        """An operation that begins `dataset` with this iterator; ValueError, TypeError when its elements do not fit."""
        assert_same_structure(self.output_types, dataset.output_types)
        for ours, theirs in zip(flatten(self._element), flatten(dataset._element), strict=True):
            if ours.dtype != theirs.dtype:
                raise TypeError(
                    f"Expected output types {self.output_types!r} but got dataset with output types "
                    f"{dataset.output_types!r}."
                )
            if not ours.shape.is_compatible_with(theirs.shape):
                raise TypeError(
                    f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with output shapes "
                    f"{dataset.output_shapes!r}."
                )
        with colocate_with(self._iterator_resource.op):
            operation: Operation = ops.make_iterator(
                dataset._variant_tensor, self._iterator_resource, name=name or "make_initializer"
            )
        return operation

    def get_next(self, name: str | None = None) -> Any:
        """The next element. OutOfRangeError, when it runs, at the end of the data set."""
        self._calls += 1
        if self._calls > GET_NEXT_CALL_WARNING_THRESHOLD:
            warnings.warn(GET_NEXT_CALL_WARNING_MESSAGE, stacklevel=2)
        with colocate_with(self._iterator_resource.op):
            tensors = ops.iterator_get_next(self._iterator_resource, **spec_of(self._element), name=name)
            return as_values(tensors, self._element)

    def string_handle(self, name: str | None = None) -> Tensor:
        """The handle that `from_string_handle` takes, as a string tensor."""
        if name is None:
            return self._string_handle
        handle: Tensor = ops.iterator_to_string_handle(self._iterator_resource, name=name)
        return handle


class EagerIterator(Structured):
    """Goes through a data set once; `get_next()` raises OutOfRangeError at its end, `next(iterator)` StopIteration."""

    def __init__(self, dataset: Dataset):
        self._element = dataset._element
        self._spec = dataset._flat_structure
        self._iterator_resource = ops.iterator_v2(container="", shared_name="", **self._spec)
        ops.make_iterator(dataset._variant_tensor, self._iterator_resource)

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """The next element, as a structure of values."""
        values = ops.iterator_get_next(self._iterator_resource, **self._spec)
        return as_values(values, self._element)


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> Iterator:
    """An iterator that begins `dataset` whenever its `initializer` runs."""
    if executing_eagerly():
        raise RuntimeError("dataset.make_initializable_iterator is not supported when eager execution is enabled.")
    with colocate_with(dataset._variant_tensor.op):
        resource = ops.iterator_v2(container="", shared_name=shared_name or "", **dataset._flat_structure)
        initializer = ops.make_iterator(dataset._variant_tensor, resource)
        return Iterator._over(resource, initializer, dataset._element)


def make_one_shot_iterator(dataset: Dataset) -> Iterator | EagerIterator:
    """An iterator that goes through `dataset` once, with nothing to initialize.

    ValueError when the data set depends on a placeholder or on a variable: its nodes are copied into a function.
    """
    if executing_eagerly():
        return EagerIterator(dataset)
    outer = get_default_graph()
    graph = ByValueGraph(f"_make_dataset_{secrets.token_urlsafe(8)}", outer)
    try:
        with graph.as_default():
            copy = graph.capture(dataset._variant_tensor)
    except ValueError as error:
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()` does not support "
            "datasets that capture stateful objects, such as a `Variable` or `LookupTable`. In these cases, use "
            f"`Dataset.make_initializable_iterator()`. (Original error: {error})"
        ) from None
    function, _ = graph.finish([], [copy])
    with colocate_with(dataset._variant_tensor.op):
        resource = ops.one_shot_iterator(dataset_factory=NameAttrList(name=function.name), **dataset._flat_structure)
        return Iterator._over(resource, None, dataset._element)


def get_output_types(dataset_or_iterator: Any) -> Any:
    """The dtype of each component. `tf.data.get_output_types`."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shape of each component. `tf.data.get_output_shapes`."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator: Any) -> Any:
    """The class of each component. `tf.data.get_output_classes`."""
    return dataset_or_iterator.output_classes
