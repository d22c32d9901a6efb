"""The Laplace distribution and Student's t distribution. TF 1.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, derived_seed, keeps_arguments, same_floats
from tfexp.distributions.normal import LocationScale
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import fill, ones, zeros_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where_v2
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.check_compare import assert_less, assert_positive
from tfexp.ops.comparison import greater, less
from tfexp.ops.elementwise_gamma import betainc
from tfexp.ops.elementwise_special import digamma, lbeta, lgamma
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import exp, log, log1p, rsqrt, sign, sqrt, square
from tfexp.ops.random import random_normal, random_uniform
from tfexp.ops.random_gamma import random_gamma


class Laplace(LocationScale):
    """Density exp(-|x - loc| / scale) / (2 scale). Source: `tf.distributions.Laplace`."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Laplace"
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, self._arguments)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        dims = concat([[n], self.batch_shape_tensor()], 0)
        kind = self.dtype.as_numpy_dtype
        # From the next number after -1 on, for the logarithm of 0 is none.
        uniform: Any = random_uniform(
            dims, minval=np.nextafter(kind(-1.0), kind(0.0)), maxval=1.0, dtype=self.dtype, seed=seed
        )
        return self.loc - self.scale * sign(uniform) * log1p(-abs_(uniform))

    def _log_prob(self, x: Any) -> Any:
        return -abs_(self._distance(x)) - (math.log(2.0) + log(self.scale))

    def _cdf(self, x: Any) -> Any:
        z = self._distance(x)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-abs_(z)))  # type: ignore[operator]

    def _distance(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def _log_cdf(self, x: Any) -> Any:
        return log_cdf_laplace(self._distance(x))

    def _log_survival_function(self, x: Any) -> Any:
        return log_cdf_laplace(-self._distance(x))

    def _entropy(self) -> Any:
        return math.log(2.0) + 1.0 + log(self.scale + zeros_like(self.loc))

    def _mean(self) -> Any:
        return self.loc + zeros_like(self.scale)

    def _stddev(self) -> Any:
        return math.sqrt(2.0) * (self.scale + zeros_like(self.loc))

    _mode = _mean


def log_cdf_laplace(x: Any) -> Any:
    """log P(X <= x) of the standard one; neither exponential overflows, for each sees one sign only."""
    with name_scope("log_cdf_laplace", values=[x]):
        low: Any = x - math.log(2.0)
        high = log1p(-0.5 * exp(-abs_(x)))
        return where_v2(less(x, 0.0), low, high)


class StudentT(Distribution):
    """loc + scale * t with `df` degrees of freedom. Source: `tf.distributions.StudentT`."""

    @keeps_arguments
    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ):
        with name_scope(name, values=[df, loc, scale]) as scope:
            df, loc, scale = same_floats(df, loc, scale)
            with control_dependencies([assert_positive(df)] if validate_args else []):
                self._df = identity(df, name="df")
                self._loc, self._scale = identity(loc, name="loc"), identity(scale, name="scale")
        parents = [self._df, self._loc, self._scale]
        super().__init__(
            self._scale.dtype, FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, self._arguments, parents, scope
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        wanted = convert_to_tensor(sample_shape)
        return {"df": wanted, "loc": wanted, "scale": wanted}

    @property
    def df(self) -> Any:
        return self._df

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def scale(self) -> Any:
        return self._scale

    def _batch_shape(self) -> TensorShape:
        return broadcast_shapes(broadcast_shapes(self.df.shape, self.loc.shape), self.scale.shape)

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape(self.df), broadcast_dynamic_shape(shape(self.loc), shape(self.scale)))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        # A normal over the root of an independent chi-squared number over its degrees of freedom.
        dims = concat([[n], self.batch_shape_tensor()], 0)
        normal: Any = random_normal(dims, dtype=self.dtype, seed=seed)
        df: Any = self.df * ones(self.batch_shape_tensor(), dtype=self.dtype)
        chi2: Any = random_gamma([n], 0.5 * df, beta=0.5, dtype=self.dtype, seed=derived_seed(seed, salt="student_t"))
        return normal * rsqrt(chi2 / df) * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        z: Any = (x - self.loc) / self.scale
        unnormalized = -0.5 * (self.df + 1.0) * log1p(z**2.0 / self.df)
        normalization = (
            log(abs_(self.scale))
            + 0.5 * log(self.df)
            + 0.5 * math.log(math.pi)
            + lgamma(0.5 * self.df)
            - lgamma(0.5 * (self.df + 1.0))
        )
        return unnormalized - normalization

    def _cdf(self, x: Any) -> Any:
        z: Any = (x - self.loc) / abs_(self.scale)
        below: Any = 0.5 * betainc(0.5 * self.df, 0.5, self.df / (z**2.0 + self.df))  # type: ignore[operator]
        return where_v2(less(z, 0.0), below, 1.0 - below)

    def _wide(self, x: Any) -> Any:
        return x * ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _entropy(self) -> Any:
        half, halved = constant(0.5, self.dtype), 0.5 * self.df
        beta = lbeta(stack([self._wide(half), self._wide(halved)], axis=-1))
        return (
            log(self._wide(abs_(self.scale)))
            + 0.5 * log(self.df)
            + beta
            + 0.5 * (self.df + 1.0) * (digamma(0.5 * (self.df + 1.0)) - digamma(halved))
        )

    def _defined(self, found: Any, above: float, what: str) -> Any:
        """The moment where df > above, else NaN, or an error where NaN is not allowed."""
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(greater(self._wide(self.df), above), found, nan)
        message = f"{what} not defined for components of df <= {above:g}"
        return with_dependencies([assert_less(constant(above, self.dtype), self.df, message=message)], found)

    def _mean(self) -> Any:
        return self._defined(self._wide(self.loc), 1.0, "mean")

    def _variance(self) -> Any:
        # Where df is not more than 2 the quotient is put off its pole, so that gradients are numbers.
        denominator: Any = where_v2(greater(self.df, 2.0), self.df - 2.0, self._wide(constant(1.0, self.dtype)))
        found = self._wide(square(self.scale)) * self.df / denominator
        inf = fill(self.batch_shape_tensor(), np.array(np.inf, self.dtype.as_numpy_dtype), name="inf")
        result = where_v2(greater(self.df, self._wide(constant(2.0, self.dtype))), found, inf)
        return self._defined(result, 1.0, "variance")

    def _stddev(self) -> Any:
        return sqrt(self._variance())

    def _mode(self) -> Any:
        return identity(self._wide(self.loc) + zeros_like(self.scale))
