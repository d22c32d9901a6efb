"""What is known of the product of two operators that commute. Source: `registrations_util`, TF 1.15."""

from __future__ import annotations

from tfexp.linear_operators.operator import LinearOperator


def combined_commuting_self_adjoint_hint(operator_a: LinearOperator, operator_b: LinearOperator) -> bool | None:
    hints = operator_a.is_self_adjoint, operator_b.is_self_adjoint
    return None if None in hints or hints == (False, False) else all(hints)


def combined_commuting_positive_definite_hint(operator_a: LinearOperator, operator_b: LinearOperator) -> bool | None:
    both = operator_a, operator_b
    return True if all(one.is_positive_definite and one.is_self_adjoint for one in both) else None


def combined_non_singular_hint(operator_a: LinearOperator, operator_b: LinearOperator) -> bool | None:
    hints = operator_a.is_non_singular, operator_b.is_non_singular
    return False if False in hints else True if all(hints) else None


def is_square(operator_a: LinearOperator, operator_b: LinearOperator) -> bool | None:
    """Whether the product is square, which that of two operators that are not may be."""
    hints = operator_a.is_square, operator_b.is_square
    if None in hints:
        return None
    if hints == (False, False):
        return bool(operator_a.range_dimension == operator_b.domain_dimension)
    return all(hints)
