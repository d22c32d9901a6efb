"""The Cauchy and logistic distributions, drawn by their quantiles. TF 1.15 (`tf.contrib`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.distributions.distribution import keeps_arguments
from tfexp.distributions.normal import LocationScale
from tfexp.graph.convert import constant
from tfexp.ops.array_fill import fill
from tfexp.ops.array_join import concat
from tfexp.ops.elementwise_trig import atan, tan
from tfexp.ops.elementwise_unary import log, log1p, sigmoid, square
from tfexp.ops.nn_activation import softplus
from tfexp.ops.random import random_uniform


class _ByQuantiles(LocationScale):
    """A distribution whose quantiles are elementary: samples are those of uniform numbers, never of 0 or 1."""

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        smallest = np.finfo(self.dtype.as_numpy_dtype).tiny
        dims = concat([[n], self.batch_shape_tensor()], 0)
        return self._quantile(random_uniform(dims, minval=smallest, maxval=1.0, dtype=self.dtype, seed=seed))

    def _quantile(self, p: Any) -> Any:
        return self.loc + self.scale * self._standard_quantile(p)

    def _standard_quantile(self, p: Any) -> Any:
        raise NotImplementedError

    def _mode(self) -> Any:
        return self._wide(self.loc, self.scale)


class Cauchy(_ByQuantiles):
    """Density 1 / (pi scale (1 + z**2)), z = (x - loc) / scale. It has no moments: they are NaN.

    ValueError for moments where NaN is not allowed. Source: `tf.contrib.distributions.Cauchy`.
    """

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Cauchy"
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, self._arguments)

    def _standard_quantile(self, p: Any) -> Any:
        return tan(math.pi * (p - 0.5))

    def _log_prob(self, x: Any) -> Any:
        return -math.log(math.pi) - log(self.scale) - log1p(square(self._z(x)))  # type: ignore[operator]

    def _cdf(self, x: Any) -> Any:
        return 0.5 + atan(self._z(x)) / math.pi  # type: ignore[operator]

    def _log_cdf(self, x: Any) -> Any:
        return log1p(2.0 / math.pi * atan(self._z(x))) - math.log(2.0)  # type: ignore[operator]

    def _entropy(self) -> Any:
        return math.log(4.0 * math.pi) + log(self._wide(self.scale, self.loc))  # type: ignore[operator]

    def _undefined(self, what: str) -> Any:
        if not self.allow_nan_stats:
            raise ValueError(f"`{what}` is undefined for Cauchy distribution.")
        return fill(self.batch_shape_tensor(), constant(math.nan, self.dtype))

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _variance(self) -> Any:
        return self._undefined("variance")

    def _stddev(self) -> Any:
        return self._undefined("stddev")


class Logistic(_ByQuantiles):
    """Cumulative distribution sigmoid((x - loc) / scale). Source: `tf.contrib.distributions.Logistic`."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Logistic"
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, self._arguments)

    def _standard_quantile(self, p: Any) -> Any:
        return log(p) - log1p(-p)  # type: ignore[operator]

    def _log_prob(self, x: Any) -> Any:
        z = self._z(x)
        return -z - 2.0 * softplus(-z) - log(self.scale)  # type: ignore[operator]

    def _cdf(self, x: Any) -> Any:
        return sigmoid(self._z(x))

    def _log_cdf(self, x: Any) -> Any:
        return -softplus(-self._z(x))  # type: ignore[operator]

    def _survival_function(self, x: Any) -> Any:
        return sigmoid(-self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -softplus(self._z(x))  # type: ignore[operator]

    def _entropy(self) -> Any:
        return 2.0 + log(self._wide(self.scale, self.loc))  # type: ignore[operator]

    def _mean(self) -> Any:
        return self._wide(self.loc, self.scale)

    def _stddev(self) -> Any:
        return self._wide(self.scale, self.loc) * math.pi / math.sqrt(3.0)
