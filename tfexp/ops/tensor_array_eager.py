"""TensorArrays where operations run at once: Python lists of tensors. Source: eager execution, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.dtypes import as_dtype
from tfexp.core.errors import InvalidArgumentError, OutOfRangeError
from tfexp.core.shape import as_shape, dims_text
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_join, array_split
from tfexp.ops.array_fill import zeros
from tfexp.ops.tensor_array import Known, TensorArray


class EagerTensorArray(TensorArray):
    """A TensorArray whose writes change the array itself: what they return is that same array."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        flow: Tensor | None = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ):
        if handle is not None:
            raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
        if size is None:
            raise ValueError("Size must be provided if handle is not provided")
        self._known = Known(as_dtype(dtype).base_dtype, as_shape(element_shape), infer_shape, colocate_with_first_write_call)
        self._known.dynamic_size = bool(dynamic_size)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._elements: list[Tensor | None] = [None] * _number(size)
        self._cleared: set[int] = set()
        self._flow = constant(0, name="flow")

    @property
    def handle(self) -> Any:
        """None: the elements are here."""
        return None

    def identity(self) -> TensorArray:
        return self

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        raise NotImplementedError("TensorArray.grad is not supported when executing eagerly: a GradientTape needs none")

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`. OutOfRangeError where there is none; InvalidArgumentError once it has been cleared."""
        place, size = _number(index), len(self._elements)
        if place < 0:
            raise OutOfRangeError(None, None, f"Reading from negative indices (index {place}) is not allowed.")
        if place >= size:
            raise OutOfRangeError(None, None, f"Tried to read from index {place} but array size is: {size}")
        if place in self._cleared:
            raise InvalidArgumentError(
                None,
                None,
                f"Could not read index {place} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = false?)",
            )
        value = self._element(place)
        if self._clears:
            self._elements[place] = None
            self._cleared.add(place)
        return value

    def _element(self, place: int) -> Tensor:
        """The element, zeros where nothing was written."""
        found = self._elements[place]
        if found is None:
            if not self.element_shape.is_fully_defined():
                raise InvalidArgumentError(
                    None,
                    None,
                    f"Trying to read an uninitialized tensor but element_shape is not fully defined: {self.element_shape} "
                    f"(element {place})",
                )
            found = self._elements[place] = zeros(self.element_shape, self.dtype)
        return found

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """This array, which has `value` at `index` from now on; OutOfRangeError where there is no such place."""
        place, size, tensor = _number(index), len(self._elements), self._checked(value)
        if place < 0:
            raise OutOfRangeError(None, None, f"Writing to negative indices (index {place}) is not allowed.")
        if place >= size and not self.dynamic_size:
            raise OutOfRangeError(
                None, None, f"Tried to write to index {place} but array is not resizeable and size is: {size}"
            )
        self._learn_shape(tensor.get_shape())
        self._elements += [None] * (place + 1 - size)
        self._elements[place] = tensor
        self._cleared.discard(place)
        return self

    def _checked(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, preferred_dtype=self.dtype, name="value")
        if tensor.dtype.base_dtype is not self.dtype:
            given = tensor.dtype.base_dtype.name
            raise InvalidArgumentError(
                None, None, f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {given}"
            )
        return tensor

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        places = np.asarray(static_value(convert_to_tensor(indices)))
        return array_join.stack([self._element(int(place)) for place in places], name=name or "stack")

    def stack(self, name: str | None = None) -> Tensor:
        """All elements along a new first dimension; of none, an empty vector."""
        if not self._elements:
            return zeros([0], self.dtype)
        return array_join.stack([self._element(place) for place in range(len(self._elements))], name=name or "stack")

    def concat(self, name: str | None = None) -> Tensor:
        elements = [self._element(place) for place in range(len(self._elements))]
        first = elements[0].shape if elements else None
        for place, element in enumerate(elements):
            text = ""
            if element.shape.rank == 0:
                text = f"Concat saw a scalar shape at index {place} but requires at least vectors."
            elif element.shape.rank != first.rank:  # type: ignore[union-attr]
                text = f"Incompatible ranks: element 0 has {first}, element {place} has {element.shape}"
            elif element.shape[1:] != first[1:]:  # type: ignore[index]
                text = f"Incompatible shapes: {first[1:]} vs. {element.shape[1:]}, but for the first size"  # type: ignore[index]
            if text:
                raise InvalidArgumentError(None, None, text)
        return array_join.concat(elements, 0, name=name or "concat") if elements else zeros([0], self.dtype)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """This array, of the rows of `value` from now on; ValueError when they are more than it may have."""
        tensor, size = self._checked(value), len(self._elements)
        self._learn_shape(tensor.shape[1:])
        rows = array_join.unstack(tensor, num=int(tensor.shape[0]))
        if len(rows) > size and not self.dynamic_size:
            raise ValueError(f"Cannot unstack {len(rows)} tensors into a TensorArray of static size {size}")
        return self._replaced(rows)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """This array, with the rows of `value` at `indices` from now on; OutOfRangeError where there is no such place."""
        tensor = self._checked(value)
        places = np.asarray(static_value(convert_to_tensor(indices)))
        for place, row in zip(places, array_join.unstack(tensor, num=int(tensor.shape[0])), strict=True):
            self.write(place, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """This array, of pieces of `value` of those lengths from now on; InvalidArgumentError where these do not fit."""
        tensor, sizes = self._checked(value), np.asarray(static_value(convert_to_tensor(lengths)))
        self._check_pieces(tensor.shape.as_list(), sizes)
        if self._known.infer_shape and sizes.size and sizes.max() == sizes.min():
            self._learn_shape(as_shape([int(sizes[0])]).concatenate(tensor.shape[1:]))
        return self._replaced(array_split.split(tensor, sizes.tolist()))

    def _replaced(self, elements: list[Tensor]) -> TensorArray:
        self._elements = [*elements]
        self._cleared.clear()
        return self

    def _check_pieces(self, dims: list[Any], lengths: np.ndarray) -> None:
        size, text = len(self._elements), ""
        if lengths.ndim != 1:
            text = f"Expected lengths to be a vector, received shape: {dims_text(lengths.shape)}"
        elif not dims:
            text = "Expected value to be at least a vector, but received shape: []"
        elif lengths.sum() != dims[0]:
            text = (
                f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {lengths.sum()} and value's "
                f"shape is: {dims_text(dims)}"
            )
        elif lengths.size != size and not self.dynamic_size:
            text = (
                f"TensorArray's size is not equal to the size of lengths ({size} vs. {lengths.size}), and the TensorArray "
                "is not marked as dynamically resizeable"
            )
        if text:
            raise InvalidArgumentError(None, None, text)

    def size(self, name: str | None = None) -> Tensor:
        return constant(len(self._elements))

    def close(self, name: str | None = None) -> Any:
        """Forget the elements."""
        self._elements.clear()


def _number(value: Any) -> int:
    """What an eager tensor or a number is as an integer."""
    return int(static_value(value) if isinstance(value, Tensor) else value)  # type: ignore[arg-type]


TensorArray.as_eager = EagerTensorArray
