"""Gradients of linear algebra (real and, where noted by `adjoint`, complex matrices), batched over leading dimensions."""

from __future__ import annotations

from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops import array, array_fill, array_join, cast, linalg
from tfexp.ops.array_order import matrix_transpose
from tfexp.ops.diagonal import eye, matrix_band_part, matrix_diag, matrix_diag_part, matrix_set_diag
from tfexp.ops.elementwise_unary import neg, reciprocal
from tfexp.ops.matmul import matmul


def _adjoint(x: Tensor) -> Tensor:
    return linalg.adjoint(x)


@linalg.matrix_inverse_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # d(A^-1) = -A^-1 dA A^-1
    inverse = op.outputs[0]
    if op.get_attr("adjoint"):
        return neg(matmul(inverse, matmul(grad, inverse, adjoint_a=True)))
    return neg(matmul(inverse, matmul(grad, inverse, adjoint_b=True), adjoint_a=True))


def _per_matrix(values: Tensor) -> Tensor:
    """Scalars [...] as [..., 1, 1], to weigh matrices."""
    return array.reshape(values, array_join.concat([array.shape(values), [1, 1]], 0))


@linalg.matrix_determinant_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # d det A = det A tr(A^-1 dA)
    inverse = linalg.matrix_inverse(op.inputs[0], adjoint=True)
    return _per_matrix(grad * op.outputs[0]) * inverse


@linalg.matrix_solve_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    # x = A^-1 b: the gradient of b is A^-H grad, and that of A is minus its outer product with x.
    adjoint = op.get_attr("adjoint")
    x = op.outputs[0]
    grad_b = linalg.matrix_solve(op.inputs[0], grad, adjoint=not adjoint)
    product = matmul(x, grad_b, adjoint_b=True) if adjoint else matmul(grad_b, x, adjoint_b=True)
    return [neg(product), grad_b]


@linalg.matrix_triangular_solve_op.gradient
def _(op: Operation, grad: Tensor) -> list[Tensor]:
    adjoint, lower = op.get_attr("adjoint"), op.get_attr("lower")
    x = op.outputs[0]
    grad_b = linalg.matrix_triangular_solve(op.inputs[0], grad, lower=lower, adjoint=not adjoint)
    product = matmul(x, grad_b, adjoint_b=True) if adjoint else matmul(grad_b, x, adjoint_b=True)
    grad_a = neg(product)
    return [matrix_band_part(grad_a, -1, 0) if lower else matrix_band_part(grad_a, 0, -1), grad_b]


@linalg.cholesky_op.gradient
def _(op: Operation, grad: Tensor) -> Tensor:
    # A = L L^H: grad_A = (M + M^H) / 2 with M = L^-H phi(L^H grad) L^-1, phi the lower triangle with half the diagonal.
    lower = op.outputs[0]
    size, batch = array.shape(lower)[-1], array.shape(lower)[:-2]
    inverse = linalg.matrix_triangular_solve(lower, eye(size, batch_shape=batch, dtype=lower.dtype))
    middle = matmul(lower, grad, adjoint_a=True)
    middle = matrix_band_part(matrix_set_diag(middle, 0.5 * matrix_diag_part(middle)), -1, 0)
    product = matmul(matmul(inverse, middle, adjoint_a=True), inverse)
    return (product + _adjoint(product)) * 0.5


def _safe_reciprocal(x: Tensor) -> Tensor:
    """1 / x, and nearly 0 where x is 0, which happens for repeated eigenvalues."""
    return x * reciprocal(x * x + 1e-20)


def _differences(values: Tensor) -> Tensor:
    """[..., i, j] -> 1 / (values_j - values_i), 0 on the diagonal."""
    gaps = array.expand_dims(values, -2) - array.expand_dims(values, -1)
    return matrix_set_diag(_safe_reciprocal(gaps), array_fill.zeros_like(values))


