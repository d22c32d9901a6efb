"""Data sets of what a Python generator yields: `tf.data.Dataset.from_generator`. Source: TF 1.15.

Each run through the data set has a generator of its own, which nodes know by a number.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape
from tfexp.data.functions import DatasetFunction
from tfexp.data.structure import Component, flatten, flatten_up_to, pack_as, spec_of
from tfexp.formats.tensor import make_ndarray, make_tensor_proto
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_generator import generator_dataset
from tfexp.ops.py_func import py_func

_NUMBER = Component(dtypes.int64, TensorShape([]))
_LABEL = "Dataset.from_generator()"


class _Running:
    """The generators that are running, by number."""

    def __init__(self, generator: Callable[..., Any], types: Any, element: Any):
        self._generator, self._types = generator, types
        self._components: list[Component] = flatten(element)
        self._element = element
        # Without a lock, which garbage collection that ends an iterator might find taken by its own thread.
        self._numbers = itertools.count()
        self._iterators: dict[int, Iterator[Any]] = {}

    def begin(self, *args: Any) -> np.int64:
        """A new one; its number."""
        iterator = iter(self._generator(*args))
        number = next(self._numbers)
        self._iterators[number] = iterator
        return np.int64(number)

    def give(self, number: Any) -> list[np.ndarray]:
        """What it yields next, as arrays. StopIteration at its end.

        TypeError for another structure or other types than those that were declared, ValueError for other shapes.
        """
        values = next(self._iterators[int(number)])
        try:
            leaves = flatten_up_to(self._element, values)
        except (TypeError, ValueError) as error:
            raise TypeError(
                "`generator` yielded an element that did not match the expected structure. The expected structure was "
                f"{self._types}, but the yielded element was {values}."
            ) from error
        arrays = [_array(leaf, c.dtype) for leaf, c in zip(leaves, self._components, strict=True)]
        for array, component in zip(arrays, self._components, strict=True):
            if not component.shape.is_compatible_with(array.shape):
                raise ValueError(
                    f"`generator` yielded an element of shape {array.shape} where an element of shape {component.shape} was "
                    "expected."
                )
        return arrays

    def end(self, number: Any) -> np.int64:
        """Nobody asks for more."""
        iterator = self._iterators.pop(int(number), None)
        close = getattr(iterator, "close", None)
        if close is not None:
            close()
        return np.int64(0)


def _array(value: Any, dtype: DType) -> np.ndarray:
    if isinstance(value, np.ndarray) and value.dtype == dtype.as_numpy_dtype and not value.dtype.hasobject:
        return value
    try:
        return make_ndarray(make_tensor_proto(value, dtype))
    except (TypeError, ValueError) as error:
        raise TypeError(
            "`generator` yielded an element that could not be converted to the expected type. The expected type was "
            f"{dtype.name}, but the yielded element was {value}."
        ) from error


def generator_variant(generator: Callable[..., Any], types: Any, element: Any, args: Sequence[Tensor]) -> Tensor:
    """A GeneratorDataset node whose elements `generator(*args)` yields."""
    running = _Running(generator, types, element)

    def get_iterator_id_fn() -> Tensor:
        number: Tensor = py_func(running.begin, list(args), dtypes.int64, stateful=True)
        number.set_shape([])
        return number

    def generator_next_fn(iterator_id: Tensor) -> Any:
        components = flatten(element)
        values = py_func(running.give, [iterator_id], [c.dtype for c in components], stateful=True)
        for value, component in zip(values, components, strict=True):
            value.set_shape(component.shape)
        return pack_as(element, list(values))

    def finalize_fn(iterator_id: Tensor) -> Tensor:
        done: Tensor = py_func(running.end, [iterator_id], dtypes.int64, stateful=True)
        done.set_shape([])
        return done

    begin = DatasetFunction(get_iterator_id_fn, _LABEL, ())
    each = DatasetFunction(generator_next_fn, _LABEL, _NUMBER)
    end = DatasetFunction(finalize_fn, _LABEL, _NUMBER)
    variant: Tensor = generator_dataset(
        begin.captured,
        each.captured,
        end.captured,
        init_func=begin.named,
        next_func=each.named,
        finalize_func=end.named,
        **spec_of(element),
    )
    return variant
