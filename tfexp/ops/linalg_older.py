"""The ops that GraphDefs from before version 15 have for stacks of matrices, when the present ones took one matrix alone.

Each computes what the present op of its name without `Batch` does; shapes are known at run time only, and no gradients
are registered. Source: TensorFlow's `BatchMatrixInverse` and the others. The first `SelfAdjointEig` is here, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops import diagonal, linalg
from tfexp.ops.array import Array
from tfexp.ops.shape_rules import square_matrices, unknown_shapes

_REAL = "T: type in [double,float]"

OLDER = (
    ("BatchCholesky(input: T) -> (output: T) {" + _REAL + "}", linalg.cholesky_op),
    ("BatchMatrixInverse(input: T) -> (output: T) {adjoint: bool = false; " + _REAL + "}", linalg.matrix_inverse_op),
    (
        "BatchMatrixDeterminant(input: T) -> (output: T) {T: type in [float,double,complex64,complex128]}",
        linalg.matrix_determinant_op,
    ),
    ("BatchMatrixSolve(matrix: T, rhs: T) -> (output: T) {adjoint: bool = false; " + _REAL + "}", linalg.matrix_solve_op),
    (
        "BatchMatrixTriangularSolve(matrix: T, rhs: T) -> (output: T) {lower: bool = true; adjoint: bool = false; "
        + _REAL
        + "}",
        linalg.matrix_triangular_solve_op,
    ),
    ("BatchMatrixDiag(diagonal: T) -> (output: T) {T: type}", diagonal.matrix_diag_v1),
    ("BatchMatrixDiagPart(input: T) -> (diagonal: T) {T: type}", diagonal.matrix_diag_part_v1),
    ("BatchMatrixSetDiag(input: T, diagonal: T) -> (output: T) {T: type}", diagonal.matrix_set_diag_v1),
    (
        "BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> (band: T) {T: type}",
        diagonal.matrix_band_part_op,
    ),
    ("BatchCholeskyGrad(l: T, grad: T) -> (output: T) {T: type in [float,double]}", linalg.cholesky_grad_op),
    (
        "BatchMatrixSolveLs(matrix: T, rhs: T, l2_regularizer: double) -> (output: T) {" + _REAL + "; fast: bool = true}",
        linalg.matrix_solve_ls_op,
    ),
    ("BatchSelfAdjointEigV2(input: T) -> (e: T, v: T) {compute_v: bool = true; " + _REAL + "}", linalg.self_adjoint_eig_v2),
    (
        "BatchSvd(input: T) -> (s: T, u: T, v: T) {compute_uv: bool = true; full_matrices: bool = false; T: type in "
        "[double,float,complex64,complex128]}",
        linalg.svd_op,
    ),
)


for _signature, _present in OLDER:
    unknown_shapes(define_op(_signature)).kernels.update(_present.kernels)


# --- eigenvalues and vectors in one tensor ----------------------------------------------------------------------------

self_adjoint_eig_op = define_op("SelfAdjointEig(input: T) -> (output: T) {T: type in [double,float,half]}")
batch_self_adjoint_eig_op = unknown_shapes(define_op("BatchSelfAdjointEig(input: T) -> (output: T) {" + _REAL + "}"))


@self_adjoint_eig_op.shape
def _(input: InputShape) -> TensorShape:
    dims = square_matrices(input).known_dims
    if dims is None:
        return TensorShape(None)
    size = dims[-1]
    return TensorShape([*dims[:-2], None if size is None else size + 1, size])


@self_adjoint_eig_op.kernel("CPU")
def _(ctx: Any, input: Array) -> Array:
    """[..., n + 1, n]: a row of eigenvalues, ascending, above the vectors in columns."""
    values, vectors = linalg.self_adjoint_eig_v2.kernels["CPU"].function(ctx, input, compute_v=True)
    return np.concatenate([values[..., np.newaxis, :], vectors], axis=-2)


batch_self_adjoint_eig_op.kernels.update(self_adjoint_eig_op.kernels)
