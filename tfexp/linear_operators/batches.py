"""Matrices [..., m, n] whose leading dimensions broadcast, and their sizes, known while the graph is built or not."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import constant
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, broadcast_shapes, linalg


def dimensions(shape: TensorShape, dynamic: Any) -> Tensor:
    """A shape as an int32 vector: a constant where it is known, else what `dynamic()` gives."""
    if shape.is_fully_defined():
        return constant(shape.as_list(), dtypes.int32, name="shape")
    result: Tensor = dynamic()
    return result


def batch_of(x: Tensor, event_dims: int) -> Tensor:
    """The leading dimensions of `x`, all but the last `event_dims`."""
    dims: Any = array.shape(x)
    return dims[:-event_dims] if event_dims else dims


def static_batch(x: Tensor, event_dims: int) -> TensorShape:
    return TensorShape(None) if x.shape.rank is None else TensorShape(x.shape.as_list()[: x.shape.rank - event_dims])


def repeated(x: Tensor, batch: Tensor, static: TensorShape, event_dims: int = 2) -> Tensor:
    """`x` [..., events] with its leading dimensions broadcast with `batch`."""
    own = static_batch(x, event_dims)
    if own.is_fully_defined() and static.is_fully_defined():
        whole = broadcast_shapes.broadcast_static_shape(own, static)
        if whole.as_list() == own.as_list():
            return x
    whole_dims = broadcast_shapes.broadcast_dynamic_shape(batch_of(x, event_dims), batch)
    events: Any = array.shape(x)
    return array_fill.broadcast_to(x, array_join.concat([whole_dims, events[-event_dims:]], 0))


def together(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Both matrices with the leading dimensions of either, as the ops that solve equations want them."""
    return repeated(a, batch_of(b, 2), static_batch(b, 2)), repeated(b, batch_of(a, 2), static_batch(a, 2))


def solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """X of matrix X = rhs, leading dimensions broadcast."""
    return linalg.matrix_solve(*together(matrix, rhs), adjoint=adjoint)


def triangular_solve(matrix: Tensor, rhs: Tensor, lower: bool = True, adjoint: bool = False) -> Tensor:
    """X of matrix X = rhs for a triangular matrix, leading dimensions broadcast."""
    matrix, rhs = together(matrix, rhs)
    return linalg.matrix_triangular_solve(matrix, rhs, lower=lower, adjoint=adjoint)
