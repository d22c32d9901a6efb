"""Operators made of another one: its Adjoint, its Inversion, and LowRankUpdate. Source: `tf.linalg`, TF 1.15."""

from __future__ import annotations

import functools
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches
from tfexp.linear_operators.diagonals import LinearOperatorDiag, LinearOperatorIdentity
from tfexp.linear_operators.keeping import kept
from tfexp.linear_operators.operator import Hints, LinearOperator, adjoint_of
from tfexp.ops import array, array_join, broadcast_shapes, complex_numbers, linalg
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import exp
from tfexp.ops.matmul import matmul


def _hints(operator: LinearOperator, given: Hints) -> Hints:
    """The hints given, and the operator's own where none is. ValueError where one contradicts the operator's."""
    names = "is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"
    result = []
    for name, hint in zip(names, given, strict=True):
        own = getattr(operator, name)
        if hint is not None and own is not None and hint != own:
            raise ValueError(f"{name}={hint}, but the operator {operator.name} has {name}={own}")
        result.append(own if hint is None else hint)
    return result[0], result[1], result[2], result[3]


class LinearOperatorAdjoint(LinearOperator):
    """The conjugate transposes of an operator's matrices. Source: `tf.linalg.LinearOperatorAdjoint`."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        self._operator = operator
        hints = _hints(operator, (is_non_singular, is_self_adjoint, is_positive_definite, is_square))
        super().__init__(operator.dtype, operator.graph_parents, *hints, name=name or f"{operator.name}_adjoint")

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _shape(self) -> TensorShape:
        own = self._operator.shape
        return own if own.rank is None else TensorShape([*own.as_list()[:-2], own.as_list()[-1], own.as_list()[-2]])

    def _shape_tensor(self) -> Tensor:
        own: Any = self._operator._dims()
        return array_join.concat([own[:-2], [own[-1], own[-2]]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator._matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator._solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return linalg.adjoint(self._operator.to_dense())

    def _conjugated(self, value: Tensor) -> Tensor:
        return complex_numbers.conj(value) if self.dtype.is_complex else value

    def _diag_part(self) -> Tensor:
        return self._conjugated(self._operator.diag_part())

    def _determinant(self) -> Tensor:
        return self._conjugated(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _adjoint(self) -> LinearOperator:
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()


class LinearOperatorInversion(LinearOperator):
    """The inverses of an operator's matrices. Source: `tf.linalg.LinearOperatorInversion`."""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        if operator.is_square is False or is_square is False:
            raise ValueError("Inverse of a non-square operator is not defined")
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError(f"operator and supplied hints must be non-singular, {operator.name} is not")
        self._operator = operator
        hints = _hints(operator, (is_non_singular, is_self_adjoint, is_positive_definite, None))
        super().__init__(
            operator.dtype, operator.graph_parents, hints[0], hints[1], hints[2], True, name or f"{operator.name}_inv"
        )

    @property
    def operator(self) -> LinearOperator:
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Tensor:
        return self._operator._dims()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator._solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator._matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        found: Tensor = 1.0 / self._operator.determinant()
        return found

    def _log_abs_determinant(self) -> Tensor:
        found: Tensor = -1.0 * self._operator.log_abs_determinant()
        return found

    def _inverse(self) -> LinearOperator:
        return self._operator

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H, for an operator L [..., m, n], u [..., m, k], diag_update [..., k] (ones), v [..., n, k] (u).

    It is solved by Woodbury's identity, through the k x k matrices D^-1 + V^H L^-1 U, and its determinant found by the
    matrix determinant lemma. Source: `tf.linalg.LinearOperatorLowRankUpdate`.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ):
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError("Default diagonal is the identity, which is positive.  However user set it as not positive")
            is_diag_update_positive = True
        with name_scope(name):
            self._base = base_operator
            self._u = kept(u, "u")
            self._v = self._u if v is None else kept(v, "v")
            given = None if diag_update is None else kept(diag_update, "diag_update")
            self._update: LinearOperator
            if given is None:
                known = self._u.shape.with_rank_at_least(2)[-1].value
                size = array.shape(self._u)[-1] if known is None else known  # type: ignore[index]
                self._update = LinearOperatorIdentity(size, dtype=base_operator.dtype)
            else:
                self._update = LinearOperatorDiag(given, is_positive_definite=is_diag_update_positive)
        parents = [*base_operator.graph_parents, self._u, *self._update.graph_parents, *([self._v] if v is not None else [])]
        for part in parents:
            if part.dtype.base_dtype != base_operator.dtype:
                raise TypeError(
                    f"All parts must have the dtype of the base operator, {base_operator.dtype.name}; {part} has not"
                )
        if v is None and base_operator.is_self_adjoint and is_self_adjoint is None:
            is_self_adjoint = True
        if v is None and base_operator.is_positive_definite and is_diag_update_positive and is_positive_definite is None:
            is_positive_definite = True
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(base_operator.dtype, parents, *hints, name=name)
        self._is_update_positive = is_diag_update_positive
        self._check_sides_of_update()
        self._small_is_definite = bool(
            v is None and base_operator.is_positive_definite and base_operator.is_self_adjoint and is_diag_update_positive
        )

    def _check_sides_of_update(self) -> None:
        """ValueError where u, v and the update are known not to fit together."""
        self._shape()
        sides = [(self._u, -2, self._base.range_dimension), (self._v, -2, self._base.domain_dimension)]
        sides += [(self._u, -1, self._update.domain_dimension), (self._v, -1, self._update.domain_dimension)]
        for part, axis, wanted in sides:
            found = part.shape[axis] if part.shape.rank is not None and part.shape.rank >= 2 else None
            if found is not None and not wanted.is_compatible_with(found):
                raise ValueError(f"Dimensions {wanted} and {found} are not compatible: {part} in {self.name}")

    @property
    def is_diag_update_positive(self) -> bool | None:
        return self._is_update_positive

    @property
    def base_operator(self) -> LinearOperator:
        return self._base

    @property
    def u(self) -> Tensor:
        return self._u

    @property
    def v(self) -> Tensor:
        return self._v

    @property
    def diag_operator(self) -> LinearOperator:
        return self._update

    @property
    def diag_update(self) -> Tensor | None:
        return self._update.diag if isinstance(self._update, LinearOperatorDiag) else None

    def _shape(self) -> TensorShape:
        known = (self._update.batch_shape, batches.static_batch(self._u, 2), batches.static_batch(self._v, 2))
        whole = functools.reduce(broadcast_shapes.broadcast_static_shape, known, self._base.batch_shape)
        return whole.concatenate([self._base.range_dimension, self._base.domain_dimension])

    def _shape_tensor(self) -> Tensor:
        parts = (self._update._batch(), batches.batch_of(self._u, 2), batches.batch_of(self._v, 2))
        whole = functools.reduce(broadcast_shapes.broadcast_dynamic_shape, parts, self._base._batch())
        return array_join.concat([whole, self._base._dims()[-2:]], 0)  # type: ignore[index]

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = adjoint_of(x, adjoint_arg)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self._update.matmul(matmul(right, x, adjoint_a=True), adjoint=adjoint)
        total: Tensor = self._base.matmul(x, adjoint=adjoint) + matmul(left, inner)
        return total

    def _small(self) -> Tensor:
        """D^-1 + V^H L^-1 U."""
        inner = matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        return self._update.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        if not self._base.is_non_singular:
            return super()._solve(rhs, adjoint, adjoint_arg)
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        first = self._base.solve(adjoint_of(rhs, adjoint_arg), adjoint=adjoint)
        inner = batches.solve(self._small(), matmul(right, first, adjoint_a=True), adjoint)
        correction: Any = self._base.solve(matmul(left, inner), adjoint=adjoint)
        return first - correction  # type: ignore[no-any-return]

    def _determinant(self) -> Tensor:
        if self.is_positive_definite:
            return exp(self._log_abs_determinant())
        if not self._base.is_non_singular:
            return super()._determinant()
        small: Any = linalg.matrix_determinant(self._small())
        return small * self._update.determinant() * self._base.determinant()  # type: ignore[no-any-return]

    def _log_abs_determinant(self) -> Tensor:
        if not self._base.is_non_singular:
            return super()._log_abs_determinant()
        small = self._small()
        found: Any = linalg.logdet(small) if self._small_is_definite else linalg.slogdet(small).log_abs_determinant
        return cast(found, self.dtype) + self._update.log_abs_determinant() + self._base.log_abs_determinant()  # type: ignore[no-any-return]
