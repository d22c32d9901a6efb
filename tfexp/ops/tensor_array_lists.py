"""TensorArrays of traced functions and of eager execution: their flow is a list, a value that has a gradient as others do.

Source: `tf.TensorArray` inside `tf.function`, TF 1.15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.dtypes import as_dtype
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import TensorShape, as_shape, sizes_of
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, tensor_list
from tfexp.ops.cast import cast
from tfexp.ops.tensor_array import Known, TensorArray


class ListTensorArray(TensorArray):
    """A TensorArray whose `flow` is the list of its elements; it has no handle."""

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
        if size is None and flow is None:
            raise ValueError("Size must be provided if handle is not provided")
        self._known = Known(as_dtype(dtype).base_dtype, as_shape(element_shape), infer_shape, colocate_with_first_write_call)
        self._known.size, self._known.dynamic_size = size, bool(dynamic_size)
        if flow is not None:
            self._flow = flow
            return
        with name_scope(name, "TensorArrayV2", [size]) as scope:
            self._flow = tensor_list.tensor_list_reserve(
                sizes_of(self.element_shape), size, element_dtype=self.dtype, name=scope
            )

    @property
    def handle(self) -> Any:
        """None: the list is a value."""
        return None

    def _with_flow(self, flow: Tensor) -> TensorArray:
        other = object.__new__(ListTensorArray)
        other._known, other._flow = self._known, flow
        return other

    def grad(self, source: str, flow: Tensor | None = None, name: str | None = None) -> TensorArray:
        raise NotImplementedError("TensorArray.grad: the elements of this array are a value, whose gradient is one, too")

    def read(self, index: Any, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Read", [self._flow, index]):
            value: Tensor = tensor_list.tensor_list_get_item(
                self._flow, index, sizes_of(self.element_shape), element_dtype=self.dtype
            )
        value.set_shape(self.element_shape)
        return value

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayV2Write", [self._flow, index, value]):
            tensor = self._checked(value)
            self._learn_shape(tensor.get_shape())
            grows = self.dynamic_size
            return self._with_flow(
                tensor_list.tensor_list_set_item(self._flow, index, tensor, resize_if_index_out_of_bounds=grows)
            )

    def stack(self, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Stack", [self._flow]):
            count = None if self.dynamic_size or self._known.size is None else static_value(self.size())
            known = -1 if count is None else int(count)
            value: Tensor = tensor_list.tensor_list_stack(
                self._flow, sizes_of(self.element_shape), element_dtype=self.dtype, num_elements=known
            )
        return value

    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Gather", [self._flow, indices]):
            value: Tensor = tensor_list.tensor_list_gather(
                self._flow, indices, sizes_of(self.element_shape), element_dtype=self.dtype
            )
        return value

    def concat(self, name: str | None = None) -> Tensor:
        with name_scope(name, "TensorArrayV2Concat", [self._flow]):
            none: np.ndarray = np.zeros([0], np.int64)
            joined, _ = tensor_list.tensor_list_concat_v2(
                self._flow, sizes_of(self.element_shape), none, element_dtype=self.dtype
            )
        result: Tensor = joined
        return result

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayUnstack", [value]):
            tensor = self._checked(value)
            self._learn_shape(tensor.get_shape()[1:])
            return self._with_flow(tensor_list.tensor_list_from_tensor(tensor, _row_sizes(tensor)))

    def _checked(self, value: Any) -> Tensor:
        tensor = convert_to_tensor(value, preferred_dtype=self.dtype, name="value")
        if tensor.dtype.base_dtype is not self.dtype:
            given = tensor.dtype.base_dtype.name
            raise InvalidArgumentError(
                None, None, f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {given}"
            )
        return tensor

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArrayScatter", [value, indices]):
            tensor = self._checked(value)
            self._learn_shape(tensor.get_shape()[1:])
            return self._with_flow(tensor_list.tensor_list_scatter_into(self._flow, tensor, indices))

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        with name_scope(name, "TensorArraySplit", [value, lengths]):
            tensor = convert_to_tensor(value, dtype=self.dtype, name="value")
            lengths = cast(lengths, dtypes.int64)
            known = static_value(lengths)
            if tensor.get_shape().rank and known is not None and known.size and known.max() == known.min():
                self._learn_shape(TensorShape([int(known.flat[0])]).concatenate(tensor.get_shape()[1:]))
            return self._with_flow(tensor_list.tensor_list_split(tensor, sizes_of(self.element_shape), lengths))

    def size(self, name: str | None = None) -> Tensor:
        if not self.dynamic_size and self._known.size is not None:
            return convert_to_tensor(self._known.size, dtype=dtypes.int32)
        size: Tensor = tensor_list.tensor_list_length(self._flow, name=name)
        return size

    def close(self, name: str | None = None) -> Operation:
        """Nothing to close: an operation that does nothing."""
        node: Operation = no_op(name=name)
        return node


def _row_sizes(tensor: Tensor) -> Any:
    rows = tensor.get_shape()[1:] if tensor.get_shape().rank is not None else TensorShape(None)
    return sizes_of(rows) if rows.rank is not None else array.shape(tensor)[1:]


TensorArray.as_list = ListTensorArray
