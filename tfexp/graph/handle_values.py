"""Nodes that tell of the variable behind a handle: its shape, and zeros like it."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import constant
from tfexp.graph.handles import handle_dtype, handle_shape
from tfexp.graph.tensor import Tensor
from tfexp.graph.zeros import filled_with_zeros


def variable_shape(handle: Tensor, out_type: Any = dtypes.int32) -> Tensor:
    """The shape of a handle's variable as a vector: a constant where it is known."""
    shape = handle_shape(handle)
    if shape.is_fully_defined():
        return constant(shape.as_list(), dtype=out_type, shape=[shape.rank])
    result: Tensor = get_op("VariableShape")(handle, out_type=out_type)
    return result


def zeros_like_variable(handle: Tensor, dims: Tensor | None = None) -> Tensor:
    """Zeros in the shape of a handle's variable (`dims`, if there already). TypeError where its type is not known."""
    dtype = handle_dtype(handle)
    if dtype is None:
        raise TypeError(f"{handle.name} is the handle of something whose type is not known: there are no zeros like it")
    return filled_with_zeros(variable_shape(handle) if dims is None else dims, dtype)
