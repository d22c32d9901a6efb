"""Data sets: what a dataset op's variant holds, how it is iterated over, and the data sets of what is in memory.

A `Dataset` is a recipe; each `iterator()` runs through it from the beginning. Elements are tuples of arrays. Where all
elements of a component have one shape and nothing has to be done for each of them in Python, an iterator can hand out
several at once (`blocks`), stacked along a new first axis: batches are then cut from arrays, not built element by element.

What an iterator hands out may be a view of memory that it keeps; whoever keeps it or writes to it makes a copy.
"""

from __future__ import annotations

import abc
import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.op import Op, define_op
from tfexp.core.shape import TensorShape
from tfexp.ops.shape_rules import with_rank

Element = Sequence[Any]
# Plain data (numbers, bytes, arrays, lists, dicts) from which an iterator goes on where another one stopped.
State = Any

COMMON = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1; metadata: string = ''"


class Dataset(abc.ABC):
    """A recipe for a sequence of elements.

    A recipe may remember things from run to run (the seeds of a shuffle, cached elements). Where it is used at several
    places of one pipeline, each place has such a memory of its own: `fresh` copies the tree of recipes for an iterator.
    """

    mapped = False  # whether a function makes each element of one of its source

    @abc.abstractmethod
    def iterator(self) -> DatasetIterator:
        """A run through the elements from the beginning."""

    def fresh(self) -> Dataset:
        """The same data set, with a memory of its own."""
        return self

    def with_settings(self, changes: Mapping[str, Any]) -> Dataset:
        """The same data set, in which these of the `Settings` of parallel maps are others."""
        return self


class DatasetIterator(abc.ABC):
    """One run through a data set. Used by one thread at a time."""

    blocks = False  # whether `block` may be called instead of `next`
    stacks = False  # whether `stacked` may be called instead of `next`: where `blocks` would promise too much
    ahead = True  # whether more elements may be taken than are needed yet: not where that changes what others get

    @abc.abstractmethod
    def next(self) -> Element | None:
        """The next element, or None when there is none any more."""

    def block(self, count: int) -> list[np.ndarray] | None:
        """At most `count` further elements, at least one, stacked by component; None at the end."""
        raise NotImplementedError

    def stacked(self, count: int) -> list[np.ndarray] | None:
        """As `block`, where elements may have other shapes than those that come later."""
        raise NotImplementedError

    def waiting(self) -> int:
        """How many further elements are there already, so that `next` only hands them out."""
        return 0

    def elements(self, count: int) -> list[Element]:
        """At most `count` further elements, fewer only at the end. Those before an error are lost, as in a batch."""
        found: list[Element] = []
        while len(found) < count and (element := self.next()) is not None:
            found.append(element)
        return found

    @abc.abstractmethod
    def save(self) -> State:
        """Where this run is."""

    @abc.abstractmethod
    def restore(self, state: State) -> None:
        """Go on from there; called before anything else."""

    def interrupt(self, on: bool = True) -> None:  # noqa: B027 (nothing to do for most)
        """Wake up a `next` that waits, now or later: it raises CancelledError, until this is taken back (`on=False`).

        May be called by any thread.
        """

    def close(self) -> None:  # noqa: B027
        """End what runs in the background."""


@dataclass(frozen=True)
class Settings:
    """How a parallel map runs: `in_order`, or results as they are there; in how many `threads` (0: one for each call)."""

    in_order: bool = True
    threads: int = 0

    def fresh(self) -> Settings:
        return self

    def with_settings(self, changes: Mapping[str, Any]) -> Settings:
        return replace(self, **changes)


class Part(Protocol):
    """What a recipe is made of: other data sets, functions, what it remembers."""

    def fresh(self) -> Any: ...


class FromRecipe(Dataset):
    """A data set whose iterators are made by a function of its parts; what it remembers, is theirs."""

    def __init__(self, make: Callable[..., DatasetIterator], *parts: Part):
        self._make, self._parts = make, parts

    def iterator(self) -> DatasetIterator:
        return self._make(*self._parts)

    def fresh(self) -> Dataset:
        return self._of(part.fresh() for part in self._parts)

    def with_settings(self, changes: Mapping[str, Any]) -> Dataset:
        return self._of(
            part.with_settings(changes) if isinstance(part, (Dataset, Settings)) else part for part in self._parts
        )

    def _of(self, parts: Iterable[Part]) -> Self:
        made = copy.copy(self)
        made._parts = tuple(parts)
        return made


def define_dataset(signature: str, any_shape: Sequence[str] = ()) -> Op:
    """Register a dataset op: one scalar variant. Counts and flags have to be scalars, but for the inputs `any_shape`."""
    op = define_op(signature)
    settings = [
        not arg.is_list and arg.dtype in (dtypes.int64, dtypes.bool) and arg.name not in any_shape for arg in op.inputs
    ]

    @op.shape
    def _(*inputs: Any) -> TensorShape:
        for given, is_setting in zip(inputs, settings, strict=True):
            if is_setting:
                with_rank(given, 0)
        return TensorShape([])

    return op


def row(array: np.ndarray, index: int) -> Any:
    """`array[index]`, as an array also where that is a string."""
    return array[index : index + 1].reshape(array.shape[1:]) if array.dtype == object else array[index]


