"""`tf.linalg`: matrices: products, decompositions, norms."""

from typing import TYPE_CHECKING

from tfexp.core.gone import namespace

if TYPE_CHECKING:
    from tfexp.linear_operators.circulant import LinearOperatorCirculant as LinearOperatorCirculant
    from tfexp.linear_operators.circulant import LinearOperatorCirculant2D as LinearOperatorCirculant2D
    from tfexp.linear_operators.circulant import LinearOperatorCirculant3D as LinearOperatorCirculant3D
    from tfexp.linear_operators.composed import LinearOperatorBlockDiag as LinearOperatorBlockDiag
    from tfexp.linear_operators.composed import LinearOperatorComposition as LinearOperatorComposition
    from tfexp.linear_operators.composed import LinearOperatorKronecker as LinearOperatorKronecker
    from tfexp.linear_operators.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
    from tfexp.linear_operators.dense import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
    from tfexp.linear_operators.derived import LinearOperatorAdjoint as LinearOperatorAdjoint
    from tfexp.linear_operators.derived import LinearOperatorInversion as LinearOperatorInversion
    from tfexp.linear_operators.derived import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
    from tfexp.linear_operators.diagonals import LinearOperatorDiag as LinearOperatorDiag
    from tfexp.linear_operators.diagonals import LinearOperatorIdentity as LinearOperatorIdentity
    from tfexp.linear_operators.diagonals import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
    from tfexp.linear_operators.diagonals import LinearOperatorZeros as LinearOperatorZeros
    from tfexp.linear_operators.operator import LinearOperator as LinearOperator
    from tfexp.linear_operators.structured import LinearOperatorHouseholder as LinearOperatorHouseholder
    from tfexp.linear_operators.structured import LinearOperatorToeplitz as LinearOperatorToeplitz
    from tfexp.ops.array_order import matrix_transpose as matrix_transpose
    from tfexp.ops.array_order import matrix_transpose as transpose
    from tfexp.ops.clip import global_norm as global_norm
    from tfexp.ops.diagonal import diag as tensor_diag
    from tfexp.ops.diagonal import diag_part as tensor_diag_part
    from tfexp.ops.diagonal import eye as eye
    from tfexp.ops.diagonal import matrix_band_part as band_part
    from tfexp.ops.diagonal import matrix_diag as diag
    from tfexp.ops.diagonal import matrix_diag_part as diag_part
    from tfexp.ops.diagonal import matrix_set_diag as set_diag
    from tfexp.ops.diagonal import trace as trace
    from tfexp.ops.linalg import adjoint as adjoint
    from tfexp.ops.linalg import cholesky as cholesky
    from tfexp.ops.linalg import cholesky_solve as cholesky_solve
    from tfexp.ops.linalg import cross as cross
    from tfexp.ops.linalg import logdet as logdet
    from tfexp.ops.linalg import matrix_determinant as det
    from tfexp.ops.linalg import matrix_inverse as inv
    from tfexp.ops.linalg import matrix_solve as solve
    from tfexp.ops.linalg import matrix_solve_ls as lstsq
    from tfexp.ops.linalg import matrix_triangular_solve as triangular_solve
    from tfexp.ops.linalg import qr as qr
    from tfexp.ops.linalg import self_adjoint_eig as eigh
    from tfexp.ops.linalg import self_adjoint_eigvals as eigvalsh
    from tfexp.ops.linalg import slogdet as slogdet
    from tfexp.ops.linalg import svd as svd
    from tfexp.ops.linalg_functions import lu as lu
    from tfexp.ops.linalg_functions import matrix_rank as matrix_rank
    from tfexp.ops.linalg_functions import matvec as matvec
    from tfexp.ops.linalg_functions import normalize as normalize
    from tfexp.ops.linalg_functions import pinv as pinv
    from tfexp.ops.matmul import matmul as matmul
    from tfexp.ops.matrix_functions import expm as expm
    from tfexp.ops.matrix_functions import logm as logm
    from tfexp.ops.matrix_functions import sqrtm as sqrtm
    from tfexp.ops.nn_norm import l2_normalize as l2_normalize
    from tfexp.ops.norm import norm as norm
    from tfexp.ops.tensor_products import einsum as einsum
    from tfexp.ops.tensor_products import tensordot as tensordot
    from tfexp.ops.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
    from tfexp.ops.tridiagonal import tridiagonal_solve as tridiagonal_solve

__getattr__, __dir__ = namespace("tf.linalg", __name__)
