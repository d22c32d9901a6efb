"""Data sets whose elements are several of another's: batches, padded batches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tfexp.core.errors import DataLossError, InvalidArgumentError, OpError
from tfexp.ops.dataset import (
    COMMON,
    Chain,
    Dataset,
    DatasetIterator,
    Element,
    FromRecipe,
    State,
    as_count,
    define_dataset,
    kept,
)

Shape = tuple[int, ...]
# What is said of (a component, the first element's shape of it, another element, that one's shape).
Refused = Callable[[int, Shape, int, Shape], str]

batch_dataset_v2 = define_dataset(
    "BatchDatasetV2(input_dataset: variant, batch_size: int64, drop_remainder: bool) -> (handle: variant) {parallel_copy: "
    f"bool = false; {COMMON}}}"
)


# Batches that are taken of a source of blocks at once.
BATCHES_AHEAD = 8
# Bytes that stay in a cache until they are used.
_STACK_BYTES = 1 << 19


def together(bytes_of_one: int, most: int) -> int:
    """How many elements of so many bytes are worth being computed at once."""
    return max(1, min(most, _STACK_BYTES // max(bytes_of_one, 1)))


def bytes_of(arrays: Sequence[np.ndarray]) -> int:
    """How large these are; texts are taken to be as long as the first."""
    return sum(array.nbytes + (array.size * len(array.flat[0]) if _has_texts(array) else 0) for array in arrays)


def _has_texts(array: np.ndarray) -> bool:
    return array.dtype == object and array.size > 0 and isinstance(array.flat[0], bytes)


class _Batch(Chain):
    """Batches. The last one may have fewer elements, so that there are no blocks of them, but stacks of those before it.

    `_left`: elements, stacked, of which no batch has been made yet; `_together`: batches that are taken at once.
    `as_one`: whether an element that fails takes the rest of its batch with it, so that the next one begins after that.
    """

    def __init__(self, source: DatasetIterator, size: int, drop_remainder: bool, refused: Refused, as_one: bool = False):
        super().__init__(source)
        self.blocks, self.stacks = False, source.blocks and source.ahead
        self._refused, self._as_one = refused, as_one
        self._size, self._drop = size, drop_remainder
        self._left: list[np.ndarray] | None = None
        self._together = 1

    def next(self) -> Element | None:
        batch = self._from_blocks() if self.source.blocks else self._from_elements()
        if batch is None or (self._drop and len(batch[0]) < self._size):
            return None
        return batch

    def stacked(self, count: int) -> list[np.ndarray] | None:
        if self._left is None:
            self._take(count * self._size, self._size)
        whole = 0 if self._left is None else min(count, len(self._left[0]) // self._size)
        arrays = self._part(whole * self._size) if whole else None
        if arrays is not None:
            return [array.reshape(whole, self._size, *array.shape[1:]) for array in arrays]
        batch = self.next()
        return None if batch is None else [array[np.newaxis] for array in batch]

    def save(self) -> State:
        return {**super().save(), "left": self._left}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._left = state["left"]

    def _take(self, count: int, missing: int) -> None:
        """Have further elements left: at most so many, none at the end. The batch lacks `missing`."""
        try:
            self._left = self.source.block(count)
        except OpError:
            self._pass_over(missing - 1)
            raise
        if self._left is not None and self.stacks:
            self._together = together(bytes_of(self._left) // len(self._left[0]) * self._size, BATCHES_AHEAD)

    def _part(self, count: int) -> list[np.ndarray] | None:
        """At most so many further elements; None at the end."""
        if self._left is None:
            self._take(max(count, self._together * self._size) if self.stacks else count, count)
        arrays = self._left
        if arrays is None or len(arrays[0]) <= count:
            self._left = None
            return arrays
        self._left = [array[count:] for array in arrays]
        return [array[:count] for array in arrays]

    def _from_blocks(self) -> Element | None:
        parts: list[list[np.ndarray]] = []
        missing = self._size
        while missing and (part := self._part(missing)) is not None:
            parts.append(part)
            missing -= len(part[0])
        if len(parts) > 1:
            return [np.concatenate(arrays) for arrays in zip(*parts, strict=True)]
        return parts[0] if parts else None

    def _from_elements(self) -> Element | None:
        elements = self._one_by_one() if self._as_one else self.source.elements(self._size)
        return stacked_elements(elements, self._refused) if elements else None

    def _one_by_one(self) -> list[Element]:
        """The elements of a batch that counts them where one fails."""
        elements: list[Element] = []
        try:
            while len(elements) < self._size and (element := self.source.next()) is not None:
                elements.append(element)
        except OpError:
            self._pass_over(self._size - len(elements) - 1)
            raise
        return elements

    def _pass_over(self, count: int) -> None:
        """Leave out the rest of a batch in which an element failed: of several that fail, the first one counts."""
        while self._as_one and count > 0:
            count -= 1
            with contextlib.suppress(OpError):
                if self.source.next() is None:
                    return


def _of_different_shapes(component: int, first: Shape, number: int, other: Shape) -> str:
    return (
        f"Cannot batch tensors with different shapes in component {component}. First element had shape {list(first)} and "
        f"element {number} had shape {list(other)}."
    )


def stacked_elements(elements: Sequence[Element], refused: Refused = _of_different_shapes) -> Element:
    """The elements' components, each along a new first axis; InvalidArgumentError when shapes differ."""
    columns = []
    for position, values in enumerate(zip(*elements, strict=True)):
        shapes = list(map(np.shape, values))
        shape = shapes[0]
        for number in () if shapes.count(shape) == len(shapes) else range(len(shapes)):
            if shapes[number] != shape:
                raise InvalidArgumentError(None, None, refused(position, shape, number, shapes[number]))
        columns.append(stack(values))
    return columns


