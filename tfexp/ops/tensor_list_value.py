"""`TensorList`: the value behind a variant tensor of the TensorList ops. It never changes: a change makes another list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import DType, type_text
from tfexp.core.errors import invalid
from tfexp.core.shape import TensorShape, dims_text
from tfexp.ops.array import variant_array
from tfexp.ops.tensor_list_elements import Elements


def shape_of_value(dims: np.ndarray) -> TensorShape:
    """The shape that an element_shape input describes: a vector with -1 for what is not known, or the scalar -1."""
    if dims.ndim == 0:
        if dims != -1:
            raise invalid(f"The only valid scalar shape tensor is the fully unknown shape specified as -1, not {dims}")
        return TensorShape(None)
    if dims.size and dims.min() < -1:
        raise invalid(f"Dimension {dims.min()} must be >= -1")
    return TensorShape([None if d < 0 else int(d) for d in dims])


def shape_text(shape: TensorShape) -> str:
    return "<unknown>" if shape.rank is None else dims_text(shape.as_list())


def _sizes(shape: TensorShape) -> tuple[int, ...]:
    """The dimensions of a shape that is known."""
    return tuple([int(d) for d in shape.as_list()])  # type: ignore[arg-type]


_NOT_TO_SET = "Tried to set a tensor with incompatible shape at a list index. Item"
_NOT_TO_APPEND = "Tried to append a tensor with incompatible shape to a list. Op"


def _fits(item: np.ndarray, shape: TensorShape) -> bool:
    # The shapes that nearly all have are told from the others at a fifth of what the general question takes.
    return shape.known_dims in (None, item.shape) or shape.is_compatible_with(item.shape)


def value_of(item: np.ndarray) -> Any:
    """An element as kernels hand it out: a list of a list of lists, else a copy of the array."""
    inner = item[()] if item.dtype == object and not item.ndim else None
    return inner if isinstance(inner, TensorList) else item.copy()


def nothing(sizes: Sequence[int], dtype: DType) -> np.ndarray:
    """Zeros, or empty texts: an element that has not been set."""
    return np.full(sizes, b"" if dtype is dtypes.string else 0, dtype.as_numpy_dtype)


def _zeros_like(item: np.ndarray) -> np.ndarray:
    value = value_of(item)
    return variant_array(value.zeros() if isinstance(value, TensorList) else np.zeros_like(value))


def _sum(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    value, other = value_of(first), value_of(second)
    return variant_array(value.plus(other)) if isinstance(value, TensorList) else np.asarray(first + second)


@dataclass(eq=False, slots=True)  # not frozen, which would make a write to a short list a third slower
class TensorList:
    """`size` elements of one dtype, all compatible with `element_shape`; those that have been set are in `elements`."""

    dtype: DType
    element_shape: TensorShape
    size: int = 0
    elements: Elements = field(default_factory=Elements)
    limit: int = -1  # the most elements that it may have

    @classmethod
    def of(cls, dtype: DType, element_shape: TensorShape, items: Sequence[np.ndarray | None], limit: int = -1) -> TensorList:
        """The list of these items; None where nothing has been set."""
        held = {position: item for position, item in enumerate(items) if item is not None}
        return cls(dtype, element_shape, len(items), Elements(held), limit)

    def __len__(self) -> int:
        return self.size

    @property
    def items(self) -> list[np.ndarray | None]:
        """All items, None where nothing has been set."""
        return self.elements.at(range(self.size))

    def check_dtype(self, dtype: DType) -> None:
        if dtype.base_dtype is not self.dtype:
            raise invalid(f"Invalid data types; op elements {type_text(dtype)} but list elements {type_text(self.dtype)}")

    def own(self, item: np.ndarray, refusal: str = _NOT_TO_SET) -> np.ndarray:
        """A copy of `item` to keep; InvalidArgumentError where it is no element of this list."""
        if not _fits(item, self.element_shape):
            raise invalid(f"{refusal} element shape: {dims_text(item.shape)} list shape: {shape_text(self.element_shape)}")
        return np.array(item)

    def check_index(self, index: int, what: str = "access") -> None:
        if not 0 <= index < self.size:
            raise invalid(f"Trying to {what} element {index} in a list with {self.size} elements.")

    def _changed(self, size: int, changes: dict[int, Any]) -> TensorList:
        elements = self.elements.changed(changes) if changes else self.elements
        return TensorList(self.dtype, self.element_shape, size, elements, self.limit)

    def with_item(self, index: int, item: np.ndarray, grows: bool = False) -> TensorList:
        grown = self.resized(index + 1) if grows and index >= self.size else self
        grown.check_index(index, "modify")
        return grown._changed(grown.size, {index: self.own(item)})

    def with_items(self, indices: Iterable[int], rows: np.ndarray) -> TensorList:
        changes = {}
        for index, row in zip(indices, rows, strict=True):
            self.check_index(index, "modify")
            changes[index] = self.own(row)
        return self._changed(self.size, changes)

    def pushed(self, item: np.ndarray) -> TensorList:
        if 0 <= self.limit <= self.size:
            raise invalid(f"Tried to push item into a full list of {self.limit} elements (max_num_elements)")
        return self._changed(self.size + 1, {self.size: self.own(item, _NOT_TO_APPEND)})

    def resized(self, size: int) -> TensorList:
        if size < 0:
            raise invalid(f"TensorListSlice expects size to be non-negative. Got: {size}")
        return self._changed(size, dict.fromkeys(range(size, self.size)))

    def followed_by(self, other: TensorList) -> TensorList:
        added = {self.size + position: item for position, item in other.elements.copy().items()}
        return TensorList(self.dtype, self.element_shape, self.size + other.size, self.elements.changed(added))

    def zeros(self) -> TensorList:
        """The list with zeros for what has been set."""
        zeros = {position: _zeros_like(item) for position, item in self.elements.copy().items()}
        return replace(self, elements=Elements(zeros))

    def plus(self, other: TensorList) -> TensorList:
        """Element by element, what has not been set counting as zero; InvalidArgumentError for lists of other lengths."""
        other.check_dtype(self.dtype)
        if self.size != other.size:
            raise invalid(f"Lists to add must have one length; there are {self.size} and {other.size} elements")
        more, fewer = self.elements, other.elements
        if len(more) < len(fewer):
            more, fewer = fewer, more
        added = fewer.copy()
        there = more.at(added)
        sums = {at: new if old is None else _sum(old, new) for (at, new), old in zip(added.items(), there, strict=True)}
        shape = self.known_shape(other.element_shape)
        return TensorList(self.dtype, shape, self.size, more.changed(sums), self.limit)

    def known_shape(self, asked: TensorShape) -> TensorShape:
        """What is known of all elements' shape: by the list, and by who asks."""
        return _merged(self.element_shape, asked)

    def merged_shape(self, asked: TensorShape, positions: Sequence[int] | None = None) -> TensorShape:
        """The same, and by the elements that are at these positions, or at all."""
        shape = self.known_shape(asked)
        if shape.is_fully_defined():
            return shape
        for item in self.items if positions is None else self.elements.at(positions):
            if item is not None and not shape.is_fully_defined():
                shape = _merged(shape, TensorShape(item.shape))
        return shape

    def filled(self, positions: Sequence[int], shape: TensorShape) -> list[np.ndarray]:
        """The elements at `positions`, of this shape, with zeros for what has not been set; it has to be known then."""
        found = []
        for position, item in zip(positions, self.elements.at(positions), strict=True):
            self.check_index(position)
            if item is None:
                if not shape.is_fully_defined():
                    raise invalid(
                        f"Trying to read an uninitialized tensor but element_shape is not fully defined: "
                        f"{shape_text(shape)} (element {position} of the list)"
                    )
                item = nothing(_sizes(shape), self.dtype)
            elif not _fits(item, shape):
                raise invalid(f"Incompatible shapes: an element of shape {list(item.shape)} where {shape} is asked for")
            found.append(item)
        return found

    def stacked(self, positions: Sequence[int], shape: TensorShape) -> np.ndarray:
        """Those elements, of this shape, as one array; InvalidArgumentError where their shapes differ."""
        if not positions:
            if not shape.is_fully_defined():
                raise invalid(
                    f"Tried to stack elements of an empty list with non-fully-defined element_shape: {shape_text(shape)}"
                )
            return np.zeros((0, *_sizes(shape)), self.dtype.as_numpy_dtype)
        if not len(self.elements) and not shape.is_fully_defined():
            raise invalid(
                "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined element_shape: "
                f"{shape_text(shape)}"
            )
        items = self.filled(positions, shape)
        first = items[0].shape
        for item in items:
            if item.shape != first:
                raise invalid(
                    f"TensorListStack expects elements of one shape; there are {list(first)} and {list(item.shape)}"
                )
        return np.stack(items)


def _merged(known: TensorShape, asked: TensorShape) -> TensorShape:
    try:
        return known.merge_with(asked)
    except ValueError:
        raise invalid(
            f"Incompatible shapes during merge: {shape_text(asked)} asked of a list of elements of shape {shape_text(known)}"
        ) from None


def check_list(value: Any, dtype: DType) -> None:
    """InvalidArgumentError for what is not a list of that dtype, as an array of lists."""
    if not isinstance(value, TensorList):
        raise invalid(f"Input list must be a scalar saw: {dims_text(np.shape(value))}")
    value.check_dtype(dtype)
