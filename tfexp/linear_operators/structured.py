"""Operators of matrices given by less than themselves: Householder reflections and Toeplitz matrices."""

from __future__ import annotations

from typing import Any

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches
from tfexp.linear_operators.keeping import kept
from tfexp.linear_operators.operator import LinearOperator, adjoint_of
from tfexp.ops import array, array_fill, array_gather, array_join, array_order, broadcast_shapes, linalg
from tfexp.ops.cast import cast
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_norm import l2_normalize


class LinearOperatorHouseholder(LinearOperator):
    """Reflections I - 2 v v^H, v = reflection_axis [..., n] made a unit vector. `tf.linalg.LinearOperatorHouseholder`."""

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ):
        with name_scope(name, values=[reflection_axis]):
            self._axis = kept(reflection_axis, "reflection_axis")
        if self._axis.shape.rank == 0:
            raise ValueError(f"Argument reflection_axis must have at least 1 dimension.  Found: {self._axis}")
        if is_positive_definite:
            raise ValueError("A Householder operator is always non-positive definite.")
        hints = {"self adjoint": is_self_adjoint, "square": is_square, "non-singular": is_non_singular}
        for hint, given in hints.items():
            if given is False:
                raise ValueError(f"A Householder operator is always {hint}.")
        super().__init__(self._axis.dtype, [self._axis], is_non_singular, True, False, True, name)

    @property
    def reflection_axis(self) -> Tensor:
        return self._axis

    def _shape(self) -> TensorShape:
        own = self._axis.shape
        return own if own.rank is None else own.concatenate(own[-1:])

    def _shape_tensor(self) -> Tensor:
        own: Any = array.shape(self._axis)
        return array_join.concat([own, own[-1:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = adjoint_of(x, adjoint_arg)
        unit = array.expand_dims(l2_normalize(self._axis, axis=-1), -1)
        along: Any = matmul(unit, matmul(unit, x, adjoint_a=True))
        return x - 2 * along  # type: ignore[no-any-return]

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _trace(self) -> Tensor:
        size: Any = cast(self._side(-1), self.dtype)
        return (size - 2) * array_fill.ones(self._batch(), dtype=self.dtype)  # type: ignore[no-any-return]

    def _determinant(self) -> Tensor:
        return -1 * array_fill.ones(self._batch(), dtype=self.dtype)  # type: ignore[operator]

    def _log_abs_determinant(self) -> Tensor:
        return array_fill.zeros(self._batch(), dtype=self.dtype)

    def _inverse(self) -> LinearOperator:
        return self

    def _assert_non_singular(self) -> Any:
        return self._nothing_to_assert()

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError(None, None, f"Householder operators are always non-positive definite: {self.name}")


class LinearOperatorToeplitz(LinearOperator):
    """Matrices with equal elements along each diagonal: first column col [..., n], first row row [..., n].

    The element that both have is col's. Source: `tf.linalg.LinearOperatorToeplitz`.
    """

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ):
        with name_scope(name, values=[col, row]):
            self._col = convert_to_tensor(col, name="col")
            self._row = convert_to_tensor(row, name="row")
        for what, tensor in (("row", self._row), ("col", self._col)):
            if tensor.shape.rank == 0:
                raise ValueError(f"Argument {what} must have at least 1 dimension.  Found: {tensor}")
        sizes = [tensor.shape[-1] for tensor in (self._row, self._col) if tensor.shape.rank is not None]
        if len(sizes) == 2 and not sizes[0].is_compatible_with(sizes[1]):
            raise ValueError(
                f"Expected square matrix, got row and col with mismatched dimensions: {self._row} and {self._col}"
            )
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        hints = is_non_singular, is_self_adjoint, is_positive_definite, True
        super().__init__(self._row.dtype, [self._row, self._col], *hints, name=name)

    @property
    def col(self) -> Tensor:
        return self._col

    @property
    def row(self) -> Tensor:
        return self._row

    def _shape(self) -> TensorShape:
        whole = broadcast_shapes.broadcast_static_shape(self._row.shape, self._col.shape)
        return whole if whole.rank is None else whole.concatenate(whole[-1:])

    def _shape_tensor(self) -> Tensor:
        whole: Any = broadcast_shapes.broadcast_dynamic_shape(array.shape(self._row), array.shape(self._col))
        return array_join.concat([whole, whole[-1:]], 0)

    def _to_dense(self) -> Tensor:
        # All elements, from the lowest diagonal to the highest; matrix (i, j) has the one of diagonal j - i.
        size: Any = self._side(-1)
        batch, known = self._batch(), self.batch_shape
        col = batches.repeated(self._col, batch, known, event_dims=1)
        row: Any = batches.repeated(self._row, batch, known, event_dims=1)
        elements = array_join.concat([array_order.reverse(col, [-1]), row[..., 1:]], -1)
        places: Any = array_fill.range(size)
        which = array.expand_dims(places, 0) - array.expand_dims(places, 1) + size - 1
        return array_gather.gather(elements, which, axis=-1)

    def _diag_part(self) -> Tensor:
        first: Any = self._col
        ones = array_fill.ones([self._side(-1)], dtype=self.dtype)
        return batches.repeated(first[..., :1] * ones, self._batch(), self.batch_shape, event_dims=1)

    def _adjoint(self) -> LinearOperator:
        dense = linalg.adjoint(self._to_dense())
        first: Any = dense
        return LinearOperatorToeplitz(first[..., :, 0], first[..., 0, :], self.is_non_singular)
