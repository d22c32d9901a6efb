"""`tensorflow.python.ops.linalg.linear_operator_addition`: sums of linear operators that keep their structure. TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.linear_operators.dense import LinearOperatorFullMatrix, LinearOperatorLowerTriangular
from tfexp.linear_operators.diagonals import LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity
from tfexp.linear_operators.operator import LinearOperator
from tfexp.ops.array_fill import ones

# From the most structure to the least: a sum has that of its operand with the least.
_KINDS = (LinearOperatorScaledIdentity, LinearOperatorDiag, LinearOperatorLowerTriangular, LinearOperatorFullMatrix)


def add_operators(
    operators: Sequence[LinearOperator],
    operator_name: str | None = None,
    addition_tiers: Any = None,
    name: str | None = None,
) -> list[LinearOperator]:
    """[the sum of operators], those with the most structure added first.

    ValueError for none, or for other numbers of rows or columns; TypeError for one that is neither (scaled) identity,
    diagonal, lower triangular nor a full matrix. Other `addition_tiers` than the default ones are a NotImplementedError.
    """
    if addition_tiers is not None:
        raise NotImplementedError("add_operators: addition_tiers other than the default ones are not there")
    if not operators:
        raise ValueError("add_operators needs at least one operator, got none")
    for what in ("domain_dimension", "range_dimension"):
        if len(sizes := {getattr(operator, what).value for operator in operators} - {None}) > 1:
            raise ValueError(f"add_operators: all operators must have the same {what}, got {sorted(sizes)}")
    with name_scope(name or "add_operators"):
        ordered = sorted(operators, key=_kind)
        if len(ordered) == 1:
            return ordered
        *before, last = ordered
        return [_add(functools.reduce(_add, before), last, operator_name)]


def _kind(operator: LinearOperator) -> int:
    if isinstance(operator, LinearOperatorIdentity):
        return 0
    for place, kind in enumerate(_KINDS):
        if isinstance(operator, kind):
            return place
    raise TypeError(f"add_operators: {operator.name} is none of {', '.join(kind.__name__ for kind in _KINDS)}")


def _add(left: LinearOperator, right: LinearOperator, name: str | None = None) -> LinearOperator:
    """The sum, where `right` has no more structure than `left`."""
    kind: Any = _KINDS[_kind(right)]
    if kind is LinearOperatorScaledIdentity:
        parts: Any = (left.range_dimension_tensor(), _multiplier(left) + _multiplier(right))
    elif kind is LinearOperatorDiag:
        parts = (left.diag_part() + right.diag_part(),)
    else:
        parts = (left.add_to_tensor(right.to_dense()),)
    positive = (left.is_positive_definite and right.is_positive_definite) or None
    return kind(
        *parts,
        is_non_singular=positive,
        is_self_adjoint=(left.is_self_adjoint and right.is_self_adjoint) or None,
        is_positive_definite=positive,
        name=name or f"Add/{right.name}__{left.name}/",
    )


def _multiplier(operator: Any) -> Any:
    if isinstance(operator, LinearOperatorScaledIdentity):
        return operator.multiplier
    return ones(operator.batch_shape_tensor(), operator.dtype)
