"""Distributions of counts: Poisson, geometric, binomial, negative binomial. TF 1.15 (`tf.contrib`).

Their samples and densities are of the parameters' floating type; a count with a fraction is taken as its floor, or is an
error where arguments are validated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.distributions.checks import embed_check_nonnegative_integer_form
from tfexp.distributions.discrete import logits_and_probs
from tfexp.distributions.distribution import CUMULATIVE, NOT_REPARAMETERIZED, Distribution, derived_seed, keeps_arguments
from tfexp.distributions.elementwise import Elementwise, of_one_type
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.ops.array_fill import ones_like, zeros_like
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import sequence_mask, where_v2
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less_equal
from tfexp.ops.comparison import equal, greater, less
from tfexp.ops.elementwise_division import xlog1py, xlogy
from tfexp.ops.elementwise_gamma import betainc, igammac
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.elementwise_special import lgamma
from tfexp.ops.elementwise_unary import exp, expm1, log, log1p, sigmoid
from tfexp.ops.logical import logical_and
from tfexp.ops.nn_activation import softplus
from tfexp.ops.random import random_uniform
from tfexp.ops.random_gamma import random_gamma, random_poisson
from tfexp.ops.reduce import reduce_max, reduce_sum


class _Counts(Elementwise):
    """What they share: what a count is."""

    _checks_values_of = Distribution._checks_values_of | CUMULATIVE

    def _checked(self, count: Any) -> Any:
        return embed_check_nonnegative_integer_form(count)

    def _whole(self, count: Any) -> Any:
        return count if self.validate_args else floor(count)


class Poisson(_Counts):
    """Probability rate**k exp(-rate) / k!. ValueError unless one of rate and log_rate is given.

    Source: `tf.contrib.distributions.Poisson`.
    """

    rate: Any
    log_rate: Any

    @keeps_arguments
    def __init__(
        self,
        rate: Any = None,
        log_rate: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ):
        if (rate is None) == (log_rate is None):
            raise ValueError("Must specify exactly one of `rate` and `log_rate`.")
        with name_scope(name, values=[rate, log_rate]) as scope:
            given: Any = convert_to_tensor(log_rate if rate is None else rate)
            if not given.dtype.is_floating:
                raise TypeError("rate and log_rate must be floating: " + given.dtype.name)
            both = {"rate": exp(given), "log_rate": given} if rate is None else {"rate": given, "log_rate": log(given)}
        super().__init__(both, validate_args, allow_nan_stats, self._arguments, scope, ["rate"], NOT_REPARAMETERIZED)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        return random_poisson(self.rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Any:
        count: Any = self._whole(x)
        return count * self.log_rate - lgamma(1.0 + count) - self.rate

    def _cdf(self, x: Any) -> Any:
        return igammac(1.0 + self._whole(x), self.rate)

    def _mean(self) -> Any:
        return self.rate * 1.0

    _variance = _mean

    def _mode(self) -> Any:
        return floor(self.rate)


class Geometric(_Counts):
    """How often nothing comes before the first success: probability (1 - p)**k p.

    ValueError unless one of logits and probs is given. Source: `tf.contrib.distributions.Geometric`.
    """

    logits: Any
    probs: Any

    @keeps_arguments
    def __init__(
        self,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ):
        with name_scope(name, values=[logits, probs]) as scope:
            both = dict(zip(("logits", "probs"), logits_and_probs(logits, probs, validate_args=validate_args), strict=True))
        super().__init__(both, validate_args, allow_nan_stats, self._arguments, scope, ["probs"], NOT_REPARAMETERIZED)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        # Never 0, whose logarithm is none.
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        uniform: Any = random_uniform(self._dims(n), minval=smallest, maxval=1.0, seed=seed, dtype=self.dtype)
        return floor(log(uniform) / log1p(-self.probs))  # type: ignore[operator]

    def _log_prob(self, x: Any) -> Any:
        return xlog1py(self._whole(x), -self.probs) + log(self.probs)

    def _cdf(self, x: Any) -> Any:
        count: Any = self._whole(x)
        found: Any = -expm1((count + 1.0) * log1p(-self.probs))
        return where_v2(less(count, 0.0), zeros_like(found), found)

    def _entropy(self) -> Any:
        return softplus(self.logits) / self.probs - self.logits

    def _mean(self) -> Any:
        return exp(-self.logits)

    def _variance(self) -> Any:
        return self._mean() / self.probs

    def _mode(self) -> Any:
        return zeros_like(self.probs)


class _OfTrials(_Counts):
    """What is counted in trials of the probability `probs`; `total_count` says how many trials, or failures."""

    total_count: Any
    logits: Any
    probs: Any

    def __init__(
        self,
        total_count: Any,
        logits: Any,
        probs: Any,
        validate_args: bool,
        allow_nan_stats: bool,
        arguments: dict[str, Any],
        name: str,
    ):
        with name_scope(name, values=[total_count, logits, probs]) as scope:
            given = of_one_type({k: v for k, v in (("logits", logits), ("probs", probs)) if v is not None})
            logits, probs = logits_and_probs(given.get("logits"), given.get("probs"), validate_args=validate_args)
            if not hasattr(total_count, "dtype"):
                total_count = convert_to_tensor(total_count, probs.dtype)
        super().__init__(
            {"total_count": total_count, "logits": logits, "probs": probs},
            validate_args,
            allow_nan_stats,
            arguments,
            scope,
            kind=NOT_REPARAMETERIZED,
        )


class Binomial(_OfTrials):
    """How many of total_count trials succeed. ValueError unless one of logits and probs is given.

    Where arguments are validated, total_count has to be a count. Source: `tf.contrib.distributions.Binomial`.
    """

    @keeps_arguments
    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ):
        super().__init__(total_count, logits, probs, validate_args, allow_nan_stats, self._arguments, name)
        if validate_args:
            self.total_count = embed_check_nonnegative_integer_form(self.total_count)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        trials: Any = cast(self._wide(self.total_count), dtypes.int32)
        most: Any = reduce_max(trials)
        uniform = random_uniform(concat([self._dims(n), [most]], 0), seed=seed, dtype=self.dtype)
        succeeds = less(uniform, self._wide(self.probs)[..., None])
        return reduce_sum(cast(logical_and(succeeds, sequence_mask(trials, most)), self.dtype), -1)

    def _checked(self, count: Any) -> Any:
        message = "counts are not <= total_count"
        return with_dependencies([assert_less_equal(count, self.total_count, message=message)], super()._checked(count))

    def _log_prob(self, x: Any) -> Any:
        rest: Any = self.total_count - x
        ways: Any = lgamma(1.0 + self.total_count) - lgamma(1.0 + x) - lgamma(1.0 + rest)
        return xlogy(x, self.probs) + xlog1py(rest, -self.probs) + ways

    def _cdf(self, x: Any) -> Any:
        one: Any = ones_like(self._wide(x))
        rest: Any = (self.total_count - x) * one
        every = equal(rest, zeros_like(rest))  # all trials may succeed, which betainc has no number for
        some = betainc(where_v2(every, one, rest), (1.0 + x) * one, 1.0 - self.probs * one)
        return where_v2(every, one, some)

    def _mean(self) -> Any:
        return self.total_count * self.probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self.probs)

    def _mode(self) -> Any:
        return floor((1.0 + self.total_count) * self.probs)


class NegativeBinomial(_OfTrials):
    """How many successes come before the total_count-th failure. ValueError unless one of logits and probs is given.

    total_count is any positive number. Source: `tf.contrib.distributions.NegativeBinomial`.
    """

    @keeps_arguments
    def __init__(
        self,
        total_count: Any,
        logits: Any = None,
        probs: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ):
        super().__init__(total_count, logits, probs, validate_args, allow_nan_stats, self._arguments, name)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        # A Poisson number whose rate is drawn from a gamma distribution.
        rates = random_gamma([n], alpha=self._wide(self.total_count), beta=exp(-self.logits), dtype=self.dtype, seed=seed)
        return random_poisson(rates, [], dtype=self.dtype, seed=derived_seed(seed, "negative_binom"))

    def _log_prob(self, x: Any) -> Any:
        ways: Any = lgamma(self.total_count + x) - lgamma(1.0 + x) - lgamma(self.total_count)
        return ways - self.total_count * softplus(self.logits) - x * softplus(-self.logits)  # type: ignore[operator]

    def _cdf(self, x: Any) -> Any:
        one: Any = ones_like(self._wide(x))
        return betainc(self.total_count * one, (1.0 + x) * one, sigmoid(-self.logits) * one)

    def _mean(self) -> Any:
        return self.total_count * exp(self.logits)

    def _variance(self) -> Any:
        return self._mean() / sigmoid(-self.logits)

    def _mode(self) -> Any:
        above = where_v2(greater(self.total_count, 1.0), self.total_count - 1.0, zeros_like(self.total_count))
        return floor(above * exp(self.logits))
