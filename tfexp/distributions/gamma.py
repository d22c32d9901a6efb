"""The gamma distribution and its special cases, exponential and chi-squared. TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.checks import checked_positive
from tfexp.distributions.distribution import (
    CUMULATIVE,
    FULLY_REPARAMETERIZED,
    Distribution,
    keeps_arguments,
    same_floats,
)
from tfexp.distributions.kullback_leibler import RegisterKL
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import fill, ones, ones_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.check_compare import assert_less, assert_positive
from tfexp.ops.check_types import assert_same_float_dtype
from tfexp.ops.comparison import greater
from tfexp.ops.elementwise_division import xlogy
from tfexp.ops.elementwise_gamma import igamma
from tfexp.ops.elementwise_special import digamma, lgamma
from tfexp.ops.elementwise_unary import log, sqrt, square
from tfexp.ops.random import random_uniform
from tfexp.ops.random_gamma import random_gamma


class Gamma(Distribution):
    """Density rate**a x**(a - 1) exp(-rate x) / gamma(a), a the concentration. Source: `tf.distributions.Gamma`."""

    @keeps_arguments
    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
    ):
        with name_scope(name, values=[concentration, rate]) as scope:
            concentration, rate = same_floats(concentration, rate)
            concentration = checked_positive(validate_args, concentration, "concentration_positive")
            rate = checked_positive(validate_args, rate, "rate_positive")
            self._concentration = identity(concentration, name="concentration")
            self._rate = identity(rate, name="rate")
            assert_same_float_dtype([self._concentration, self._rate])
        super().__init__(
            self._concentration.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            self._arguments,
            [self._concentration, self._rate],
            scope,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        wanted = convert_to_tensor(sample_shape)
        return {"concentration": wanted, "rate": wanted}

    @property
    def concentration(self) -> Any:
        return self._concentration

    @property
    def rate(self) -> Any:
        return self._rate

    def _batch_shape(self) -> TensorShape:
        return broadcast_shapes(self.concentration.shape, self.rate.shape)

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape(self.concentration), shape(self.rate))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return random_gamma([n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)

    _checks_values_of = Distribution._checks_values_of | CUMULATIVE

    def _checked(self, x: Any) -> Any:
        return with_dependencies([assert_positive(x)], x)

    def _log_prob(self, x: Any) -> Any:
        unnormalized: Any = xlogy(self.concentration - 1.0, x) - self.rate * x
        return unnormalized - (lgamma(self.concentration) - self.concentration * log(self.rate))

    def _cdf(self, x: Any) -> Any:
        return igamma(self.concentration, self.rate * x)

    def _entropy(self) -> Any:
        a = self.concentration
        return a - log(self.rate) + lgamma(a) + (1.0 - a) * digamma(a)

    def _mean(self) -> Any:
        return self.concentration / self.rate

    def _variance(self) -> Any:
        return self.concentration / square(self.rate)

    def _stddev(self) -> Any:
        return sqrt(self.concentration) / self.rate  # type: ignore[operator]

    def _mode(self) -> Any:
        found = (self.concentration - 1.0) / self.rate
        if self.allow_nan_stats:
            nan = fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype), name="nan")
            return where_v2(greater(self.concentration, 1.0), found, nan)
        one = ones([], self.dtype)
        message = "mode not defined when any concentration <= 1"
        return with_dependencies([assert_less(one, self.concentration, message=message)], found)


@RegisterKL(Gamma, Gamma)
def _(g0: Any, g1: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_gamma_gamma", [g0.concentration, g0.rate, g1.concentration, g1.rate]):
        return (
            (g0.concentration - g1.concentration) * digamma(g0.concentration)
            + lgamma(g1.concentration)
            - lgamma(g0.concentration)
            + g1.concentration * log(g0.rate)
            - g1.concentration * log(g1.rate)
            + g0.concentration * (g1.rate / g0.rate - 1.0)
        )


class Exponential(Gamma):
    """Density rate * exp(-rate x): Gamma with concentration 1. Source: `tf.distributions.Exponential`."""

    @keeps_arguments
    def __init__(self, rate: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"):
        with name_scope(name, values=[rate]) as scope:
            self._rate = convert_to_tensor(rate, name="rate")
        super().__init__(
            concentration=ones([], dtype=self._rate.dtype),
            rate=self._rate,
            allow_nan_stats=allow_nan_stats,
            validate_args=validate_args,
            name=scope,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        return {"rate": convert_to_tensor(sample_shape)}

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        dims = concat([[n], shape(self._rate)], 0)
        # Never 0, whose logarithm is none.
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        sampled = random_uniform(dims, minval=smallest, maxval=1.0, seed=seed, dtype=self.dtype)
        return -log(sampled) / self._rate

    def _log_survival_function(self, x: Any) -> Any:
        return -self._rate * x

    def _quantile(self, p: Any) -> Any:
        return -log(ones_like(p) - p) / self._rate  # type: ignore[operator]


class Chi2(Gamma):
    """The sum of `df` squared standard normal numbers: Gamma(df / 2, 1 / 2). Source: `tf.contrib.distributions.Chi2`."""

    @keeps_arguments
    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2"):
        with name_scope(name, values=[df]) as scope:
            self._df: Any = checked_positive(validate_args, convert_to_tensor(df, name="df"), "df_positive")
            half = constant(0.5, self._df.dtype)
        super().__init__(half * self._df, half, validate_args, allow_nan_stats, scope)

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        return {"df": convert_to_tensor(sample_shape)}

    @property
    def df(self) -> Any:
        return self._df
