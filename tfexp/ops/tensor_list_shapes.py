"""What is known of the elements of TensorLists before they are there: the parts of the ops' shape rules.

A handle carries its elements' shape and dtype from op to op (`HandleShape`), so that what is read has a static shape.
"""

from __future__ import annotations

from tfexp.core.dtypes import DType
from tfexp.core.merged_shape import merged
from tfexp.core.shape import HandleShape, InputShape, TensorShape
from tfexp.ops.shape_rules import with_rank_at_most


def made(element_shape: TensorShape, element_dtype: DType) -> TensorShape:
    """The shape of a list's handle, a scalar, with what is known of the elements."""
    return HandleShape([], element_shape, element_dtype)


def changed(input_handle: InputShape, element_dtype: DType) -> TensorShape:
    """The same for a list that was made from another one: it keeps what is known of the elements."""
    return made(input_handle.of_handle, element_dtype)


def asked(element_shape: InputShape) -> TensorShape:
    """What an element_shape input says, as far as that is known. ValueError for what is no shape."""
    with_rank_at_most(element_shape, 1)
    value = element_shape.value
    if value is not None and value.ndim == 0:
        if value != -1:
            raise ValueError(f"Received an invalid shape scalar with a static value that is not '-1': {value}")
        return TensorShape(None)
    return element_shape.value_as_shape if element_shape.rank == 1 else TensorShape(None)


def check_elements(input_handle: InputShape, element_dtype: DType, message: str) -> None:
    """ValueError for a list that is known to hold another type; `message` has places for {held} and {given}."""
    held = input_handle.dtype_of_handle
    if held is not None and held is not element_dtype:
        raise ValueError(message.format(held=held._proto_name, given=element_dtype._proto_name))


def read(input_handle: InputShape, asked_shape: TensorShape, element_dtype: DType) -> TensorShape:
    """The shape of the elements that a list has, of those asked for. ValueError for those that it cannot have."""
    check_elements(
        input_handle,
        element_dtype,
        "Trying to read from list with wrong element dtype. List has type {held} but expected type {given}",
    )
    return merged(input_handle.of_handle, asked_shape)


def concat_shapes(element_shape: TensorShape) -> list[TensorShape]:
    """The shapes of elements joined along their first dimension, and of their lengths."""
    rows = TensorShape(None) if element_shape.rank is None else TensorShape([None]).concatenate(element_shape[1:])
    return [rows, TensorShape([None])]
