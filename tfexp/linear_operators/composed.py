"""Operators made of several: Composition (a product), Kronecker, BlockDiag. Source: `tf.linalg`, TF 1.15."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators import batches
from tfexp.linear_operators.operator import LinearOperator, adjoint_of
from tfexp.ops import array, array_fill, array_join, array_split, broadcast_shapes
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import add


def _checked(operators: Sequence[LinearOperator]) -> list[LinearOperator]:
    operators = list(operators)
    if not operators:
        raise ValueError("Expected a non-empty list of operators.")
    kinds = {operator.dtype for operator in operators}
    if len(kinds) > 1:
        found = ", ".join(f"{operator.name} {operator.dtype.name}" for operator in operators)
        raise TypeError(f"Expected all operators to have the same dtype.  Found {found}")
    return operators


def _all(operators: Sequence[LinearOperator], hint: str) -> bool | None:
    """True where all promise it, else unknown."""
    return True if all(getattr(operator, hint) for operator in operators) else None


class _Several(LinearOperator):
    """What the operators made of a list have in common."""

    _JOINED = "The combination"

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None,
        is_self_adjoint: bool | None,
        is_positive_definite: bool | None,
        is_square: bool | None,
        name: str | None,
        joint: str,
    ):
        self._operators = _checked(operators)
        if is_non_singular is False and _all(self._operators, "is_non_singular"):
            raise ValueError(f"{self._JOINED} of non-singular operators is always non-singular.")
        super().__init__(
            self._operators[0].dtype,
            [parent for operator in self._operators for parent in operator.graph_parents],
            is_non_singular if is_non_singular is not None else _all(self._operators, "is_non_singular"),
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name or joint.join(operator.name for operator in self._operators),
        )

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

    def _joint_batch(self) -> TensorShape:
        return functools.reduce(broadcast_shapes.broadcast_static_shape, (o.batch_shape for o in self._operators))

    def _joint_batch_tensor(self) -> Tensor:
        return functools.reduce(broadcast_shapes.broadcast_dynamic_shape, (o._batch() for o in self._operators))

    def _sides(self, axis: int) -> list[int | None]:
        return [(o.range_dimension if axis == -2 else o.domain_dimension).value for o in self._operators]


class LinearOperatorComposition(_Several):
    """The product A_1 A_2 ... of operators. Source: `tf.linalg.LinearOperatorComposition`."""

    _JOINED = "The composition"

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        operators = list(operators)
        for left, right in itertools.pairwise(operators):
            if not left.domain_dimension.is_compatible_with(right.range_dimension):
                raise ValueError(
                    f"Dimensions {left.domain_dimension} and {right.range_dimension} are not compatible: {left.name} "
                    f"{left.shape} and {right.name} {right.shape} cannot be multiplied"
                )
        hints = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(operators, *hints, name, "_o_")

    def _shape(self) -> TensorShape:
        return self._joint_batch().concatenate([self._sides(-2)[0], self._sides(-1)[-1]])

    def _shape_tensor(self) -> Tensor:
        sides = array_join.stack([self._operators[0]._side(-2), self._operators[-1]._side(-1)])
        return array_join.concat([self._joint_batch_tensor(), sides], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        result = adjoint_of(x, adjoint_arg)
        for operator in self._operators if adjoint else reversed(self._operators):
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        result = adjoint_of(rhs, adjoint_arg)
        for operator in reversed(self._operators) if adjoint else self._operators:
            result = operator.solve(result, adjoint=adjoint)
        return result

    def _of_factors(self, ask: Callable[[LinearOperator], Tensor], combine: Callable[[Tensor, Tensor], Tensor]) -> Any:
        """`ask` of all factors combined; None where one of them is not known to be square."""
        if not all(operator.is_square for operator in self._operators):
            return None
        return functools.reduce(combine, map(ask, self._operators))

    def _determinant(self) -> Tensor:
        found = self._of_factors(lambda o: o.determinant(), lambda a, b: a * b)  # type: ignore[operator]
        return super()._determinant() if found is None else found

    def _log_abs_determinant(self) -> Tensor:
        found = self._of_factors(lambda o: o.log_abs_determinant(), add)
        return super()._log_abs_determinant() if found is None else found

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorComposition([operator.adjoint() for operator in reversed(self._operators)])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorComposition([operator.inverse() for operator in reversed(self._operators)])


class LinearOperatorKronecker(_Several):
    """The Kronecker product of operators. Source: `tf.linalg.LinearOperatorKronecker`.

    The last operator works on the fastest index: (A (x) B) vec(X) = vec(A X B^T) for X whose rows follow one another.
    """

    _JOINED = "The Kronecker product"

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ):
        adjoint = is_self_adjoint if is_self_adjoint is not None else _all(operators, "is_self_adjoint")
        definite = is_positive_definite if is_positive_definite is not None else _all(operators, "is_positive_definite")
        square = is_square if is_square is not None else _all(operators, "is_square")
        super().__init__(operators, is_non_singular, adjoint, definite, square, name, "_x_")

    def _shape(self) -> TensorShape:
        return self._joint_batch().concatenate([_product(self._sides(-2)), _product(self._sides(-1))])

    def _shape_tensor(self) -> Tensor:
        sides = [functools.reduce(lambda a, b: a * b, (o._side(axis) for o in self._operators)) for axis in (-2, -1)]
        return array_join.concat([self._joint_batch_tensor(), array_join.stack(sides)], 0)

    def _each(self, x: Tensor, axis: int, apply: Callable[[LinearOperator, Tensor], Tensor]) -> Tensor:
        """`apply` of every operator along its part of the rows of `x`, whose sizes are the operators' along `axis`."""
        operators = self._operators
        x = batches.repeated(x, self._batch(), self.batch_shape)
        whole: Any = array.shape(x)
        lead, columns = whole[:-2], whole[-1:]
        # One operator's index stands first among the rows, is worked on, and goes to their end: at last all are in order.
        for operator in operators:
            size = operator._side(axis)
            x = array.reshape(x, array_join.concat([lead, [size, -1]], 0))
            x = apply(operator, x)
            rest: Any = array.shape(x)
            inner = array.reshape(x, array_join.concat([lead, rest[-2:-1], [-1], columns], 0))
            inner = _swapped(inner)
            x = array.reshape(inner, array_join.concat([lead, [-1], columns], 0))
        return x

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = adjoint_of(x, adjoint_arg)
        result = self._each(x, -2 if adjoint else -1, lambda o, part: o.matmul(part, adjoint=adjoint))
        return self._with_rows(result, x, -1 if adjoint else -2)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = adjoint_of(rhs, adjoint_arg)
        result = self._each(rhs, -1 if adjoint else -2, lambda o, part: o.solve(part, adjoint=adjoint))
        return self._with_rows(result, rhs, -2 if adjoint else -1)

    def _with_rows(self, result: Tensor, x: Tensor, axis: int) -> Tensor:
        if x.shape.rank is not None:
            leading = broadcast_shapes.broadcast_static_shape(self.batch_shape, batches.static_batch(x, 2))
            rows = (self.range_dimension if axis == -2 else self.domain_dimension).value
            result.set_shape(leading.concatenate([rows, x.shape.as_list()[-1]]))
        return result

    def _weighted(self, ask: Callable[[LinearOperator, Any], Tensor]) -> list[Tensor]:
        """`ask` of every operator and of how often its determinant counts."""
        total = self._side(-1)
        return [ask(operator, total // operator._side(-1)) for operator in self._operators]

    def _determinant(self) -> Tensor:
        powers = self._weighted(lambda o, times: o.determinant() ** cast(times, self.dtype))
        return functools.reduce(lambda a, b: a * b, powers)

    def _log_abs_determinant(self) -> Tensor:
        return functools.reduce(add, self._weighted(lambda o, times: o.log_abs_determinant() * cast(times, self.dtype)))

    def _trace(self) -> Tensor:
        return functools.reduce(lambda a, b: a * b, (operator.trace() for operator in self._operators))

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([operator.adjoint() for operator in self._operators])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([operator.inverse() for operator in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([operator.cholesky() for operator in self._operators])


def _product(sizes: Sequence[int | None]) -> int | None:
    return functools.reduce(lambda a, b: None if a is None or b is None else a * b, sizes)


def _swapped(x: Tensor) -> Tensor:
    """`x` [..., a, b, c] as [..., b, a, c]."""
    rank: Any = array.rank(x)
    order = array_join.concat([array_fill.range(rank - 3), [rank - 2, rank - 3, rank - 1]], 0)
    return transpose(x, order)


class LinearOperatorBlockDiag(_Several):
    """Operators one after the other down the diagonal. Source: `tf.linalg.LinearOperatorBlockDiag`."""

    _JOINED = "The direct sum"

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ):
        adjoint = is_self_adjoint if is_self_adjoint is not None else _all(operators, "is_self_adjoint")
        definite = is_positive_definite if is_positive_definite is not None else _all(operators, "is_positive_definite")
        if adjoint is False and _all(operators, "is_self_adjoint"):
            raise ValueError(f"{self._JOINED} of self-adjoint operators is always self-adjoint.")
        if definite is False and _all(operators, "is_positive_definite"):
            raise ValueError(f"{self._JOINED} of positive definite operators is always positive definite.")
        if any(operator.is_square is False for operator in operators):
            raise ValueError("Can only represent a block diagonal of square blocks.")
        super().__init__(operators, is_non_singular, adjoint, definite, is_square, name, "_ds_")

    def _shape(self) -> TensorShape:
        sides = [None if None in found else sum(n or 0 for n in found) for found in (self._sides(-2), self._sides(-1))]
        return self._joint_batch().concatenate(sides)

    def _shape_tensor(self) -> Tensor:
        sides = [functools.reduce(add, (o._side(axis) for o in self._operators)) for axis in (-2, -1)]
        return array_join.concat([self._joint_batch_tensor(), array_join.stack(sides)], 0)

    def _each(self, x: Tensor, apply: Callable[[LinearOperator, Tensor], Tensor]) -> Tensor:
        x = batches.repeated(x, self._batch(), self.batch_shape)
        parts = array_split.split(
            x, array_join.stack([o._side(-1) for o in self._operators]), axis=-2, num=len(self._operators)
        )
        return array_join.concat([apply(o, part) for o, part in zip(self._operators, parts, strict=True)], -2)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._each(adjoint_of(x, adjoint_arg), lambda o, part: o.matmul(part, adjoint=adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._each(adjoint_of(rhs, adjoint_arg), lambda o, part: o.solve(part, adjoint=adjoint))

    def _diag_part(self) -> Tensor:
        batch, known = self._batch(), self.batch_shape
        parts = [batches.repeated(operator.diag_part(), batch, known, event_dims=1) for operator in self._operators]
        return array_join.concat(parts, -1)

    def _trace(self) -> Tensor:
        return functools.reduce(add, (operator.trace() for operator in self._operators))

    def _determinant(self) -> Tensor:
        return functools.reduce(lambda a, b: a * b, (operator.determinant() for operator in self._operators))

    def _log_abs_determinant(self) -> Tensor:
        return functools.reduce(add, (operator.log_abs_determinant() for operator in self._operators))

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([operator.adjoint() for operator in self._operators])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([operator.inverse() for operator in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([operator.cholesky() for operator in self._operators])