def kept(value: Any) -> Any:
    """What may be kept beyond the kernel that got it: a copy of an array; a resource or a data set as it is."""
    return np.array(value) if isinstance(value, (np.ndarray, np.generic)) else value


def as_count(value: Any) -> int:
    return int(value)


class Chain(DatasetIterator):
    """An iterator on top of another one."""

    def __init__(self, source: DatasetIterator):
        self.source = source
        self.blocks = source.blocks
        self.ahead = source.ahead

    def save(self) -> State:
        return {"source": self.source.save()}

    def restore(self, state: State) -> None:
        self.source.restore(state["source"])

    def interrupt(self, on: bool = True) -> None:
        self.source.interrupt(on)

    def close(self) -> None:
        self.source.close()


# --- from memory -----------------------------------------------------------------------------------------------------

tensor_dataset = define_dataset(
    "TensorDataset(components: Toutput_types) -> (handle: variant) {Toutput_types: list(type) >= 1; output_shapes: "
    "list(shape) >= 1; metadata: string = ''} #stateful"
)
tensor_slice_dataset = define_dataset(
    "TensorSliceDataset(components: Toutput_types) -> (handle: variant) {Toutput_types: list(type) >= 1; output_shapes: "
    "list(shape) >= 1; is_files: bool = false; metadata: string = ''; replicate_on_split: bool = false} #stateful"
)
range_dataset = define_dataset(
    f"RangeDataset(start: int64, stop: int64, step: int64) -> (handle: variant) {{{COMMON}; "
    "replicate_on_split: bool = false} #stateful"
)


class _Once(DatasetIterator):
    def __init__(self, element: Element):
        self._element: Element | None = element

    def next(self) -> Element | None:
        element, self._element = self._element, None
        return None if element is None else [value[...] if isinstance(value, np.ndarray) else value for value in element]

    def save(self) -> State:
        return {"done": self._element is None}

    def restore(self, state: State) -> None:
        if state["done"]:
            self._element = None


@tensor_dataset.kernel("CPU")
def _(ctx: Any, components: Sequence[Any]) -> Dataset:
    element = [kept(value) for value in components]
    return FromRecipe(lambda: _Once(element))


class _Slices(DatasetIterator):
    blocks = True

    def __init__(self, arrays: Sequence[np.ndarray]):
        self._arrays = arrays
        self._length = len(arrays[0])
        self._position = 0

    def next(self) -> Element | None:
        position = self._position
        if position >= self._length:
            return None
        self._position = position + 1
        return [row(array, position) for array in self._arrays]

    def block(self, count: int) -> list[np.ndarray] | None:
        start = self._position
        if start >= self._length:
            return None
        self._position = stop = min(start + count, self._length)
        return [array[start:stop] for array in self._arrays]

    def save(self) -> State:
        return self._position

    def restore(self, state: State) -> None:
        self._position = state


@tensor_slice_dataset.kernel("CPU")
def _(ctx: Any, components: Sequence[Any]) -> Dataset:
    arrays = [kept(value) for value in components]
    for i, array in enumerate(arrays):
        if array.ndim == 0:
            raise InvalidArgumentError(None, None, f"Component {i} is a scalar: only tensors of rank 1 and more have slices")
        if len(array) != len(arrays[0]):
            raise InvalidArgumentError(
                None,
                None,
                f"All components must have the same first dimension: component 0 has {len(arrays[0])}, component {i} has "
                f"{len(array)}",
            )
    return FromRecipe(lambda: _Slices(arrays))


class _Range(DatasetIterator):
    blocks = True

    def __init__(self, values: range, dtype: Any):
        self._values, self._dtype = values, dtype
        self._position = 0

    def next(self) -> Element | None:
        if self._position >= len(self._values):
            return None
        value = self._values[self._position]
        self._position += 1
        return [self._dtype(value)]

    def block(self, count: int) -> list[np.ndarray] | None:
        part = self._values[self._position : self._position + count]
        if not part:
            return None
        self._position += len(part)
        return [np.arange(part.start, part.stop, part.step, dtype=np.int64).astype(self._dtype, copy=False)]

    def save(self) -> State:
        return self._position

    def restore(self, state: State) -> None:
        self._position = state


@range_dataset.kernel("CPU")
def _(ctx: Any, start: Any, stop: Any, step: Any, *, output_types: list[Any]) -> Dataset:
    if step == 0:
        raise InvalidArgumentError(None, None, "step must be a non-zero integer.")
    values = range(int(start), int(stop), int(step))
    dtype = np.dtype(output_types[0].as_numpy_dtype).type
    return FromRecipe(lambda: _Range(values, dtype))


class Elements(Dataset):
    """A data set of elements that are there already."""

    def __init__(self, elements: Sequence[Element]):
        self.elements = elements

    def iterator(self) -> DatasetIterator:
        return _OfList(self.elements)


class _OfList(DatasetIterator):
    def __init__(self, elements: Sequence[Element]):
        self._elements = elements
        self._position = 0

    def next(self) -> Element | None:
        if self._position >= len(self._elements):
            return None
        self._position += 1
        # Another window may have the same arrays.
        return [v[...] if isinstance(v, np.ndarray) else v for v in self._elements[self._position - 1]]

    def save(self) -> State:
        return self._position

    def restore(self, state: State) -> None:
        self._position = state
