"""Linear algebra on the innermost matrices [..., m, n]: inverses, determinants, systems, decompositions.

Gradients are in `linalg_gradients`; products in `matmul`; diagonals in `diagonal`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.errors import InvalidArgumentError
from tfexp.core.merged_shape import merged
from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape, dims_text
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_order import matrix_transpose
from tfexp.ops.complex_numbers import real
from tfexp.ops.shape_rules import merged_dims, square_matrices, with_rank_at_least


def check_stacks(*stacks: np.ndarray) -> None:
    """InvalidArgumentError unless there are as many matrices in each of them, laid out alike."""
    for i, stack in enumerate(stacks):
        if stack.ndim < 2:
            raise InvalidArgumentError(None, None, f"Input tensor {i} must have rank >= 2, got {stack.ndim}")
        if stack.ndim != stacks[0].ndim:
            raise InvalidArgumentError(None, None, "All input tensors must have the same rank.")
        if stack.shape[:-2] != stacks[0].shape[:-2]:
            raise InvalidArgumentError(None, None, "All input tensors must have the same outer dimensions.")


def _check_square(x: np.ndarray, requirement: str = "Input matrix must be square.") -> None:
    check_stacks(x)
    if x.shape[-1] != x.shape[-2]:
        raise InvalidArgumentError(None, None, f"{requirement} Its shape is {dims_text(x.shape)}.")


def _check_supported(op_name: str, x: np.ndarray) -> None:
    """TensorFlow has no kernel of these ops for half precision."""
    if x.dtype == np.float16:
        raise InvalidArgumentError(None, None, f"No OpKernel was registered to support Op '{op_name}' with T=half")


def _adjoint(x: np.ndarray) -> np.ndarray:
    return np.conjugate(np.swapaxes(x, -1, -2))


def _for_lapack(x: np.ndarray) -> np.ndarray:
    """The array in a dtype that LAPACK computes in: it has none of half precision."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


# --- inverses and determinants --------------------------------------------------------------------------------------

matrix_inverse_op = define_op(
    "MatrixInverse(input: T) -> (output: T) {adjoint: bool = false; T: type in [double,float,half,complex64,complex128]}"
)
matrix_inverse_op.shape(square_matrices)


@matrix_inverse_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, adjoint: bool) -> np.ndarray:
    _check_square(input)
    try:
        return np.linalg.inv(_for_lapack(_adjoint(input) if adjoint else input)).astype(input.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(None, None, "Input is not invertible.") from None


def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverses of square matrices, or of their adjoints. `tf.matrix_inverse`; InvalidArgumentError if singular."""
    return matrix_inverse_op(input, adjoint=adjoint, name=name)


matrix_determinant_op = define_op(
    "MatrixDeterminant(input: T) -> (output: T) {T: type in [half,float,double,complex64,complex128]}"
)


@matrix_determinant_op.shape
def _(input: InputShape) -> TensorShape:
    dims = square_matrices(input).known_dims
    return TensorShape(None if dims is None else dims[:-2])


@matrix_determinant_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray) -> np.ndarray:
    _check_square(input)
    _check_supported("MatrixDeterminant", input)
    return np.asarray(np.linalg.det(input)).astype(input.dtype)


def matrix_determinant(input: Any, name: str | None = None) -> Tensor:
    """The determinants of square matrices. `tf.matrix_determinant`."""
    return matrix_determinant_op(input, name=name)


# --- systems of equations -------------------------------------------------------------------------------------------

matrix_solve_op = define_op(
    "MatrixSolve(matrix: T, rhs: T) -> (output: T) {adjoint: bool = false; T: type in [double,float,half,complex64,"
    "complex128]}"
)
matrix_triangular_solve_op = define_op(
    "MatrixTriangularSolve(matrix: T, rhs: T) -> (output: T) {lower: bool = true; adjoint: bool = false; T: type in "
    "[bfloat16,double,float,half,complex64,complex128]}"
)


def _solve_shape(matrix: TensorShape, rhs: TensorShape) -> TensorShape:
    a, b = square_matrices(matrix).known_dims, with_rank_at_least(rhs, 2).known_dims
    if a is None or b is None:
        return TensorShape(None)
    batch = merged(TensorShape(a[:-2]), TensorShape(b[:-2]))
    return batch.concatenate(TensorShape([merged_dims(a[-1], b[-2]), b[-1]]))


@matrix_solve_op.shape
def _(matrix: InputShape, rhs: InputShape) -> TensorShape:
    """Either of the two tells all but the number of columns, which is the right-hand side's."""
    a, b = square_matrices(matrix), with_rank_at_least(rhs, 2)
    if a.rank is None and b.rank is None:
        return TensorShape(None)
    return _solve_shape(
        b[:-2].concatenate([b[-2], b[-2]]) if a.rank is None else a,
        a[:-1].concatenate([None]) if b.rank is None else b,
    )


matrix_triangular_solve_op.shape(lambda matrix, rhs: _solve_shape(matrix, rhs))


def _check_system(matrix: np.ndarray, rhs: np.ndarray) -> None:
    _check_square(matrix, "First input (lhs) must be a square matrix.")
    if rhs.ndim < 2 or matrix.shape[-2] != rhs.shape[-2]:
        raise InvalidArgumentError(
            None, None, f"Input matrix and rhs are incompatible: {dims_text(matrix.shape)} and {dims_text(rhs.shape)}"
        )


@matrix_solve_op.kernel("CPU")
def _(ctx: Any, matrix: np.ndarray, rhs: np.ndarray, *, adjoint: bool) -> np.ndarray:
    check_stacks(matrix, rhs)
    _check_system(matrix, rhs)
    _check_supported("MatrixSolve", matrix)
    if not rhs.size:  # no question is asked, whether or not the matrix has an inverse
        return np.zeros_like(rhs)
    try:
        return np.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(None, None, "Input matrix is not invertible.") from None


@matrix_triangular_solve_op.kernel("CPU")
def _(ctx: Any, matrix: np.ndarray, rhs: np.ndarray, *, lower: bool, adjoint: bool) -> np.ndarray:
    _check_system(matrix, rhs)
    triangle = np.tril(matrix) if lower else np.triu(matrix)
    if not np.all(np.diagonal(triangle, axis1=-2, axis2=-1)):
        raise InvalidArgumentError(None, None, "Input matrix is not invertible.")
    result = np.linalg.solve(_for_lapack(_adjoint(triangle) if adjoint else triangle), _for_lapack(rhs))
    return result.astype(rhs.dtype, copy=False)


def matrix_solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """x of matrix x = rhs, or adjoint(matrix) x = rhs. `tf.matrix_solve`; InvalidArgumentError if singular."""
    return matrix_solve_op(matrix, rhs, adjoint=adjoint, name=name)


def matrix_triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """As `matrix_solve`, looking at one triangle of the matrix only. `tf.matrix_triangular_solve`."""
    with name_scope(name, "triangular_solve", [matrix, rhs]):
        return matrix_triangular_solve_op(matrix, rhs, lower=lower, adjoint=adjoint)


# --- decompositions -------------------------------------------------------------------------------------------------

cholesky_op = define_op("Cholesky(input: T) -> (output: T) {T: type in [double,float,half,complex64,complex128]}")
cholesky_op.shape(square_matrices)


@cholesky_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray) -> np.ndarray:
    _check_square(input)
    try:
        return np.linalg.cholesky(_for_lapack(input)).astype(input.dtype, copy=False)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError(
            None, None, "Cholesky decomposition was not successful. The input might not be valid."
        ) from None


