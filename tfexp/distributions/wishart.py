"""The Wishart distribution of positive definite matrices. TF 1.15 (`tf.contrib`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.checks import assert_symmetric
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, derived_seed, keeps_arguments
from tfexp.distributions.elementwise import of_one_type
from tfexp.graph.convert import constant
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.linear_operators.dense import LinearOperatorLowerTriangular
from tfexp.linear_operators.operator import LinearOperator
from tfexp.ops.array import expand_dims, shape
from tfexp.ops.array_fill import ones
from tfexp.ops.array_fill import range as range_
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where_v2
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less_equal, assert_positive
from tfexp.ops.comparison import greater_equal
from tfexp.ops.diagonal import matrix_band_part, matrix_diag_part, matrix_set_diag
from tfexp.ops.elementwise_special import digamma, lgamma
from tfexp.ops.elementwise_unary import log, sqrt, square
from tfexp.ops.linalg import cholesky
from tfexp.ops.matmul import matmul
from tfexp.ops.random import random_normal
from tfexp.ops.random_gamma import random_gamma
from tfexp.ops.reduce import reduce_sum


class _Wishart(Distribution):
    """By the lower factor L of the scale V = L L'. Where `cholesky_input_output_matrices`, matrices are such factors too."""

    def __init__(
        self,
        df: Any,
        tril: Any,
        factors: bool,
        validate_args: bool,
        allow_nan_stats: bool,
        arguments: dict[str, Any],
        scope: str,
    ):
        if not tril.dtype.is_floating:
            raise TypeError(f"scale_operator.dtype={tril.dtype!r} is not a floating-point type")
        self._size = tril.shape[-1].value
        dims: Any = shape(tril)
        self._rows: Any = dims[-1] if self._size is None else constant(self._size, dtypes.int32)
        self._order = cast(self._rows, tril.dtype)
        known = static_value(df)
        if self._size is not None and known is not None and np.any(known < self._size):
            raise ValueError(
                f"Degrees of freedom (df = {known}) cannot be less than the dimension of the scale ({self._size})"
            )
        if validate_args:
            positive = assert_positive(matrix_diag_part(tril), message="The scale's factor needs a positive diagonal.")
            tril = with_dependencies([positive], tril)
            enough = assert_less_equal(self._order, df, message="df cannot be less than the dimension of the scale.")
            df = with_dependencies([enough], df)
        self._df, self._factors = df, factors
        self._operator = LinearOperatorLowerTriangular(tril, is_non_singular=True)
        kind = FULLY_REPARAMETERIZED
        super().__init__(tril.dtype, kind, validate_args, allow_nan_stats, arguments, [df, tril], scope)

    @property
    def df(self) -> Any:
        """Degrees of freedom."""
        return self._df

    @property
    def cholesky_input_output_matrices(self) -> bool:
        return self._factors

    @property
    def scale_operator(self) -> LinearOperator:
        """The factor L."""
        return self._operator

    @property
    def dimension(self) -> Any:
        """How many rows an event has."""
        return self._rows

    def scale(self) -> Any:
        """The scale, or its factor."""
        return self._of_kind(1.0)

    # --- shapes -------------------------------------------------------------------------------------------------------

    def _batch_shape(self) -> TensorShape:
        return broadcast_shapes(self._df.shape, self._operator.batch_shape)

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape(self._df), self._operator.batch_shape_tensor())

    def _event_shape(self) -> TensorShape:
        return TensorShape([self._size, self._size])

    def _event_shape_tensor(self) -> Any:
        return stack([self._rows, self._rows])

    # --- what is asked of it ------------------------------------------------------------------------------------------

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        """L A, or its square: A has normal numbers below roots of chi-squared ones, of df, df - 1, … degrees (Bartlett)."""
        batch = self.batch_shape_tensor()
        normal = random_normal(concat([[n], batch, self.event_shape_tensor()], 0), dtype=self.dtype, seed=seed)
        alpha = self._halves(0.5 * self._df * ones(batch, self.dtype))
        chi2 = random_gamma([n], alpha, beta=0.5, dtype=self.dtype, seed=derived_seed(seed, "wishart"))
        lower = matrix_set_diag(matrix_band_part(normal, -1, 0), sqrt(chi2))
        factor = self._operator.matmul(lower)
        return factor if self._factors else self._square(factor)

    def _log_prob(self, x: Any) -> Any:
        factor: Any = x if self._factors else cholesky(x)
        # tr(V^-1 x) is the square of L^-1 times x's factor.
        apart = reduce_sum(square(self._operator.solve(factor)), [-2, -1])
        return 0.5 * (self._df - self._order - 1.0) * _log_det(factor) - 0.5 * apart - self._log_normalization()

    def _entropy(self) -> Any:
        p, half = self._order, 0.5 * self._df
        powers = 0.5 * (self._df - p - 1.0) * self._digammas(half)
        return 0.5 * (p + 1.0) * (self._log_det_of_scale() + p * math.log(2.0)) + self._lgammas(half) - powers + half * p

    def _mean(self) -> Any:
        return self._of_kind(self._wide_df())

    def _variance(self) -> Any:
        v = self._square(self._operator.to_dense())
        diagonal: Any = matrix_diag_part(v)
        found = self._wide_df() * (square(v) + diagonal[..., None] * diagonal[..., None, :])
        return cholesky(found) if self._factors else found

    def _stddev(self) -> Any:
        if self._factors:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return cholesky(self._variance())  # TensorFlow's notion, not the root of each variance

    def _mode(self) -> Any:
        left: Any = self._wide_df() - self._order - 1.0
        left = where_v2(greater_equal(left, constant(0.0, self.dtype)), left, constant(math.nan, self.dtype))
        return self._of_kind(left)

    def mean_log_det(self, name: str = "mean_log_det") -> Any:
        """The mean of log |X|."""
        with self._scope(name):
            return self._digammas(0.5 * self._df) + self._order * math.log(2.0) + self._log_det_of_scale()

    def log_normalization(self, name: str = "log_normalization") -> Any:
        """The logarithm of what the density is divided by."""
        with self._scope(name):
            return self._log_normalization()

    def _log_normalization(self) -> Any:
        powers = self._order * math.log(2.0) + self._log_det_of_scale()
        return 0.5 * self._df * powers + self._lgammas(0.5 * self._df)

    # --- parts --------------------------------------------------------------------------------------------------------

    def _of_kind(self, times: Any) -> Any:
        """So many times the scale, or the factor of that."""
        factor: Any = self._operator.to_dense()
        return times**0.5 * factor if self._factors else times * self._square(factor)

    def _log_det_of_scale(self) -> Any:
        return 2.0 * self._operator.log_abs_determinant()  # type: ignore[operator]

    @staticmethod
    def _square(factor: Any) -> Any:
        return matmul(factor, factor, adjoint_b=True)

    def _wide_df(self) -> Any:
        return expand_dims(expand_dims(self._df, -1), -1)

    def _halves(self, a: Any) -> Any:
        """[..., p] of a, a - 1/2, …, a - (p - 1)/2."""
        return expand_dims(a, -1) - 0.5 * cast(range_(self._rows), self.dtype)  # type: ignore[operator]

    def _lgammas(self, a: Any) -> Any:
        """The logarithm of the multivariate gamma function."""
        pi: Any = 0.25 * self._order * (self._order - 1.0) * math.log(math.pi)  # type: ignore[operator]
        return pi + reduce_sum(lgamma(self._halves(a)), -1)

    def _digammas(self, a: Any) -> Any:
        return reduce_sum(digamma(self._halves(a)), -1)


