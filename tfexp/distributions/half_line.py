"""Distributions of positive numbers besides the gamma family: half-normal and inverse gamma. TF 1.15 (`tf.contrib`)."""

from __future__ import annotations

import math
from typing import Any

from tfexp.distributions.checks import checked_positive
from tfexp.distributions.distribution import NOT_REPARAMETERIZED, keeps_arguments
from tfexp.distributions.elementwise import Elementwise
from tfexp.distributions.kullback_leibler import RegisterKL
from tfexp.graph.convert import constant
from tfexp.graph.scopes import name_scope
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_mask import where_v2
from tfexp.ops.comparison import less
from tfexp.ops.elementwise_gamma import igammac
from tfexp.ops.elementwise_quantile import erfinv_op
from tfexp.ops.elementwise_special import digamma, erf, lgamma
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import log, square
from tfexp.ops.random import random_normal
from tfexp.ops.random_gamma import random_gamma


class HalfNormal(Elementwise):
    """|x| for x of N(0, scale**2). Source: `tf.contrib.distributions.HalfNormal`."""

    scale: Any

    @keeps_arguments
    def __init__(self, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "HalfNormal"):
        super().__init__({"scale": scale}, validate_args, allow_nan_stats, self._arguments, name, ["scale"])

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        normal: Any = random_normal(self._dims(n), dtype=self.dtype, seed=seed)
        return abs_(normal * self.scale)

    def _log_prob(self, x: Any) -> Any:
        found: Any = 0.5 * math.log(2.0 / math.pi) - log(self.scale) - 0.5 * square(x / self.scale)  # type: ignore[operator]
        return where_v2(less(x, 0.0), constant(-math.inf, self.dtype), found)

    def _cdf(self, x: Any) -> Any:
        inside = where_v2(less(x, 0.0), zeros_like(x), x)
        return erf(inside / (self.scale * math.sqrt(2.0)))  # type: ignore[operator]

    def _quantile(self, p: Any) -> Any:
        return math.sqrt(2.0) * self.scale * erfinv_op(p)

    def _entropy(self) -> Any:
        return 0.5 * math.log(math.pi / 2.0) + log(self.scale) + 0.5  # type: ignore[operator]

    def _mean(self) -> Any:
        return self.scale * math.sqrt(2.0 / math.pi)

    def _stddev(self) -> Any:
        return self.scale * math.sqrt(1.0 - 2.0 / math.pi)

    def _mode(self) -> Any:
        return zeros_like(self.scale)


@RegisterKL(HalfNormal, HalfNormal)
def _(a: Any, b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_half_normal_half_normal", values=[a.scale, b.scale]):
        ratio: Any = a.scale / b.scale
        return 0.5 * (square(ratio) - 1.0) - log(ratio)  # type: ignore[operator]


class InverseGamma(Elementwise):
    """1 / x for x of Gamma(concentration, rate). Source: `tf.contrib.distributions.InverseGamma`."""

    concentration: Any
    rate: Any

    @keeps_arguments
    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ):
        both = {"concentration": concentration, "rate": rate}
        super().__init__(both, validate_args, allow_nan_stats, self._arguments, name, tuple(both), NOT_REPARAMETERIZED)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return 1.0 / random_gamma([n], alpha=self.concentration, beta=self.rate, dtype=self.dtype, seed=seed)  # type: ignore[operator]

    def _checked(self, x: Any) -> Any:
        return checked_positive(True, x, "x_positive")

    def _log_prob(self, x: Any) -> Any:
        a, rate = self.concentration, self.rate
        return a * log(rate) - lgamma(a) - (1.0 + a) * log(x) - rate / x

    def _cdf(self, x: Any) -> Any:
        return igammac(self.concentration, self.rate / x)

    def _entropy(self) -> Any:
        a = self.concentration
        return a + log(self.rate) + lgamma(a) - (1.0 + a) * digamma(a)

    def _mean(self) -> Any:
        return self._defined_above(1.0, "concentration", self.rate / (self.concentration - 1.0), "mean")

    def _variance(self) -> Any:
        a = self.concentration
        return self._defined_above(2.0, "concentration", square(self.rate / (a - 1.0)) / (a - 2.0), "variance")

    def _mode(self) -> Any:
        return self.rate / (1.0 + self.concentration)
