"""Linear systems solved by products with the operator alone. Source: `tf.contrib.solvers`, TF 1.15.

An operator has `shape`, `dtype`, `apply(x)` and `apply_adjoint(x)` for columns x [n, 1]: see `create_operator`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.while_loop import while_loop
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import zeros, zeros_like
from tfexp.ops.elementwise_unary import sqrt, square
from tfexp.ops.logical import logical_and
from tfexp.ops.matmul import matmul
from tfexp.ops.reduce import reduce_sum


class LinearOperator(NamedTuple):
    """A linear map, by what it does."""

    shape: Any
    dtype: Any
    apply: Any
    apply_adjoint: Any


class ConjugateGradientState(NamedTuple):
    """Where it ended: after `i` steps at `x`, with residual `r`, direction `p`, and gamma = <r, preconditioned r>."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


class LeastSquaresState(NamedTuple):
    """Where it ended: after `i` steps at `x`, with residual `r`, direction `p`, and gamma = |A' r|²."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def create_operator(matrix: Any) -> LinearOperator:
    """The operator of a matrix. ValueError for another rank."""
    matrix = convert_to_tensor(matrix)
    if matrix.get_shape().ndims != 2:
        raise ValueError(f"the operator's matrix has to have two dimensions, but its shape is {matrix.get_shape()}")
    return LinearOperator(
        matrix.get_shape(), matrix.dtype, lambda x: matmul(matrix, x), lambda x: matmul(matrix, x, adjoint_a=True)
    )


def identity_operator(matrix: Any) -> LinearOperator:
    """The identity, of the size of a square matrix."""
    matrix = convert_to_tensor(matrix)
    return LinearOperator(matrix.get_shape(), matrix.dtype, lambda x: x, lambda x: x)


def dot(x: Any, y: Any) -> Any:
    """The inner product of two columns."""
    return reduce_sum(x * y)


def l2norm_squared(v: Any) -> Any:
    """|v|², a scalar."""
    return reduce_sum(square(v))


def l2norm(v: Any) -> Any:
    """|v|, a scalar."""
    return sqrt(l2norm_squared(v))


def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> ConjugateGradientState:
    """Solves A x = rhs for a symmetric positive definite A, from `x` (zero if None), in at most `max_iter` steps.

    It ends once |r| <= tol * |rhs|. rhs and x: [n]. preconditioner: an operator near the inverse of A (Hestenes and Stiefel
    1952).
    """
    with name_scope(name):
        b: Any = expand_dims(convert_to_tensor(rhs), -1)
        start = zeros_like(b) if x is None else expand_dims(convert_to_tensor(x), -1)
        residual = b if x is None else b - operator.apply(start)
        limit = l2norm_squared(b) * tol**2

        def conditioned(r: Any) -> Any:
            return r if preconditioner is None else preconditioner.apply(r)

        def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            image = operator.apply(p)
            alpha = gamma / dot(p, image)
            x, r = x + alpha * p, r - alpha * image
            z = conditioned(r)
            new_gamma = dot(r, z)
            return i + 1, x, r, z + (new_gamma / gamma) * p, new_gamma

        direction = conditioned(residual)
        state = (constant(0), start, residual, direction, dot(residual, direction))
        i, x, r, p, gamma = while_loop(lambda i, x, r, *_: logical_and(i < max_iter, l2norm_squared(r) > limit), step, state)
        return ConjugateGradientState(i, x[:, 0], r[:, 0], p[:, 0], gamma)


def cgls(operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls") -> LeastSquaresState:
    """The x with the least |A x - rhs|, by conjugate gradients on A' A x = A' rhs, in at most `max_iter` steps.

    It ends once |A' r| <= tol * |A' rhs|. rhs: [m]; x: [n] (Björck, Numerical Methods for Least Squares Problems, 1996).
    """
    with name_scope(name):
        b: Any = expand_dims(convert_to_tensor(rhs), -1)
        slope = operator.apply_adjoint(b)
        begun = l2norm_squared(slope)

        def step(i: Any, x: Any, r: Any, p: Any, gamma: Any) -> Any:
            image = operator.apply(p)
            alpha = gamma / l2norm_squared(image)
            x, r = x + alpha * p, r - alpha * image
            s = operator.apply_adjoint(r)
            new_gamma = l2norm_squared(s)
            return i + 1, x, r, s + (new_gamma / gamma) * p, new_gamma

        state = (constant(0), zeros(shape(slope), slope.dtype), b, slope, begun)
        i, x, r, p, gamma = while_loop(
            lambda i, x, r, p, gamma: logical_and(i < max_iter, gamma > tol**2 * begun), step, state
        )
        return LeastSquaresState(i, x[:, 0], r[:, 0], p[:, 0], gamma)