@linalg.qr_op.gradient
def _(op: Operation, grad_q: Tensor, grad_r: Tensor) -> Tensor:
    # A wide matrix is [X, Y] = Q [U, V] with X = Q U as below and V = Q^H Y, by which Q has a second gradient, Y grad_V^H.
    q, r = op.outputs
    rows, columns = (r.shape.as_list() if r.shape.ndims else [None, None])[-2:]
    if rows is None or columns is None or rows > columns:
        raise NotImplementedError(
            f"{op.name}: the gradient of Qr needs static shapes, and with full_matrices no more rows than columns"
        )
    if rows == columns:
        return _square_factor_gradient(q, r, grad_q, grad_r)
    beside, grad_v = op.inputs[0][..., rows:], grad_r[..., rows:]
    grad_q = grad_q + matmul(beside, grad_v, adjoint_b=True)
    grad_x = _square_factor_gradient(q, r[..., :rows], grad_q, grad_r[..., :rows])
    return array_join.concat([grad_x, matmul(q, grad_v)], -1)


def _square_factor_gradient(q: Tensor, r: Tensor, grad_q: Tensor, grad_r: Tensor) -> Tensor:
    """The gradient of A = Q R for square R, which is to say A of full column rank."""
    # Walter and Lehmann, "Algorithmic differentiation of linear algebra functions":
    # grad_A = (grad_Q + Q copyltu(R grad_R^H - grad_Q^H Q)) R^-H, copyltu mirroring the lower triangle.
    middle = matmul(r, grad_r, adjoint_b=True) - matmul(grad_q, q, adjoint_a=True)
    below = matrix_set_diag(matrix_band_part(middle, -1, 0), array_fill.zeros_like(matrix_diag_part(middle)))
    mirrored = matrix_band_part(middle, -1, 0) + _adjoint(below)
    rhs = grad_q + matmul(q, mirrored)
    # X R^H = rhs, solved as R X^H = rhs^H.
    return _adjoint(linalg.matrix_triangular_solve(r, _adjoint(rhs), lower=False))


@linalg.svd_op.gradient
def _(op: Operation, grad_s: Tensor, grad_u: Tensor, grad_v: Tensor) -> Tensor:
    # Townsend, "Differentiating the singular value decomposition" (2016), for the reduced decomposition: of the values of
    # any matrices, and of the vectors of real ones, as only those are no more arbitrary than their signs.
    x = op.inputs[0]
    if not op.get_attr("compute_uv"):
        _, u, v = linalg.svd(x, compute_uv=True)
        return matmul(u, matmul(cast.cast(matrix_diag(grad_s), x.dtype), v, adjoint_b=True))
    if x.dtype.is_complex:
        raise NotImplementedError(f"{op.name}: SVD gradient is not implemented for complex types and compute_uv=True.")
    s, u, v = op.outputs
    if op.get_attr("full_matrices"):
        dims = x.shape.known_dims
        # The vectors beyond the smaller side are any basis of a space: nothing but signs only where it has one dimension.
        if dims is None or dims[-1] is None or dims[-2] is None or abs(dims[-1] - dims[-2]) > 1:
            raise NotImplementedError(
                f"{op.name}: the gradient of Svd with full_matrices is for matrices whose sides differ by 1 at most"
            )
        count = min(dims[-1], dims[-2])
        u, grad_u = _of_values(u, grad_u, count)
        v, grad_v = _of_values(v, grad_v, count)
    weights = _differences(s * s)
    diagonal = matrix_diag(s)
    inverse = matrix_diag(reciprocal(s))
    ut_gu = matmul(u, grad_u, adjoint_a=True)
    vt_gv = matmul(v, grad_v, adjoint_a=True)
    middle = matrix_diag(grad_s)
    middle += matmul(weights * (ut_gu - matrix_transpose(ut_gu)), diagonal)
    middle += matmul(diagonal, weights * (vt_gv - matrix_transpose(vt_gv)))
    # What moves u and v out of the spaces that they span.
    outside_u = matmul(grad_u - matmul(u, ut_gu), inverse)
    outside_v = matmul(grad_v - matmul(v, vt_gv), inverse)
    return matmul(matmul(u, middle) + outside_u, v, adjoint_b=True) + matmul(u, outside_v, adjoint_b=True)


def _of_values(vectors: Tensor, grad: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The first `count` vectors and their gradient, with what the others have to say: they turn with these, orthogonal."""
    kept, rest = vectors[..., :count], vectors[..., count:]
    return kept, grad[..., :count] - matmul(rest, matmul(grad[..., count:], kept, adjoint_a=True))
