"""Operators of matrices that are given whole: `LinearOperatorFullMatrix` and `LinearOperatorLowerTriangular`."""

from __future__ import annotations

from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches
from tfexp.linear_operators.keeping import kept
from tfexp.linear_operators.operator import LinearOperator, adjoint_of
from tfexp.ops import array, check_compare, diagonal, reduce
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.elementwise_unary import log
from tfexp.ops.matmul import matmul


class LinearOperatorFullMatrix(LinearOperator):
    """matrix [..., m, n]. Source: `tf.linalg.LinearOperatorFullMatrix`."""

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ):
        with name_scope(name, values=[matrix]):
            self._matrix = _checked(kept(matrix, "matrix"), "matrix")
        super().__init__(
            self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return array.shape(self._matrix)

    def _to_dense(self) -> Tensor:
        return convert_to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of tril [..., n, n]. Source: `tf.linalg.LinearOperatorLowerTriangular`."""

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ):
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        with name_scope(name, values=[tril]):
            self._tril = _checked(kept(tril, "tril"), "tril")
        super().__init__(self._tril.dtype, [self._tril], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return array.shape(self._tril)

    def _to_dense(self) -> Tensor:
        return diagonal.matrix_band_part(self._tril, -1, 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return batches.triangular_solve(self._to_dense(), adjoint_of(rhs, adjoint_arg), adjoint=adjoint)

    def _diag_part(self) -> Tensor:
        return diagonal.matrix_diag_part(self._tril)

    def _determinant(self) -> Tensor:
        return reduce.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return reduce.reduce_sum(log(absolute(self._diag_part())), axis=[-1])

    def _assert_non_singular(self) -> Any:
        smallest = absolute(self._diag_part())
        return check_compare.assert_positive(smallest, message="Singular operator:  Diagonal contained zero values.")


def _checked(matrix: Any, name: str) -> Any:
    kind = matrix.dtype.base_dtype
    if not (kind.is_floating or kind.is_complex):
        raise TypeError(f"Argument {name} must be of a floating or complex type. Found: {kind.name}")
    if matrix.shape.rank is not None and matrix.shape.rank < 2:
        raise ValueError(f"Argument {name} must have at least 2 dimensions. Found: {matrix.shape}")
    return matrix
