"""Bijectors that make and change triangular matrices. Source: TF 1.15 (`tf.contrib.distributions.bijectors`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.distributions.bijectors.composed import Chain
from tfexp.distributions.bijectors.elementwise import AffineScalar, Softplus
from tfexp.distributions.functions import fill_triangular, fill_triangular_inverse
from tfexp.graph.convert import constant
from tfexp.graph.dependencies import with_dependencies
from tfexp.ops.array import shape
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_equal, assert_none_equal, assert_positive, assert_rank_at_least
from tfexp.ops.diagonal import eye, matrix_band_part, matrix_diag_part, matrix_set_diag
from tfexp.ops.elementwise_rounding import round as round_
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import log, sqrt
from tfexp.ops.linalg import cholesky, matrix_triangular_solve
from tfexp.ops.matmul import matmul
from tfexp.ops.reduce import reduce_sum


class FillTriangular(Bijector):
    """[..., n (n + 1) / 2] numbers as [..., n, n] triangular matrices, in the order of `fill_triangular`.

    ValueError for another count, or a matrix that is not square. Source:
    `tf.contrib.distributions.bijectors.FillTriangular`.
    """

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular"):
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return zeros_like(x[..., 0])

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        count = input_shape[-1].value
        rows = None if count is None else int(np.sqrt(0.25 + 2.0 * count) - 0.5)
        if rows is not None and rows * (rows + 1) // 2 != count:
            raise ValueError(f"Vector of length {count} cannot be transformed to square matrix.")
        return input_shape[:-1].concatenate([rows, rows])

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        rows, columns = (one.value for one in output_shape[-2:])
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        root = sqrt(0.25 + 2.0 * cast(input_shape[-1:], dtypes.float64))  # type: ignore[operator]
        rows: Any = cast(round_(root - 0.5), input_shape.dtype)  # type: ignore[operator]
        if self.validate_args:
            message = "Vector length is not a triangular number."
            fits = assert_equal(rows * (rows + 1) // 2, input_shape[-1:], message=message)
            rows = with_dependencies([fits], rows)
        return concat([input_shape[:-1], rows, rows], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        rows = output_shape[-1:]
        if self.validate_args:
            rows = with_dependencies([assert_equal(rows, output_shape[-2:-1], message="Matrix must be square.")], rows)
        return concat([output_shape[:-2], rows * (rows + 1) // 2], 0)


class TransformDiagonal(Bijector):
    """The diagonals of matrices [..., n, n] by another bijector, and nothing else.

    Source: `tf.contrib.distributions.bijectors.TransformDiagonal`.
    """

    def __init__(self, diag_bijector: Bijector, validate_args: bool = False, name: str = "transform_diagonal"):
        self._of_diagonals = diag_bijector
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return matrix_set_diag(x, self._of_diagonals.forward(matrix_diag_part(x)))

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return matrix_set_diag(y, self._of_diagonals.inverse(matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._of_diagonals.forward_log_det_jacobian(matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._of_diagonals.inverse_log_det_jacobian(matrix_diag_part(y), event_ndims=1)


class ScaleTriL(Chain):
    """Numbers [..., n (n + 1) / 2] as lower triangular matrices of positive diagonals, such as scales are.

    diag_bijector: what makes diagonals positive, softplus by default, to which diag_shift is added unless None. Source:
    `tf.contrib.distributions.bijectors.ScaleTriL`.
    """

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: Any = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ):
        positive = Softplus(validate_args=validate_args) if diag_bijector is None else diag_bijector
        if diag_shift is not None:
            positive = Chain([AffineScalar(shift=diag_shift), positive])
        super().__init__([TransformDiagonal(positive), FillTriangular()], validate_args=validate_args, name=name)


class CholeskyOuterProduct(Bijector):
    """y = x x' of lower triangular x [..., n, n] with positive diagonals; its inverse is Cholesky's decomposition.

    Source: `tf.contrib.distributions.bijectors.CholeskyOuterProduct`.
    """

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        if self.validate_args:
            x = with_dependencies(_square(x), x)
        lower = matrix_band_part(x, -1, 0)
        return matmul(lower, lower, adjoint_b=True)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return cholesky(y)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        """dy[i, j] / dx[i, j] = x[j, j] for i > j, 2 x[j, j] for i = j: x[j, j] counts for n - j rows, from its own on."""
        if self.validate_args:
            message = "Input must be positive definite."
            x = with_dependencies([*_square(x), assert_positive(matrix_diag_part(x), message=message)], x)
        rows: Any = shape(x)[-1]  # type: ignore[index]
        from_own: Any = cast(range_(rows, 0, -1), x.dtype)
        weighted = reduce_sum(from_own * log(matrix_diag_part(x)), -1)
        return weighted + cast(rows, x.dtype) * constant(np.log(2.0), x.dtype)  # type: ignore[operator]


class MatrixInverseTriL(Bijector):
    """The inverses of lower triangular matrices [..., n, n], of which it is its own inverse.

    Source: `tf.contrib.distributions.bijectors.MatrixInverseTriL`.
    """

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        x = self._checked(x)
        dims: Any = shape(x)
        return matrix_triangular_solve(x, eye(dims[-1], batch_shape=dims[:-2], dtype=x.dtype), lower=True)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        """That of inverting any matrix, as 1.15 has it: dy = -y dx y, and |det| of y on either side counts n times."""
        x = self._checked(x)
        rows: Any = cast(shape(x)[-1], x.dtype)  # type: ignore[index]
        return -2.0 * rows * reduce_sum(log(abs_(matrix_diag_part(x))), -1)

    def _checked(self, x: Any) -> Any:
        if not self.validate_args:
            return x
        above, diagonal = x - matrix_band_part(x, -1, 0), matrix_diag_part(x)
        checks = [
            *_square(x),
            assert_equal(above, zeros_like(above), message="Input must be lower triangular."),
            assert_none_equal(diagonal, zeros_like(diagonal), message="Input must have all diagonal entries nonzero."),
        ]
        return with_dependencies(checks, x)


def _square(x: Any) -> list[Any]:
    dims: Any = shape(x)
    return [
        assert_rank_at_least(x, 2, message="Input must have rank at least 2."),
        assert_equal(dims[-2], dims[-1], message="Input must be a square matrix."),
    ]
