"""The ops that GraphDefs from before version 15 have for stacks of matrices, when the present ones took one matrix alone.

Each computes what the present op of its name without `Batch` does; shapes are known at run time only, and no gradients
are registered. Source: TensorFlow's `BatchMatrixInverse` and the others.
"""

from __future__ import annotations

from typing import Any

from tfexp.core.op import define_op
from tfexp.core.shape import InputShape, TensorShape
from tfexp.ops import diagonal, linalg

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
)


def _unknown(*inputs: InputShape, **attrs: Any) -> TensorShape:
    return TensorShape(None)


for _signature, _present in OLDER:
    _op = define_op(_signature)
    _op.shape(_unknown)
    _op.kernels.update(_present.kernels)
