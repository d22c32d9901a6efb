"""The uniform distribution on an interval. TF 1.15."""

from __future__ import annotations

import math
from typing import Any

from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, keeps_arguments, same_floats
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones, ones_like, zeros, zeros_like
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.check_compare import assert_less
from tfexp.ops.check_types import assert_same_float_dtype
from tfexp.ops.comparison import greater_equal, less
from tfexp.ops.elementwise_rounding import is_nan
from tfexp.ops.elementwise_unary import log, square
from tfexp.ops.logical import logical_or
from tfexp.ops.random import random_uniform


class Uniform(Distribution):
    """Density 1 / (high - low) in [low, high). Source: `tf.distributions.Uniform`."""

    @keeps_arguments
    def __init__(
        self,
        low: Any = 0.0,
        high: Any = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ):
        with name_scope(name, values=[low, high]) as scope:
            low, high = same_floats(low, high)
            checks = [assert_less(low, high, message="uniform not defined when low >= high.")] if validate_args else []
            with control_dependencies(checks):
                self._low, self._high = identity(low, name="low"), identity(high, name="high")
                assert_same_float_dtype([self._low, self._high])
        super().__init__(
            self._low.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            self._arguments,
            [self._low, self._high],
            scope,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        wanted = convert_to_tensor(sample_shape)
        return {"low": wanted, "high": wanted}

    @property
    def low(self) -> Any:
        return self._low

    @property
    def high(self) -> Any:
        return self._high

    def range(self, name: str = "range") -> Any:
        """high - low."""
        with self._scope(name):
            return self.high - self.low

    def _batch_shape(self) -> TensorShape:
        return broadcast_shapes(self.low.shape, self.high.shape)

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape(self.low), shape(self.high))

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        dims = concat([[n], self.batch_shape_tensor()], 0)
        samples: Any = random_uniform(shape=dims, dtype=self.dtype, seed=seed)
        return self.low + self.range() * samples

    def _prob(self, x: Any) -> Any:
        wide: Any = x * ones(self.batch_shape_tensor(), dtype=x.dtype)
        nan = is_nan(wide)
        outside = logical_or(less(wide, self.low), greater_equal(wide, self.high))
        nothing = zeros_like(wide)
        density: Any = ones_like(wide) / self.range()  # type: ignore[operator]
        return where_v2(nan, wide, where_v2(outside, nothing, density))

    def _cdf(self, x: Any) -> Any:
        dims = broadcast_dynamic_shape(shape(x), self.batch_shape_tensor())
        nothing: Any = zeros(dims, dtype=self.dtype)
        all_: Any = ones(dims, dtype=self.dtype)
        wide = x * all_
        below = where_v2(less(x, self.low), nothing, (wide - self.low) / self.range())
        return where_v2(greater_equal(x, self.high), all_, below)

    def _quantile(self, p: Any) -> Any:
        return self.low + self.range() * p

    def _entropy(self) -> Any:
        return log(self.range())

    def _mean(self) -> Any:
        return (self.low + self.high) / 2.0

    def _variance(self) -> Any:
        return square(self.range()) / 12.0  # type: ignore[operator]

    def _stddev(self) -> Any:
        return self.range() / math.sqrt(12.0)
