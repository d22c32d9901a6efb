"""The normal distribution, its divergence, and the functions of its cumulative distribution. TF 1.15."""

from __future__ import annotations

import math
from typing import Any

from tfexp.core.shape import TensorShape, broadcast_shapes
from tfexp.distributions.distribution import FULLY_REPARAMETERIZED, Distribution, keeps_arguments, same_floats
from tfexp.distributions.kullback_leibler import RegisterKL
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_identity import identity, stop_gradient
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where_v2
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.check_compare import assert_positive
from tfexp.ops.check_types import assert_same_float_dtype
from tfexp.ops.clip import clip_by_value
from tfexp.ops.comparison import greater, less
from tfexp.ops.elementwise_binary import maximum, squared_difference
from tfexp.ops.elementwise_quantile import ndtri_op
from tfexp.ops.elementwise_special import erf, erfc
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.elementwise_unary import log, square
from tfexp.ops.logical import logical_and
from tfexp.ops.nn_activation import softplus
from tfexp.ops.random import random_normal


class LocationScale(Distribution):
    """A distribution of `loc + scale * x`, whose parameters are shaped like each other or broadcast."""

    def __init__(self, loc: Any, scale: Any, validate_args: bool, allow_nan_stats: bool, name: str, arguments: Any):
        with name_scope(name, values=[loc, scale]) as scope:
            loc, scale = same_floats(loc, scale)
            with control_dependencies([assert_positive(scale)] if validate_args else []):
                self._loc, self._scale = identity(loc, name="loc"), identity(scale, name="scale")
                assert_same_float_dtype([self._loc, self._scale])
        super().__init__(
            self._scale.dtype,
            FULLY_REPARAMETERIZED,
            validate_args,
            allow_nan_stats,
            arguments,
            [self._loc, self._scale],
            scope,
        )

    @classmethod
    def _param_shapes(cls, sample_shape: Any) -> dict[str, Tensor]:
        wanted = convert_to_tensor(sample_shape)
        return {"loc": wanted, "scale": wanted}

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def scale(self) -> Any:
        return self._scale

    def _batch_shape(self) -> TensorShape:
        return broadcast_shapes(self._loc.shape, self._scale.shape)

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape(self._loc), shape(self._scale))

    @staticmethod
    def _wide(x: Any, like: Any) -> Any:
        """One parameter as wide as both."""
        return x * ones_like(like)

    def _z(self, x: Any) -> Any:
        with name_scope("standardize", values=[x]):
            return (x - self.loc) / self.scale


def quantile(p: Any) -> Tensor:
    """x with P(X <= x) = p of the standard normal distribution: infinite from 0 and 1 on, where its gradient is none (0)."""
    inside = logical_and(greater(p, 0.0), less(p, 1.0))
    middle = ndtri_op(where_v2(inside, p, 0.5 * ones_like(p)))  # type: ignore[operator]
    outside = ndtri_op(stop_gradient(clip_by_value(p, 0.0, 1.0)))
    found: Tensor = where_v2(inside, middle, outside)
    return found


class Normal(LocationScale):
    """N(loc, scale**2). Source: `tf.distributions.Normal`."""

    @keeps_arguments
    def __init__(
        self, loc: Any, scale: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Normal"
    ):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name, self._arguments)

    def _sample_n(self, n: Any, seed: int | None) -> Any:
        dims = concat([[n], self.batch_shape_tensor()], 0)
        sampled: Any = random_normal(dims, mean=0.0, stddev=1.0, dtype=self.loc.dtype, seed=seed)
        return sampled * self.scale + self.loc

    def _log_prob(self, x: Any) -> Any:
        return -0.5 * square(self._z(x)) - (0.5 * math.log(2.0 * math.pi) + log(self.scale))

    def _cdf(self, x: Any) -> Any:
        return ndtr(self._z(x))

    def _log_cdf(self, x: Any) -> Any:
        return log_ndtr(self._z(x))

    def _survival_function(self, x: Any) -> Any:
        return ndtr(-self._z(x))

    def _log_survival_function(self, x: Any) -> Any:
        return log_ndtr(-self._z(x))

    def _quantile(self, p: Any) -> Any:
        z: Any = quantile(p)
        with name_scope("reconstruct", values=[z]):
            return z * self.scale + self.loc

    def _entropy(self) -> Any:
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(self._wide(self.scale, self.loc))

    def _mean(self) -> Any:
        return self._wide(self.loc, self.scale)

    def _stddev(self) -> Any:
        return self._wide(self.scale, self.loc)

    _mode = _mean


@RegisterKL(Normal, Normal)
def _(n_a: Any, n_b: Any, name: str | None = None) -> Any:
    with name_scope(name, "kl_normal_normal", [n_a.loc, n_b.loc]):
        one, two, half = (constant(x, dtype=n_a.dtype) for x in (1, 2, 0.5))
        s_a, s_b = square(n_a.scale), square(n_b.scale)
        ratio: Any = s_a / s_b
        return squared_difference(n_a.loc, n_b.loc) / (two * s_b) + half * (ratio - one - log(ratio))


class NormalWithSoftplusScale(Normal):
    """Normal whose scale is softplus of what is given. Source: `tf.contrib.distributions.NormalWithSoftplusScale`."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ):
        with name_scope(name, values=[scale]):
            scale = softplus(convert_to_tensor(scale), name="softplus_scale")
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


# --- the normal cumulative distribution --------------------------------------------------------------------------------

_HALF_SQRT_2 = 0.5 * math.sqrt(2.0)


def ndtr(x: Any) -> Any:
    """The standard normal's P(X <= x), from whichever of erf and erfc is exact there."""
    with name_scope("ndtr", values=[x]):
        half_sqrt_2 = constant(_HALF_SQRT_2, dtype=x.dtype, name="half_sqrt_2")
        w: Any = x * half_sqrt_2
        z: Any = abs_(w)
        near = less(z, half_sqrt_2)
        middle: Any = 1.0 + erf(w)
        tail = where_v2(greater(w, 0.0), 2.0 - erfc(z), erfc(z))
        return 0.5 * where_v2(near, middle, tail)


def log_ndtr(x: Any) -> Any:
    """log P(X <= x), also where P has no number of its own: there by the asymptotic series of Abramowitz, Stegun 26.2.12."""
    with name_scope("log_ndtr", values=[x]):
        low, high = (-20.0, 8.0) if x.dtype.base_dtype.size == 8 else (-10.0, 5.0)
        # What is not chosen is kept from overflowing, so that gradients stay numbers.
        inside = maximum(x, low)
        below: Any = -maximum(-x, -low)
        squared: Any = square(below)
        series = 1.0 - 1.0 / squared * (1.0 - 3.0 / squared * (1.0 - 5.0 / squared))
        far = -0.5 * squared - log(-below) - 0.5 * math.log(2.0 * math.pi) + log(series)
        near = where_v2(greater(x, low), log(ndtr(inside)), far)
        return where_v2(greater(x, high), -ndtr(-x), near)
