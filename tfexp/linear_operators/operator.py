"""What all linear operators can do, and how, where their structure says nothing better. Source: `tf.linalg.LinearOperator`.

An operator stands for matrices A [..., m, n]. A kind of operator gives its sizes (`_shape`, `_shape_tensor`) and one of
`_to_dense` and `_matmul`; each defaults to the other. The hints (`is_non_singular` and so on) are promises of who makes the
operator: True, False or None for unknown. They choose algorithms and are not checked, but for contradictions.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tfexp.core.dtypes import DType, as_dtype
from tfexp.core.shape import Dimension, TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import no_op
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches, rules
from tfexp.ops import array, check_compare, diagonal, linalg, reduce
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.elementwise_unary import exp, log
from tfexp.ops.matmul import matmul
from tfexp.ops.module import Module

# is_non_singular, is_self_adjoint, is_positive_definite, is_square
Hints = tuple[bool | None, bool | None, bool | None, bool | None]


class LinearOperator(Module):
    """The base class."""

    def __init__(
        self,
        dtype: Any,
        graph_parents: Sequence[Any] | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        if is_positive_definite and is_non_singular is False:
            raise ValueError("A positive definite matrix is always non-singular.")
        needs_square = is_non_singular or is_self_adjoint or is_positive_definite
        if needs_square and is_square is False:
            raise ValueError("A non-singular, self-adjoint or positive definite operator is always square.")
        self._dtype = None if dtype is None else as_dtype(dtype).base_dtype
        self._graph_parents = list(graph_parents or [])
        self._is_non_singular = True if is_positive_definite else is_non_singular
        self._is_self_adjoint, self._is_positive_definite = is_self_adjoint, is_positive_definite
        self._is_square = True if needs_square else is_square
        self._name = name or type(self).__name__

    # --- what it is ---------------------------------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """None for a kind of operator that names none and leaves its arguments alone."""
        return self._dtype  # type: ignore[return-value]  # what most kinds give

    @property
    def name(self) -> str:
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that it is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether its sides are equal: by its shape, or as was promised. ValueError where these differ."""
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        found = None if rows is None or columns is None else rows == columns
        if found is False and self._is_square:
            raise ValueError(f"Static shape {self.shape} of {self._name} is not square, which is_square promised")
        return self._is_square if found is None else found

    @property
    def shape(self) -> TensorShape:
        """[..., m, n], as far as it is known."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        whole = self.shape
        return TensorShape(None) if whole.rank is None else TensorShape(whole.as_list()[:-2])

    @property
    def tensor_rank(self) -> int | None:
        return self.shape.rank

    @property
    def range_dimension(self) -> Dimension:
        return Dimension(None) if self.shape.rank is None else Dimension(self.shape.as_list()[-2])

    @property
    def domain_dimension(self) -> Dimension:
        return Dimension(None) if self.shape.rank is None else Dimension(self.shape.as_list()[-1])

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        with self._scope(name):
            return self._dims()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        with self._scope(name):
            return self._batch()

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        with self._scope(name):
            return array.size(self._dims())

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        with self._scope(name):
            return self._side(-2)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        with self._scope(name):
            return self._side(-1)

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """A x, for matrices x [..., n, r] or another operator; of the adjoints of A or x where asked."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            return rules.matmul(left, x.adjoint() if adjoint_arg else x)
        with self._scope(name, [x]):
            x = self._argument(x, "x")
            self._check_sides(x, -2 if not adjoint_arg else -1, adjoint, "matmul")
            return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """A x, for vectors x [..., n]."""
        with self._scope(name, [x]):
            column = array.expand_dims(self._argument(x, "x"), -1)
            self._check_sides(column, -2, adjoint, "matvec")
            return array.squeeze(self._matmul(column, adjoint=adjoint), [-1])

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """X of A X = rhs, for square A. NotImplementedError where A is said not to be invertible."""
        self._check_solvable()
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            return rules.solve(left, rhs.adjoint() if adjoint_arg else rhs)
        with self._scope(name, [rhs]):
            rhs = self._argument(rhs, "rhs")
            self._check_sides(rhs, -2 if not adjoint_arg else -1, not adjoint, "solve")
            return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """x of A x = rhs, for vectors rhs [..., n]. Errors are those of `solve`."""
        with self._scope(name, [rhs]):
            column = array.expand_dims(self._argument(rhs, "rhs"), -1)
            self._check_sides(column, -2, not adjoint, "solvevec")
            self._check_solvable()
            return array.squeeze(self._solve(column, adjoint=adjoint), [-1])

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices themselves."""
        with self._scope(name):
            return self._to_dense()

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals [..., min(m, n)]."""
        with self._scope(name):
            return self._diag_part()

    def trace(self, name: str = "trace") -> Tensor:
        with self._scope(name):
            return self._trace()

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """A + x."""
        with self._scope(name, [x]):
            return self._add_to_tensor(self._argument(x, "x"))

    def determinant(self, name: str = "det") -> Tensor:
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")
        with self._scope(name):
            return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        if self.is_square is False:
            raise NotImplementedError("Determinant not implemented for an operator that is expected to not be square.")
        with self._scope(name):
            return self._log_abs_determinant()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the conjugate transposes."""
        if self.is_self_adjoint:
            return self
        with self._scope(name):
            return rules.adjoint(self)

    H = property(adjoint)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator of the inverses. ValueError where there are said to be none."""
        if self.is_square is False:
            raise ValueError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the Inverse: This operator represents a singular matrix.")
        with self._scope(name):
            return rules.inverse(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The operator of lower triangular L with A = L L^H, of one that is said to have it. ValueError otherwise."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        with self._scope(name):
            return rules.cholesky(self)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """An op that fails in the run where the least singular value is 0, as precise as the greatest is."""
        with self._scope(name):
            return self._assert_non_singular()

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        with self._scope(name):
            return self._assert_self_adjoint()

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """An op that fails in the run unless the matrices have Cholesky factors."""
        with self._scope(name):
            return self._assert_positive_definite()

    # --- how, where a kind does not say -------------------------------------------------------------------------------

    def _shape(self) -> TensorShape:
        raise NotImplementedError(f"{type(self).__name__} does not say its shape")

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} does not say its shape")

    def _to_dense(self) -> Tensor:
        identity = diagonal.eye(self._side(-1), batch_shape=self._batch(), dtype=self.dtype)
        dense = self._matmul(identity)
        dense.set_shape(self.shape)
        return dense

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul(self._to_dense(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _can_use_cholesky(self) -> bool | None:
        return self.is_self_adjoint and self.is_positive_definite

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = linalg.adjoint(rhs) if adjoint_arg else rhs
        if self._can_use_cholesky():
            factor, rhs = batches.together(linalg.cholesky(self._to_dense()), rhs)
            return linalg.cholesky_solve(factor, rhs)
        return batches.solve(self._to_dense(), rhs, adjoint)

    def _diag_part(self) -> Tensor:
        return diagonal.matrix_diag_part(self._to_dense())

    def _trace(self) -> Tensor:
        return reduce.reduce_sum(self._diag_part(), axis=-1)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        total: Tensor = self._to_dense() + x
        return total

    def _determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return exp(self._log_abs_determinant())
        return linalg.matrix_determinant(self._to_dense())

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            factor = diagonal.matrix_diag_part(linalg.cholesky(self._to_dense()))
            return cast(2.0 * reduce.reduce_sum(log(absolute(factor)), axis=[-1]), self.dtype)
        return linalg.slogdet(self._to_dense()).log_abs_determinant  # type: ignore[no-any-return]

    def _adjoint(self) -> LinearOperator:
        from tfexp.linear_operators.derived import LinearOperatorAdjoint

        return LinearOperatorAdjoint(self)

    def _inverse(self) -> LinearOperator:
        from tfexp.linear_operators.derived import LinearOperatorInversion

        return LinearOperatorInversion(self)

    def _cholesky(self) -> LinearOperator:
        from tfexp.linear_operators.dense import LinearOperatorLowerTriangular

        return LinearOperatorLowerTriangular(linalg.cholesky(self._to_dense()), is_non_singular=True)

    def _assert_non_singular(self) -> Any:
        if self.is_positive_definite and self.is_self_adjoint:
            return self._assert_positive_definite()
        singular_values = linalg.svd(self._to_dense(), compute_uv=False)
        side = reduce.reduce_max([100, self._side(-2), self._side(-1)])
        epsilon = cast(side, singular_values.dtype) * np.finfo(singular_values.dtype.as_numpy_dtype).eps
        least, most = reduce.reduce_min(singular_values, -1), reduce.reduce_max(singular_values, -1)
        return check_compare.assert_less(epsilon * most, least, message="Singular matrix up to precision epsilon.")

    def _assert_self_adjoint(self) -> Any:
        dense = self._to_dense()
        return check_compare.assert_near(dense, linalg.adjoint(dense), message="Matrix was not equal to its adjoint.")

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError(
                "assert_positive_definite is not implemented for operators that are not said to be self-adjoint"
            )
        factor = absolute(diagonal.matrix_diag_part(linalg.cholesky(self._to_dense())))
        return check_compare.assert_positive(factor, message="Matrix was not positive definite.")

    # --- what kinds have in common ------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _scope(self, name: str, values: Sequence[Any] = ()) -> Iterator[str]:
        with name_scope(self._name), name_scope(name, values=[*self._graph_parents, *values]) as scope:
            yield scope

    def _dims(self) -> Tensor:
        return batches.dimensions(self.shape, self._shape_tensor)

    def _batch(self) -> Tensor:
        def dynamic() -> Any:
            return self._dims()[:-2]  # type: ignore[index]  # bound by ops.overloads

        return batches.dimensions(self.batch_shape, dynamic)

    def _side(self, axis: int) -> Any:
        """How many rows (-2) or columns (-1): a number where it is known, else a scalar tensor."""
        known = self.range_dimension.value if axis == -2 else self.domain_dimension.value
        return convert_to_tensor(known) if known is not None else self._dims()[axis]  # type: ignore[index]

    def _argument(self, x: Any, name: str) -> Tensor:
        x = convert_to_tensor(x, dtype=None if hasattr(x, "dtype") else self.dtype, name=name)
        if x.dtype.base_dtype != self.dtype:
            raise TypeError(
                f"Expected argument to have dtype {self.dtype}, which {self._name} has. Found: {x.dtype} in tensor {x}"
            )
        return x

    def _check_sides(self, x: Tensor, axis: int, by_rows: bool, what: str) -> None:
        mine = self.range_dimension.value if by_rows else self.domain_dimension.value
        theirs = x.shape.as_list()[axis] if x.shape.rank is not None and x.shape.rank >= 2 else None
        if mine is not None and theirs is not None and mine != theirs:
            raise ValueError(
                f"Dimensions {mine} and {theirs} are not compatible: {what} of {self._name} {self.shape} and a tensor "
                f"{x.shape}"
            )

    def _check_solvable(self) -> None:
        if self.is_non_singular is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise NotImplementedError("Exact solve not implemented for an operator that is expected to not be square.")

    def _nothing_to_assert(self) -> Any:
        return no_op("assert_nothing")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r} shape={self.shape} dtype={self._dtype and self._dtype.name}>"


rules.adjoint.register(LinearOperator)(lambda operator: operator._adjoint())
rules.inverse.register(LinearOperator)(lambda operator: operator._inverse())
rules.cholesky.register(LinearOperator)(lambda operator: operator._cholesky())
rules.solve.register(LinearOperator, LinearOperator)(lambda operator, rhs: operator.inverse().matmul(rhs))


@rules.matmul.register(LinearOperator, LinearOperator)
def _(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    from tfexp.linear_operators.products import product

    return product(left, right)


def adjoint_of(x: Tensor, wanted: bool) -> Tensor:
    """The conjugate transpose of `x` if wanted, else `x`."""
    return linalg.adjoint(x) if wanted else x
