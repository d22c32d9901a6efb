"""What the functions of matrices give of linear operators: `tf.linalg.matmul(operator, x)`. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core.dispatch import dispatch_for_types
from tfexp.linear_operators.operator import LinearOperator
from tfexp.ops import diagonal, linalg
from tfexp.ops.matmul import matmul


def _named(name: str | None) -> dict[str, Any]:
    return {} if name is None else {"name": name}


@dispatch_for_types(linalg.adjoint, LinearOperator)
def _(matrix: Any, name: str | None = None) -> Any:
    return matrix.adjoint(**_named(name))


@dispatch_for_types(linalg.cholesky, LinearOperator)
def _(input: Any, name: str | None = None) -> Any:
    return input.cholesky(**_named(name))


@dispatch_for_types(diagonal.matrix_diag_part, LinearOperator)
def _(input: Any, name: str = "diag_part", k: Any = 0, padding_value: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    return input.diag_part(name)


@dispatch_for_types(linalg.matrix_determinant, LinearOperator)
def _(input: Any, name: str | None = None) -> Any:
    return input.determinant(**_named(name))


@dispatch_for_types(linalg.matrix_inverse, LinearOperator)
def _(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    inverse = input.inverse(**_named(name))
    return inverse.adjoint() if adjoint else inverse


@dispatch_for_types(linalg.logdet, LinearOperator)
def _(matrix: Any, name: str | None = None) -> Any:
    if not (matrix.is_positive_definite and matrix.is_self_adjoint):
        raise ValueError("Expected matrix to be self-adjoint positive definite.")
    return matrix.log_abs_determinant(**_named(name))


@dispatch_for_types(matmul, LinearOperator)
def _(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    if transpose_a or transpose_b:
        raise ValueError("Transposing not supported at this time.")
    if a_is_sparse or b_is_sparse:
        raise ValueError("Sparse methods not supported at this time.")
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint_a, adjoint_b, **_named(name))
    # a B is the adjoint of B^H a^H.
    return linalg.adjoint(b.matmul(a, not adjoint_b, not adjoint_a, **_named(name)))


@dispatch_for_types(linalg.matrix_solve, LinearOperator)
def _(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        raise ValueError("Passing in `matrix` as a Tensor and `rhs` as a LinearOperator is not supported.")
    return matrix.solve(rhs, adjoint, **_named(name))


@dispatch_for_types(diagonal.trace, LinearOperator)
def _(x: Any, name: str | None = None) -> Any:
    return x.trace(**_named(name))