def stack(values: Sequence[Any]) -> np.ndarray:
    """Values of one shape and dtype along a new first axis."""
    first = values[0]
    if isinstance(first, Dataset):
        raise InvalidArgumentError(None, None, "Data sets cannot be put into batches: batch their elements (`flat_map`)")
    dtype, shape = first.dtype, np.shape(first)
    if shape and 0 not in shape and isinstance(first, np.ndarray):
        return np.concatenate(values).reshape(len(values), *shape)
    result = np.empty((len(values), *shape), dtype)
    if shape or dtype.hasobject:
        for i, value in enumerate(values):
            result[i] = value[()] if not shape and isinstance(value, np.ndarray) else value
    else:
        result[...] = values
    return result


def _positive(batch_size: Any) -> int:
    size = as_count(batch_size)
    if size <= 0:
        raise InvalidArgumentError(None, None, "Batch size must be greater than zero.")
    return size


def batches(dataset: Dataset, batch_size: Any, drop_remainder: Any, refused: Refused = _of_different_shapes) -> Dataset:
    """Elements stacked, so many at a time. Of a mapped data set, TensorFlow makes one node of both: batches fail as one."""
    size, drop = _positive(batch_size), bool(drop_remainder)
    return FromRecipe(lambda source: _Batch(source.iterator(), size, drop, refused, dataset.mapped), dataset)


@batch_dataset_v2.kernel("CPU")
def _(ctx: Any, dataset: Dataset, batch_size: Any, drop_remainder: Any) -> Dataset:
    return batches(dataset, batch_size, drop_remainder)


# --- padded batches ----------------------------------------------------------------------------------------------------

padded_batch_dataset_v2 = define_dataset(
    "PaddedBatchDatasetV2(input_dataset: variant, batch_size: int64, padded_shapes: N * int64, padding_values: "
    "Toutput_types, drop_remainder: bool) -> (handle: variant) {parallel_copy: bool = false; Toutput_types: list(type) >= 1;"
    " output_shapes: list(shape) >= 1; N: int >= 1; metadata: string = ''}"
)


class _PaddedBatch(Chain):
    """Elements of a source of blocks have one shape, so that batches of them are filled up."""

    def __init__(self, source: DatasetIterator, size: int, shapes: list[list[int]], paddings: list[Any], drop: bool):
        super().__init__(_Batch(source, size, drop, _of_different_shapes) if source.blocks else source)
        self._of_batches = source.blocks
        self.blocks = False
        self._size, self._shapes, self._paddings, self._drop = size, shapes, paddings, drop

    def next(self) -> Element | None:
        if self._of_batches:
            batch = self.source.next()
            return None if batch is None else self._padded(_filled_up, batch)
        elements: list[Element] = []
        while len(elements) < self._size and (element := self.source.next()) is not None:
            elements.append(element)
        if not elements or (self._drop and len(elements) < self._size):
            return None
        return self._padded(_padded, zip(*elements, strict=True))

    def _padded(self, padded: Callable[[Any, list[int], Any, int], np.ndarray], columns: Iterable[Any]) -> Element:
        numbers = range(len(self._shapes))
        return [padded(*args) for args in zip(columns, self._shapes, self._paddings, numbers, strict=True)]


def _padded_size(shapes: Iterable[Shape], wanted: list[int], component: int) -> list[int]:
    """The shape into which all of these are filled up; -1 in `wanted` stands for the largest there is."""
    size = [max(length, 0) for length in wanted]
    for own in shapes:
        if len(own) != len(wanted):
            raise InvalidArgumentError(
                None,
                None,
                f"All elements in a batch must have the same rank as the padded shape for component{component}: expected "
                f"rank {len(wanted)} but got element with rank {len(own)}",
            )
        for axis, have in enumerate(own):
            if wanted[axis] < 0:
                size[axis] = max(size[axis], have)
    for own in shapes:
        if any(have > room for have, room in zip(own, size, strict=True)):
            raise DataLossError(
                None, None, f"Attempted to pad to a smaller size than the input element: {list(own)} to {list(size)}."
            )
    return size


def _filled_up(batch: np.ndarray, shape: list[int], padding: Any, component: int) -> np.ndarray:
    """A batch whose elements are filled up to `shape`."""
    own = batch.shape[1:]
    size = _padded_size([own], shape, component)
    if tuple(size) == own:
        return batch
    result = np.empty((len(batch), *size), batch.dtype)
    result[...] = padding
    result[(slice(None), *map(slice, own))] = batch
    return result


def _padded(values: Sequence[Any], shape: list[int], padding: Any, component: int) -> np.ndarray:
    """The values along a new first axis, each filled up to `shape`."""
    shapes = [np.shape(value) for value in values]
    result = np.empty((len(values), *_padded_size(shapes, shape, component)), np.asarray(values[0]).dtype)
    result[...] = padding
    for i, (value, own) in enumerate(zip(values, shapes, strict=True)):
        result[i, ...][tuple(slice(length) for length in own)] = value if own else value[()]
    return result


@padded_batch_dataset_v2.kernel("CPU")
def _(
    ctx: Any,
    dataset: Dataset,
    batch_size: Any,
    padded_shapes: Sequence[Any],
    padding_values: Sequence[Any],
    drop_remainder: Any,
) -> Dataset:
    size, drop = _positive(batch_size), bool(drop_remainder)
    shapes, fill = [np.asarray(shape).tolist() for shape in padded_shapes], [kept(value)[()] for value in padding_values]
    return FromRecipe(lambda source: _PaddedBatch(source.iterator(), size, shapes, fill, drop), dataset)
