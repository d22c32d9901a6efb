"""TensorArrays where operations run at once: lists whose places are checked, and read once each. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError, OutOfRangeError
from tfexp.core.shape import dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import executing_eagerly
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import array_gather, tensor_list
from tfexp.ops.array_fill import zeros
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.tensor_array_lists import ListTensorArray


class EagerTensorArray(ListTensorArray):
    """A ListTensorArray that refuses what TensorFlow refuses at once; a function that gets it has the list."""

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: Any = None,
        clear_after_read: Any = None,
        tensor_array_name: str | None = None,
        handle: Tensor | None = None,
        *rest: Any,
        **options: Any,
    ):
        if handle is not None:
            raise ValueError("TensorArray handles are not supported when eager execution is enabled.")
        size = None if size is None else _number(size)
        super().__init__(dtype, size, dynamic_size, clear_after_read, tensor_array_name, None, *rest, **options)
        self._clears = clear_after_read is None or bool(clear_after_read)
        self._cleared: set[int] = set()

    def _with_flow(self, flow: Tensor) -> TensorArray:
        if not executing_eagerly():
            return super()._with_flow(flow)
        other = object.__new__(EagerTensorArray)
        other._known, other._flow, other._clears, other._cleared = self._known, flow, self._clears, self._cleared
        return other

    def identity(self) -> TensorArray:
        """The same array; where operations run at once, this one."""
        return self if executing_eagerly() else super().identity()

    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`. OutOfRangeError where there is none; InvalidArgumentError once it has been cleared."""
        if not executing_eagerly():
            return super().read(index, name)
        place, size = _number(index), _number(self.size())
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
        value = super().read(place, name)
        if self._clears:
            self._cleared.add(place)
        return value

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices`, of which each may be asked for several times and gets all its gradients."""
        if not executing_eagerly():
            return super().gather(indices, name)
        places, again = np.unique(np.asarray(static_value(convert_to_tensor(indices))), return_inverse=True)
        return array_gather.gather(super().gather(places.astype(np.int32)), again.astype(np.int32), name=name)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """This array, which has `value` at `index` from now on; OutOfRangeError where there is no such place."""
        if not executing_eagerly():
            return super().write(index, value, name)
        self._prepare([index])
        return self._changed(super().write(_number(index), value, name))

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """This array, with the rows of `value` at `indices` from now on; OutOfRangeError where there is no such place."""
        if not executing_eagerly():
            return super().scatter(indices, value, name)
        self._prepare(np.ravel(np.asarray(static_value(convert_to_tensor(indices)))))
        return self._changed(super().scatter(indices, value, name))

    def _changed(self, by: TensorArray) -> TensorArray:
        """This array itself, with what a list was made of it: loops need not keep what `write` returns."""
        self._flow = by.flow
        return self

    def _prepare(self, places: Any) -> None:
        size = _number(self.size())
        for place in map(_number, places):
            if place < 0:
                raise OutOfRangeError(None, None, f"Writing to negative indices (index {place}) is not allowed.")
            if place >= size and not self.dynamic_size:
                raise OutOfRangeError(
                    None, None, f"Tried to write to index {place} but array is not resizeable and size is: {size}"
                )
            self._cleared.discard(place)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """This array, of the rows of `value` from now on; ValueError when they are more than it may have."""
        if not executing_eagerly():
            return super().unstack(value, name)
        tensor = self._checked(value)
        if tensor.shape.rank:
            rows, size = int(tensor.shape[0]), _number(self.size())
            if rows > size and not self.dynamic_size:
                raise ValueError(f"Cannot unstack {rows} tensors into a TensorArray of static size {size}")
        self._cleared.clear()
        return self._changed(super().unstack(tensor, name))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """This array, of pieces of `value` of those lengths from now on; InvalidArgumentError where these do not fit."""
        if not executing_eagerly():
            return super().split(value, lengths, name)
        tensor, sizes = self._checked(value), np.asarray(static_value(convert_to_tensor(lengths)))
        self._check_pieces(tensor.shape.as_list(), sizes)
        self._cleared.clear()
        return self._changed(super().split(tensor, sizes, name))

    def _check_pieces(self, dims: list[Any], lengths: np.ndarray) -> None:
        size, text = _number(self.size()), ""
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

    def stack(self, name: str | None = None) -> Tensor:
        """All elements along a new first dimension; of none, an empty vector."""
        if executing_eagerly() and _number(self.size()) == 0:
            return zeros([0], self.dtype)
        return super().stack(name)

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements."""
        size: Tensor = tensor_list.tensor_list_length(self._flow, name=name)
        return size


def _number(value: Any) -> int:
    """What an eager tensor or a number is as an integer."""
    return int(static_value(value) if isinstance(value, Tensor) else value)  # type: ignore[arg-type]


TensorArray.as_eager = EagerTensorArray
