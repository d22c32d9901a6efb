"""Ragged tensors and TensorArrays as components of a data set's elements: one variant tensor each between its nodes."""

from __future__ import annotations

from typing import Any, NamedTuple

from tfexp.core.dtypes import DType
from tfexp.core.shape import TensorShape, sizes_of
from tfexp.data.structure import KINDS, Component, Kind
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.ragged_variant import ragged_tensor_from_variant, ragged_tensor_to_variant
from tfexp.ops.tensor_array import TensorArray
from tfexp.ops.tensor_list import tensor_list_from_tensor, tensor_list_stack
from tfexp.ragged_tensors.tensor import RaggedTensor
from tfexp.ragged_tensors.value import RaggedTensorValue


class RaggedInner(NamedTuple):
    """How a ragged tensor is cut into rows; `ragged_rank` 0: a slice that is a plain tensor."""

    ragged_rank: int
    row_splits_dtype: DType


class _Ragged(Kind):
    name = "ragged"
    value_class = RaggedTensor

    def belongs(self, value: Any) -> bool:
        return isinstance(value, (RaggedTensor, RaggedTensorValue))

    def converted(self, value: Any) -> RaggedTensor:
        if isinstance(value, RaggedTensor):
            return value
        splits = [convert_to_tensor(one, name="row_splits") for one in value.nested_row_splits]
        values = convert_to_tensor(value.flat_values)
        ragged: RaggedTensor = RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        return ragged

    def component(self, value: Any) -> Component:
        ragged = self.converted(value)
        inner = RaggedInner(ragged.ragged_rank, ragged.row_splits.dtype)
        return Component(ragged.dtype.base_dtype, ragged.shape, inner, RAGGED)

    def to_tensor(self, value: Any) -> Tensor:
        return self._encoded(value, batched=False)

    def to_slices(self, value: Any) -> Tensor:
        return self._encoded(value, batched=True)

    def _encoded(self, value: Any, batched: bool) -> Tensor:
        ragged = self.converted(value)
        with name_scope("RaggedToVariant"):
            encoded: Tensor = ragged_tensor_to_variant(
                list(ragged.nested_row_splits), ragged.flat_values, batched_input=batched
            )
        return encoded

    def from_tensor(self, tensor: Tensor, component: Component) -> Any:
        rank, splits_dtype = component.inner
        with name_scope("RaggedFromVariant"):
            splits, values = ragged_tensor_from_variant(
                tensor,
                input_ragged_rank=-1 if rank else 0,
                output_ragged_rank=rank,
                Tvalues=component.dtype,
                Tsplits=splits_dtype,
            )
        if component.shape.rank is not None:
            values.set_shape([None, *component.shape.as_list()[rank + 1 :]] if rank else component.shape)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False) if rank else values

    def inner_of_batch(self, inner: RaggedInner) -> RaggedInner:
        return inner._replace(ragged_rank=inner.ragged_rank + 1)

    def inner_of_slice(self, inner: RaggedInner) -> RaggedInner:
        return inner._replace(ragged_rank=inner.ragged_rank - 1)


class ArrayInner(NamedTuple):
    """What else is known of a TensorArray."""

    dynamic_size: bool
    infer_shape: bool


class _Array(Kind):
    name = "array"
    value_class = TensorArray
    node_shape = TensorShape([])

    def belongs(self, value: Any) -> bool:
        return isinstance(value, TensorArray)

    def component(self, value: TensorArray) -> Component:
        inner = ArrayInner(value.dynamic_size, value._known.infer_shape)
        return Component(value.dtype, value.element_shape, inner, ARRAY)

    def to_tensor(self, value: TensorArray) -> Tensor:
        # The elements as a list: a TensorArray lives no longer than the step.
        listed: Tensor = tensor_list_from_tensor(value.stack(), sizes_of(value.element_shape))
        return listed

    def from_tensor(self, tensor: Tensor, component: Component) -> TensorArray:
        stacked = tensor_list_stack(tensor, sizes_of(component.shape), element_dtype=component.dtype, num_elements=-1)
        inner: ArrayInner = component.inner
        array = TensorArray(
            component.dtype,
            size=0,
            dynamic_size=True,
            clear_after_read=False,
            infer_shape=inner.infer_shape,
            element_shape=component.shape,
        )
        return array.unstack(stacked)


RAGGED = _Ragged()
ARRAY = _Array()
KINDS.extend((RAGGED, ARRAY))