def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangle L with L adjoint(L) = input, of positive definite matrices. `tf.cholesky`."""
    return cholesky_op(input, name=name)


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transposes of matrices [..., m, n]. `tf.linalg.adjoint`."""
    with name_scope(name, "adjoint", [matrix]):
        return matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


qr_op = define_op(
    "Qr(input: T) -> (q: T, r: T) {full_matrices: bool = false; T: type in [double,float,half,complex64,complex128]}"
)


@qr_op.shape
def _(input: InputShape, *, full_matrices: bool) -> list[TensorShape]:
    dims = with_rank_at_least(input, 2).known_dims
    if dims is None:
        return [TensorShape(None)] * 2
    batch, (m, n) = dims[:-2], dims[-2:]
    p = m if full_matrices else (None if m is None or n is None else min(m, n))
    return [TensorShape([*batch, m, p]), TensorShape([*batch, p, n])]


@qr_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, full_matrices: bool) -> list[np.ndarray]:
    parts = np.linalg.qr(_for_lapack(input), mode="complete" if full_matrices else "reduced")
    return [part.astype(input.dtype, copy=False) for part in parts]


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """(q, r) with q r = input, q orthogonal and r upper triangular. `tf.qr`."""
    return qr_op(input, full_matrices=full_matrices, name=name)


svd_op = define_op(
    "Svd(input: T) -> (s: T, u: T, v: T) {compute_uv: bool = true; full_matrices: bool = false; T: type in [double,"
    "float,half,complex64,complex128]}"
)


@svd_op.shape
def _(input: InputShape, *, compute_uv: bool, full_matrices: bool) -> list[TensorShape]:
    dims = with_rank_at_least(input, 2).known_dims
    if dims is None:
        return [TensorShape(None)] * 3
    batch, (m, n) = dims[:-2], dims[-2:]
    p = None if m is None or n is None else min(m, n)
    if not compute_uv:
        return [TensorShape([*batch, p]), TensorShape([0]), TensorShape([0])]
    return [
        TensorShape([*batch, p]),
        TensorShape([*batch, m, m if full_matrices else p]),
        TensorShape([*batch, n, n if full_matrices else p]),
    ]


@svd_op.kernel("CPU")
def _(ctx: Any, input: np.ndarray, *, compute_uv: bool, full_matrices: bool) -> list[np.ndarray]:
    # LAPACK does not converge for NaN and may not return at all for infinities: such matrices have parts of NaN.
    broken = ~np.isfinite(input).all((-2, -1))
    matrix = _for_lapack(np.where(broken[..., None, None], input.dtype.type(0), input))
    if not compute_uv:
        empty = np.zeros([0], input.dtype)
        parts = [np.linalg.svd(matrix, compute_uv=False), empty, empty]
    else:
        u, s, vh = np.linalg.svd(matrix, full_matrices=full_matrices)
        parts = [s, u, _adjoint(vh)]
    for part in parts[: 3 if compute_uv else 1]:
        part[broken] = np.nan
    return [part.astype(input.dtype, copy=False) for part in parts]


def svd(tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None) -> Any:
    """(s, u, v) with tensor = u diag(s) adjoint(v), s descending; s alone without `compute_uv`. `tf.svd`."""
    s, u, v = svd_op(tensor, compute_uv=compute_uv, full_matrices=full_matrices, name=name)
    return (real(s), u, v) if compute_uv else real(s)
