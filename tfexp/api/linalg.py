"""`tf.linalg`: matrices: products, decompositions, norms."""

from tfexp.core.namespace import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "tfexp.ops.array_order": "matrix_transpose transpose=matrix_transpose",
        "tfexp.ops.clip": "global_norm",
        "tfexp.ops.diagonal": (
            "tensor_diag=diag tensor_diag_part=diag_part eye band_part=matrix_band_part diag=matrix_diag "
            "diag_part=matrix_diag_part set_diag=matrix_set_diag trace"
        ),
        "tfexp.ops.linalg": (
            "cholesky det=matrix_determinant inv=matrix_inverse solve=matrix_solve triangular_solve=matrix_triangular_solve"
        ),
        "tfexp.ops.matmul": "matmul",
        "tfexp.ops.nn_norm": "l2_normalize",
        "tfexp.ops.norm": "norm",
        "tfexp.ops.tensor_products": "einsum tensordot",
    },
)
