"""Operators with nothing beside their diagonals: Diag, Identity, ScaledIdentity, Zeros."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.core.errors import InvalidArgumentError
from tfexp.core.shape import TensorShape
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches, rules
from tfexp.linear_operators.composed import LinearOperatorComposition
from tfexp.linear_operators.keeping import kept
from tfexp.linear_operators.operator import Hints, LinearOperator, adjoint_of
from tfexp.ops import array, array_fill, array_join, check_compare, complex_numbers, diagonal, reduce
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import abs as absolute
from tfexp.ops.elementwise_unary import log, sqrt


class LinearOperatorDiag(LinearOperator):
    """diag [..., n] on the diagonal. Source: `tf.linalg.LinearOperatorDiag`."""

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ):
        with name_scope(name, values=[diag]):
            self._diag = kept(diag, "diag")
        if self._diag.shape.rank == 0:
            raise ValueError(f"Argument diag must have at least 1 dimension. Found: {self._diag}")
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(self._diag.dtype, [self._diag], is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    @property
    def diag(self) -> Tensor:
        return self._diag

    def _shape(self) -> TensorShape:
        own = self._diag.shape
        return own if own.rank is None else own.concatenate(own[-1:])

    def _shape_tensor(self) -> Tensor:
        own: Any = array.shape(self._diag)
        return array_join.concat([own, own[-1:]], 0)

    def _factors(self, adjoint: bool) -> Tensor:
        return array.expand_dims(complex_numbers.conj(self._diag) if adjoint else self._diag, -1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._factors(adjoint) * adjoint_of(x, adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return adjoint_of(rhs, adjoint_arg) / self._factors(adjoint)

    def _to_dense(self) -> Tensor:
        return diagonal.matrix_diag(self._diag)

    def _diag_part(self) -> Tensor:
        return convert_to_tensor(self._diag)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        whole = batches.repeated(x, self._batch(), self.batch_shape)
        return diagonal.matrix_set_diag(whole, diagonal.matrix_diag_part(whole) + self._diag)  # type: ignore[operator]

    def _determinant(self) -> Tensor:
        return reduce.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce.reduce_sum(log(absolute(self._diag)), axis=[-1]), self.dtype)

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(
            complex_numbers.conj(self._diag), self.is_non_singular, self.is_self_adjoint, self.is_positive_definite
        )

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1.0 / self._diag, True, self.is_self_adjoint, self.is_positive_definite)

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(sqrt(self._diag), True, True, True)

    def _assert_non_singular(self) -> Any:
        return check_compare.assert_positive(
            absolute(self._diag), message="Singular operator:  Diagonal contained zero values."
        )

    def _assert_positive_definite(self) -> Any:
        real = complex_numbers.real(self._diag) if self.dtype.is_complex else self._diag
        return check_compare.assert_positive(
            real, message="This diagonal operator contained non-positive values.  It was not positive definite."
        )

    def _assert_self_adjoint(self) -> Any:
        if not self.dtype.is_complex:
            return self._nothing_to_assert()
        imaginary = complex_numbers.imag(self._diag)
        message = "This diagonal operator contained non-zero imaginary values.  Thus it was not self-adjoint."
        return check_compare.assert_equal(imaginary, array_fill.zeros_like(imaginary), message=message)


class _OfSize(LinearOperator):
    """What is the same in every place of its diagonal, m x n for numbers or scalar tensors m and n."""

    def __init__(self, rows: Any, columns: Any, batch_shape: Any, dtype: Any, hints: Hints, checked: bool, name: str):
        with name_scope(name):
            self._rows = self._size("num_rows", rows, 0, checked)
            self._columns = self._rows if columns is None else self._size("num_columns", columns, 0, checked)
            given = convert_to_tensor([], dtypes.int32) if batch_shape is None else batch_shape
            self._batch_dims = self._size("batch_shape", given, 1, checked)
        self._is_checked = checked
        super().__init__(dtype, [], *hints, name=name)

    @staticmethod
    def _size(what: str, size: Any, rank: int, checked: bool) -> Tensor:
        """An argument as a tensor of that rank, without negative elements; checked in runs, too, where that is wanted."""
        if hasattr(size, "assign"):
            raise TypeError(f"Argument {what} cannot be reference type. Found: {type(size)}")
        size = convert_to_tensor(size, name=f"{what}_arg" if rank else what, preferred_dtype=dtypes.int32)
        if not size.dtype.is_integer:
            raise TypeError(f"Argument {what} must be integer type.  Found: {size}")
        if size.shape.rank not in (None, rank):
            raise ValueError(f"Argument {what} must be a {rank}-D Tensor.  Found: {size}")
        known = static_value(size)
        if known is not None and (known < 0).any():
            raise ValueError(f"Argument {what} must be non-negative.  Found: {known}")
        if known is None and checked:
            checks = [
                check_compare.assert_rank(size, rank, message=f"Argument {what} must be a {rank}-D Tensor."),
                check_compare.assert_non_negative(size, message=f"Argument {what} must be non-negative."),
            ]
            size = with_dependencies(checks, size)
        return cast(size, dtypes.int32)

    def _shape(self) -> TensorShape:
        known = static_value(self._batch_dims)
        sizes = [None if (n := static_value(t)) is None else int(n) for t in (self._rows, self._columns)]
        if known is None and not self._batch_dims.shape.is_fully_defined():
            return TensorShape(None)
        leading = TensorShape([None] * (self._batch_dims.shape[0].value or 0) if known is None else known.tolist())
        return leading.concatenate(sizes)

    def _shape_tensor(self) -> Tensor:
        return array_join.concat([self._batch_dims, array_join.stack([self._rows, self._columns])], 0)

    def _matched(self, x: Tensor, axis: int = -1) -> Tensor:
        """`x`, whose rows are checked in the run to be as many as this operator has along `axis`, where that is wanted."""
        if not self._is_checked:
            return x
        message = "Dimensions are not compatible: the argument must have as many rows as this operator"
        return with_dependencies([check_compare.assert_equal(array.shape(x)[-2], self._side(axis), message=message)], x)

    def _broadcast(self, x: Tensor) -> Tensor:
        return batches.repeated(x, self._batch(), self.batch_shape)


class LinearOperatorIdentity(_OfSize):
    """Identities n x n, `batch_shape` of them. Source: `tf.linalg.LinearOperatorIdentity`."""

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ):
        hints = {"self adjoint": is_self_adjoint, "square": is_square}
        hints |= {"non-singular": is_non_singular, "positive-definite": is_positive_definite}
        for hint, given in hints.items():
            if given is False:
                raise ValueError(f"An identity operator is always {hint}.")
        kind = dtype or dtypes.float32
        super().__init__(num_rows, None, batch_shape, kind, (True, True, True, True), assert_proper_shapes, name)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._broadcast(self._matched(adjoint_of(x, adjoint_arg)))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _to_dense(self) -> Tensor:
        return diagonal.eye(self._side(-1), batch_shape=self._batch(), dtype=self.dtype)

    def _diag_part(self) -> Tensor:
        return array_fill.ones(array_join.concat([self._batch(), [self._side(-1)]], 0), dtype=self.dtype)

    def _determinant(self) -> Tensor:
        return array_fill.ones(self._batch(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return array_fill.zeros(self._batch(), dtype=self.dtype)

    def _inverse(self) -> LinearOperator:
        return self

    _cholesky = _inverse

    def _assert_non_singular(self) -> Any:
        return self._nothing_to_assert()

    _assert_self_adjoint = _assert_positive_definite = _assert_non_singular


rules.solve.register(LinearOperatorIdentity, LinearOperator)(lambda operator, rhs: rhs)


@rules.solve.register(LinearOperator, LinearOperatorIdentity)
def _(operator: LinearOperator, rhs: LinearOperatorIdentity) -> LinearOperator:
    # A product leaves identities out, and would lose their batch.
    return LinearOperatorComposition([operator.inverse(), rhs])


class LinearOperatorScaledIdentity(_OfSize):
    """multiplier [...] times the identity n x n. Source: `tf.linalg.LinearOperatorScaledIdentity`."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ):
        self._multiplier = convert_to_tensor(multiplier, name="multiplier")
        if is_square is False:
            raise ValueError("A ScaledIdentity operator is always square.")
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        hints = is_non_singular, is_self_adjoint, is_positive_definite, True
        known = self._multiplier.shape
        batch = known.as_list() if known.is_fully_defined() else array.shape(self._multiplier)
        super().__init__(num_rows, None, batch, self._multiplier.dtype, hints, assert_proper_shapes, name)

    @property
    def multiplier(self) -> Tensor:
        return self._multiplier

    def _factor(self, dims: int, adjoint: bool = False) -> Tensor:
        factor = complex_numbers.conj(self._multiplier) if adjoint else self._multiplier
        for _ in range(dims):
            factor = array.expand_dims(factor, -1)
        return factor

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matched(adjoint_of(x, adjoint_arg)) * self._factor(2, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matched(adjoint_of(rhs, adjoint_arg)) / self._factor(2, adjoint)

    def _to_dense(self) -> Tensor:
        return diagonal.eye(self._side(-1), dtype=self.dtype) * self._factor(2)

    def _diag_part(self) -> Tensor:
        return array_fill.ones([self._side(-1)], dtype=self.dtype) * self._factor(1)  # type: ignore[operator]

    def _determinant(self) -> Tensor:
        return self._multiplier ** cast(self._side(-1), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        size = absolute(self._multiplier)
        return cast(self._side(-1), size.dtype) * log(size)  # type: ignore[operator]

    def _like(self, multiplier: Tensor) -> LinearOperator:
        hints = self.is_non_singular, self.is_self_adjoint, self.is_positive_definite
        return LinearOperatorScaledIdentity(self._rows, multiplier, *hints)

    def _adjoint(self) -> LinearOperator:
        return self._like(complex_numbers.conj(self._multiplier))

    def _inverse(self) -> LinearOperator:
        return self._like(1.0 / self._multiplier)

    def _cholesky(self) -> LinearOperator:
        return self._like(sqrt(self._multiplier))

    def _assert_non_singular(self) -> Any:
        return check_compare.assert_positive(absolute(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Any:
        real = complex_numbers.real(self._multiplier)
        return check_compare.assert_positive(real, message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        if not self.dtype.is_complex:
            return self._nothing_to_assert()
        imaginary = complex_numbers.imag(self._multiplier)
        zeros = array_fill.zeros_like(imaginary)
        return check_compare.assert_equal(zeros, imaginary, message="LinearOperator was not self-adjoint")


class LinearOperatorZeros(_OfSize):
    """Zeros m x n (n as m by default), `batch_shape` of them. Source: `tf.linalg.LinearOperatorZeros`."""

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ):
        if is_non_singular:
            raise ValueError("A zero operator is always singular, hence never non-singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always non-positive definite.")
        if is_self_adjoint is False and is_square:
            raise ValueError("A zero operator is always self-adjoint.")
        hints = False, bool(is_square), False, is_square
        kind = dtype or dtypes.float32
        super().__init__(num_rows, num_columns, batch_shape, kind, hints, assert_proper_shapes, name)
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        if is_square and None not in (rows, columns) and rows != columns:
            raise ValueError(f"{name} initialized as is_square=True, but got num_rows({rows}) != num_columns({columns})")

    def _to_dense(self) -> Tensor:
        return array_fill.zeros(self._dims(), dtype=self.dtype)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return super()._matmul(self._matched(adjoint_of(x, adjoint_arg), -2 if adjoint else -1), adjoint)

    def _diag_part(self) -> Tensor:
        return diagonal.matrix_diag_part(self._to_dense())

    def _trace(self) -> Tensor:
        return array_fill.zeros(self._batch(), dtype=self.dtype)

    _determinant = _trace

    def _log_abs_determinant(self) -> Tensor:
        return cast(log(array_fill.zeros(self._batch(), dtype=self.dtype.real_dtype)), self.dtype)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self._broadcast(x)

    def _adjoint(self) -> LinearOperator:
        hints: dict[str, Any] = {"is_square": self._is_square, "is_self_adjoint": self.is_self_adjoint}
        return LinearOperatorZeros(self._columns, self._rows, self._batch_dims, self.dtype, **hints)

    def _assert_non_singular(self) -> Any:
        raise InvalidArgumentError(None, None, f"Zero operators are always non-invertible: {self.name}")

    def _assert_positive_definite(self) -> Any:
        raise InvalidArgumentError(None, None, f"Zero operators are always non-positive definite: {self.name}")

    def _assert_self_adjoint(self) -> Any:
        return self._nothing_to_assert()
