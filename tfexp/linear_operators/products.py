"""Products of operators whose structures give a simple one: a diagonal of two diagonals, the other one of an identity.

Rules are looked for by the kinds of both factors; what has none is a composition. Source: `tf.linalg`'s registrations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.linear_operators.composed import LinearOperatorBlockDiag, LinearOperatorComposition
from tfexp.linear_operators.dense import LinearOperatorLowerTriangular
from tfexp.linear_operators.diagonals import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    LinearOperatorScaledIdentity,
    LinearOperatorZeros,
)
from tfexp.linear_operators.hints import (
    combined_commuting_positive_definite_hint,
    combined_commuting_self_adjoint_hint,
    combined_non_singular_hint,
)
from tfexp.linear_operators.operator import LinearOperator

_Rule = Callable[[Any, Any], LinearOperator]


def _hints(a: LinearOperator, b: LinearOperator) -> dict[str, Any]:
    """What is known of the product of two operators that commute."""
    return {
        "is_non_singular": combined_non_singular_hint(a, b),
        "is_self_adjoint": combined_commuting_self_adjoint_hint(a, b),
        "is_positive_definite": combined_commuting_positive_definite_hint(a, b),
        "is_square": True,
    }


def _diagonals(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorDiag(_diagonal(a) * _diagonal(b), **_hints(a, b))


def _diagonal(operator: Any) -> Any:
    """The diagonal, or what broadcasts to it."""
    return operator.diag if isinstance(operator, LinearOperatorDiag) else operator._factor(1)


def _scaled(a: Any, b: Any) -> LinearOperator:
    return LinearOperatorScaledIdentity(a._rows, a.multiplier * b.multiplier, **_hints(a, b))


def _triangular(a: Any, b: Any) -> LinearOperator:
    non_singular = True if a.is_non_singular and b.is_non_singular else None
    dense = a.matmul(b.to_dense())
    return LinearOperatorLowerTriangular(dense, is_non_singular=non_singular)


def _blocks(a: Any, b: Any) -> LinearOperator:
    sides = [(x.domain_dimension.value, y.range_dimension.value) for x, y in zip(a.operators, b.operators, strict=False)]
    if len(a.operators) != len(b.operators) or any(m is None or m != n for m, n in sides):
        return LinearOperatorComposition([a, b])
    return LinearOperatorBlockDiag([x.matmul(y) for x, y in zip(a.operators, b.operators, strict=True)])


# The first rule whose kinds are those of the factors, or kinds above them, holds.
_RULES: list[tuple[type, type, _Rule]] = [
    (LinearOperatorZeros, LinearOperator, lambda a, b: a),
    (LinearOperator, LinearOperatorZeros, lambda a, b: b),
    (LinearOperatorIdentity, LinearOperator, lambda a, b: b),
    (LinearOperator, LinearOperatorIdentity, lambda a, b: a),
    (LinearOperatorScaledIdentity, LinearOperatorScaledIdentity, _scaled),
    (LinearOperatorScaledIdentity, LinearOperatorDiag, _diagonals),
    (LinearOperatorDiag, LinearOperatorScaledIdentity, _diagonals),
    (LinearOperatorDiag, LinearOperatorDiag, _diagonals),
    (LinearOperatorDiag, LinearOperatorLowerTriangular, _triangular),
    (LinearOperatorLowerTriangular, LinearOperatorDiag, _triangular),
    (LinearOperatorBlockDiag, LinearOperatorBlockDiag, _blocks),
]


def product(a: LinearOperator, b: LinearOperator) -> LinearOperator:
    """The operator of the matrices A B. ValueError where sides do not match."""
    if not a.domain_dimension.is_compatible_with(b.range_dimension):
        raise ValueError(
            f"Operators are incompatible. Expected `x` to have dimension {a.domain_dimension} but got {b.range_dimension}: "
            f"{a.name} {a.shape} and {b.name} {b.shape}"
        )
    for left, right, rule in _RULES:
        if isinstance(a, left) and isinstance(b, right):
            return rule(a, b)
    return LinearOperatorComposition([a, b])