class WishartCholesky(_Wishart):
    """By `scale`, the lower factor [..., k, k] of the scale matrix, and df >= k.

    Density |X|**((df - k - 1) / 2) exp(-tr(V^-1 X) / 2) / Z. Events are matrices, or their factors where
    `cholesky_input_output_matrices`. TypeError for types that are not floating; ValueError for a df too small.
    Source: `tf.contrib.distributions.WishartCholesky`.
    """

    @keeps_arguments
    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ):
        with name_scope(name, values=[scale]) as scope:
            given = of_one_type({"scale": scale, "df": df})
            factors = cholesky_input_output_matrices
            super().__init__(given["df"], given["scale"], factors, validate_args, allow_nan_stats, self._arguments, scope)


class WishartFull(_Wishart):
    """By `scale`, the positive definite scale matrix [..., k, k] itself; else as WishartCholesky.

    Source: `tf.contrib.distributions.WishartFull`.
    """

    @keeps_arguments
    def __init__(
        self,
        df: Any,
        scale: Any,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ):
        with name_scope(name, values=[scale]) as scope:
            given = of_one_type({"scale": scale, "df": df})
            matrix = assert_symmetric(given["scale"]) if validate_args else given["scale"]
            tril, factors = cholesky(matrix), cholesky_input_output_matrices
            super().__init__(given["df"], tril, factors, validate_args, allow_nan_stats, self._arguments, scope)


def _log_det(factor: Any) -> Any:
    """log |F F'| of a triangular F."""
    return 2.0 * reduce_sum(log(matrix_diag_part(factor)), -1)
