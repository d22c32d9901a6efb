"""Distributions of real numbers rounded up to whole ones. TF 1.15 (`tf.contrib`)."""

from __future__ import annotations

import math
from typing import Any

from tfexp.core.shape import TensorShape
from tfexp.distributions.checks import assert_integer_form
from tfexp.distributions.distribution import NOT_REPARAMETERIZED, Distribution, keeps_arguments
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_mask import where_v2
from tfexp.ops.check_compare import assert_less
from tfexp.ops.check_types import assert_same_float_dtype
from tfexp.ops.comparison import greater_equal, less
from tfexp.ops.elementwise_binary import maximum, minimum
from tfexp.ops.elementwise_rounding import ceil, floor
from tfexp.ops.elementwise_unary import exp, log1p


class QuantizedDistribution(Distribution):
    """ceil(X), kept within [low, high], for X of a distribution of numbers that has a `cdf`.

    low, high: whole numbers of X's type, or None for no limit. P(y) = P(y - 1 < X <= y), and the limits have all that is
    beyond them. Validation asks for low < high, and for whole numbers. ValueError for other types than X's.
    Source: `tf.contrib.distributions.QuantizedDistribution`.
    """

    @keeps_arguments
    def __init__(
        self,
        distribution: Distribution,
        low: Any = None,
        high: Any = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ):
        self._dist, self._validate_args = distribution, validate_args
        with name_scope(name, values=[low, high]) as scope:
            given = {key: value for key, value in (("low", low), ("high", high)) if value is not None}
            limits = {key: convert_to_tensor(value, name=key) for key, value in given.items()}
            assert_same_float_dtype([distribution, *limits.values()])
            if validate_args and len(limits) == len(("low", "high")):
                check = assert_less(limits["low"], limits["high"], message="low must be strictly less than high.")
                limits = {key: with_dependencies([check], value) for key, value in limits.items()}
            limits = {key: self._checked(value) if validate_args else value for key, value in limits.items()}
        self._low, self._high = limits.get("low"), limits.get("high")
        super().__init__(
            distribution.dtype,
            NOT_REPARAMETERIZED,
            validate_args,
            distribution.allow_nan_stats,
            self._arguments,
            [*distribution._graph_parents, *limits.values()],
            scope,
        )

    @property
    def distribution(self) -> Distribution:
        """That of X."""
        return self._dist

    @property
    def low(self) -> Any:
        return self._low

    @property
    def high(self) -> Any:
        return self._high

    def _batch_shape(self) -> TensorShape:
        return self._dist.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._dist.batch_shape_tensor()

    def _event_shape(self) -> TensorShape:
        return self._dist.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._dist.event_shape_tensor()

    def _checked(self, value: Any) -> Any:
        return with_dependencies([assert_integer_form(value, message="value has non-integer components.")], value)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        drawn: Any = ceil(self._dist.sample(n, seed=seed))
        drawn = drawn if self._low is None else maximum(drawn, self._low)
        return drawn if self._high is None else minimum(drawn, self._high)

    def _prob(self, y: Any) -> Any:
        below, above = self.cdf(y), self.survival_function(y)
        # The smaller ones of a tail differ by more digits.
        return where_v2(less(above, below), self.survival_function(y - 1.0) - above, below - self.cdf(y - 1.0))

    def _log_prob(self, y: Any) -> Any:
        below, above = self.log_cdf(y), self.log_survival_function(y)
        right = less(above, below)
        # Chosen before they are subtracted: what is not taken may be infinite, and would make the gradient NaN.
        larger: Any = where_v2(right, self.log_survival_function(y - 1.0), below)
        smaller = where_v2(right, above, self.log_cdf(y - 1.0))
        return larger + log1p(-exp(smaller - larger))  # type: ignore[operator]

    def _cdf(self, y: Any) -> Any:
        whole = floor(y)
        return self._within(whole, self._dist.cdf(whole), 0.0, 1.0)

    def _log_cdf(self, y: Any) -> Any:
        whole = floor(y)
        return self._within(whole, self._dist.log_cdf(whole), -math.inf, 0.0)

    def _survival_function(self, y: Any) -> Any:
        whole = ceil(y)
        return self._within(whole, self._dist.survival_function(whole), 1.0, 0.0)

    def _log_survival_function(self, y: Any) -> Any:
        whole = ceil(y)
        return self._within(whole, self._dist.log_survival_function(whole), 0.0, -math.inf)

    def _within(self, y: Any, found: Any, below: float, from_high_on: float) -> Any:
        """What was found for y within the limits, and the answers outside."""
        y = y + zeros_like(found)
        if self._low is not None:
            found = where_v2(less(y, self._low), constant(below, self.dtype), found)
        if self._high is not None:
            found = where_v2(greater_equal(y, self._high), constant(from_high_on, self.dtype), found)
        return found
