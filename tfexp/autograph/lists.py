"""Lists that grow in loops of the graph (`Feature.LISTS`): where the loop begins, a Python list becomes one of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, sizes_of
from tfexp.graph.convert import convert_to_tensor, register_tensor_conversion_function
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import stack
from tfexp.ops.tensor_list import (
    empty_tensor_list,
    tensor_list_get_item,
    tensor_list_length,
    tensor_list_push_back,
    tensor_list_stack,
)


class GraphList:
    """A list of tensors of one type, as the graph has it: `flow` is the tensor that stands for it.

    It is read like a Python list, and becomes a tensor of its items, stacked, where one is wanted.
    """

    def __init__(self, flow: Tensor, dtype: DType, shape: TensorShape):
        self.flow = flow
        self._dtype = dtype
        self._shape = shape

    def _with_flow(self, flow: Tensor) -> GraphList:
        return GraphList(flow, self._dtype, self._shape)

    def with_item(self, item: Any) -> GraphList:
        """This list with one more item at its end."""
        tensor = convert_to_tensor(item, dtype=self._dtype)
        return self._with_flow(tensor_list_push_back(self.flow, tensor))

    def stack(self) -> Tensor:
        """The items along a new first dimension."""
        stacked: Tensor = tensor_list_stack(self.flow, sizes_of(self._shape), element_dtype=self._dtype)
        return stacked

    def length(self) -> Tensor:
        """How many items there are."""
        length: Tensor = tensor_list_length(self.flow)
        return length

    def __getitem__(self, index: Any) -> Tensor:
        number = index if isinstance(index, Tensor) or index >= 0 else self.length() + index
        item: Tensor = tensor_list_get_item(self.flow, number, sizes_of(self._shape), element_dtype=self._dtype)
        return item


class Growing:
    """A Python list in an iteration that shows what a loop appends to it."""

    def __init__(self, items: Sequence[Any]):
        self._items = items
        self._appended: list[Tensor] = []

    def append(self, item: Any) -> None:
        self._appended.append(convert_to_tensor(item))

    def in_graph(self) -> Any:
        """The list as the graph's, for such items; itself where none were appended."""
        if not self._appended:
            return self._items
        dtype, shape = self._appended[0].dtype.base_dtype, self._appended[0].get_shape()
        for item in self._appended:
            shape = shape.most_specific_compatible_shape(item.get_shape())
        made = GraphList(empty_tensor_list(sizes_of(shape), -1, element_dtype=dtype), dtype, shape)
        for item in self._items:
            made = made.with_item(item)
        return made


def stacked(values: Any, axis: int = 0, name: str = "stack") -> Tensor:
    """`tf.stack`, of lists of the graph too."""
    return values.stack() if isinstance(values, GraphList) and axis == 0 else stack(values, axis, name)


def append(items: Any, item: Any) -> Any:
    """`items.append(item)`, as the list that there is then."""
    if isinstance(items, GraphList):
        return items.with_item(item)
    items.append(item)
    return items


register_tensor_conversion_function(GraphList, lambda value, dtype, name, as_ref: value.stack())
