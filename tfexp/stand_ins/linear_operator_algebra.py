"""`tensorflow.python.ops.linalg.linear_operator_algebra`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.scopes import name_scope
from tfexp.linear_operators import rules

RegisterAdjoint = rules.adjoint.register
RegisterCholesky = rules.cholesky.register
RegisterInverse = rules.inverse.register
RegisterMatmul = rules.matmul.register
RegisterSolve = rules.solve.register

_ADJOINTS = rules.adjoint.by_types
_CHOLESKY_DECOMPS = rules.cholesky.by_types
_INVERSES = rules.inverse.by_types
_MATMUL = rules.matmul.by_types
_SOLVE = rules.solve.by_types


def _registered_adjoint(type_a: type) -> Any:
    return rules.adjoint.find(type_a)


def _registered_cholesky(type_a: type) -> Any:
    return rules.cholesky.find(type_a)


def _registered_inverse(type_a: type) -> Any:
    return rules.inverse.find(type_a)


def _registered_matmul(type_a: type, type_b: type) -> Any:
    return rules.matmul.find(type_a, type_b)


def _registered_solve(type_a: type, type_b: type) -> Any:
    return rules.solve.find(type_a, type_b)


def adjoint(lin_op_a: Any, name: str | None = None) -> Any:
    with name_scope(name or "Adjoint"):
        return rules.adjoint(lin_op_a)


def cholesky(lin_op_a: Any, name: str | None = None) -> Any:
    with name_scope(name or "Cholesky"):
        return rules.cholesky(lin_op_a)


def inverse(lin_op_a: Any, name: str | None = None) -> Any:
    with name_scope(name or "Inverse"):
        return rules.inverse(lin_op_a)


def matmul(lin_op_a: Any, lin_op_b: Any, name: str | None = None) -> Any:
    with name_scope(name or "Matmul"):
        return rules.matmul(lin_op_a, lin_op_b)


def solve(lin_op_a: Any, lin_op_b: Any, name: str | None = None) -> Any:
    with name_scope(name or "Solve"):
        return rules.solve(lin_op_a, lin_op_b)
