"""Zeros of a shape, in the nodes that `tf.zeros` and `tf.zeros_like` of TF 1.15 make."""

from __future__ import annotations

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor

# Tensors of one value that have so many elements and more are filled at run time, not written into the graph.
LARGE = 1000


def constant_zeros(shape: TensorShape, dtype: dtypes.DType, name: str = "zeros") -> Tensor:
    """Zeros of a known shape."""
    dims = shape.as_list()
    if (shape.num_elements() or 0) < LARGE:
        return constant(0, dtype=dtype, shape=dims, name=name)
    with name_scope(name) as scope:
        size = constant(dims, dtype=dtypes.int32, name="shape_as_tensor")
        filled: Tensor = get_op("Fill")(size, constant(0, dtype=dtype, name="Const"), name=scope)
        return filled


def filled_with_zeros(dims: Tensor, dtype: dtypes.DType) -> Tensor:
    """Zeros of the shape `dims`."""
    with name_scope("zeros") as scope:
        filled: Tensor = get_op("Fill")(dims, constant(0, dtype=dtype.base_dtype, name="Const"), name=scope)
        return filled
