"""Distributions that bijectors make of simple ones: Kumaraswamy's, the sinh-arcsinh ones, vectors of numbers.

Source: TF 1.15 (`tf.contrib`).
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from tfexp.core.shape import broadcast_shapes
from tfexp.distributions.bijectors import curves
from tfexp.distributions.bijectors.affine import AffineLinearOperator
from tfexp.distributions.bijectors.bijector import Bijector
from tfexp.distributions.bijectors.composed import Chain
from tfexp.distributions.bijectors.elementwise import AffineScalar
from tfexp.distributions.distribution import Distribution, keeps_arguments
from tfexp.distributions.elementwise import of_one_type
from tfexp.distributions.gamma import Exponential
from tfexp.distributions.location_scale import Laplace
from tfexp.distributions.multivariate_normal import LocationAndScale, located
from tfexp.distributions.normal import Normal
from tfexp.distributions.transformed import TransformedDistribution
from tfexp.distributions.uniform import Uniform
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.dependencies import with_dependencies
from tfexp.graph.scopes import name_scope
from tfexp.linear_operators.diagonals import LinearOperatorDiag
from tfexp.ops.array import shape
from tfexp.ops.array_fill import broadcast_to, ones, zeros
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where_v2
from tfexp.ops.broadcast_shapes import broadcast_dynamic_shape
from tfexp.ops.check_compare import assert_less
from tfexp.ops.comparison import greater
from tfexp.ops.diagonal import matrix_diag
from tfexp.ops.elementwise_special import digamma, lbeta
from tfexp.ops.elementwise_trig import asinh, sinh
from tfexp.ops.elementwise_unary import exp, log, sqrt, square
from tfexp.ops.logical import logical_and


class Kumaraswamy(TransformedDistribution):
    """Density a b x**(a - 1) (1 - x**a)**(b - 1) in (0, 1), for the concentrations a = 1 and b = 0: nearly Beta's.

    Source: `tf.contrib.distributions.Kumaraswamy`.
    """

    @keeps_arguments
    def __init__(
        self,
        concentration1: Any = None,
        concentration0: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ):
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            given = of_one_type({"concentration1": concentration1, "concentration0": concentration0})
            bijector = curves.Kumaraswamy(**given, validate_args=validate_args)
            self._a, self._b = bijector.concentration1, bijector.concentration0
            ends = [constant(end, self._a.dtype) for end in (0.0, 1.0)]
            uniform = Uniform(*ends, allow_nan_stats=allow_nan_stats)
            batch = _common_shape(self._a, self._b)
        super().__init__(uniform, bijector, batch, validate_args=validate_args, name=scope)

    @property
    def concentration1(self) -> Any:
        return self._a

    @property
    def concentration0(self) -> Any:
        return self._b

    def _entropy(self) -> Any:
        a, b = self._a, self._b
        harmonic = digamma(b + 1.0) + constant(np.euler_gamma, self.dtype)
        return 1.0 - 1.0 / b + (1.0 - 1.0 / a) * harmonic - log(a) - log(b)

    def _moment(self, n: int) -> Any:
        """The mean of x**n."""
        dims = self.batch_shape_tensor()
        both = [broadcast_to(x, dims) for x in (1.0 + n / self._a, self._b)]
        return self._b * exp(lbeta(stack(both, -1)))

    def _mean(self) -> Any:
        return self._moment(1)

    def _variance(self) -> Any:
        return self._moment(2) - square(self._moment(1))

    def _stddev(self) -> Any:
        return sqrt(self._variance())

    def _mode(self) -> Any:
        a, b = self._a, self._b
        found, one = ((a - 1.0) / (a * b - 1.0)) ** (1.0 / a), constant(1.0, self.dtype)
        if self.allow_nan_stats:
            inside = logical_and(greater(a, one), greater(b, one))
            return where_v2(inside, found, constant(np.nan, self.dtype))
        message = "Mode undefined for concentrations of at most 1."
        return with_dependencies([assert_less(one, x, message=message) for x in (a, b)], found)


class SinhArcsinh(TransformedDistribution):
    """loc + scale * F(Z) * 2 / F0(2), F(Z) = sinh((arcsinh(Z) + skewness) * tailweight), F0 that without skewness.

    Z is of `distribution`, the standard normal one by default, which has no batch. Skewness and tailweight are 0 and 1 if
    None. Source: `tf.contrib.distributions.SinhArcsinh`; Jones and Pewsey, "Sinh-arcsinh distributions" (2009).
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any,
        scale: Any,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "SinhArcsinh",
    ):
        with name_scope(name, values=[loc, scale, skewness, tailweight]) as scope:
            given = of_one_type({"loc": loc, "scale": scale, **_bend(skewness, tailweight)})
            self._loc, self._scale, self._skewness, self._tailweight = given.values()
            if distribution is None:
                distribution = _standard(Normal, self._loc.dtype, allow_nan_stats)
            curve = curves.SinhArcsinh(self._skewness, self._tailweight, validate_args)
            line = AffineScalar(self._loc, self._scale * _width(self._tailweight), validate_args)
            batch = _common_shape(*given.values())
        super().__init__(distribution, Chain([line, curve]), batch, validate_args=validate_args, name=scope)

    @property
    def loc(self) -> Any:
        return self._loc

    @property
    def scale(self) -> Any:
        return self._scale

    @property
    def skewness(self) -> Any:
        return self._skewness

    @property
    def tailweight(self) -> Any:
        return self._tailweight


class _DiagonalVector(LocationAndScale, TransformedDistribution):
    """loc + diag(scale) @ curve(X) for X of independent draws from a distribution of numbers."""

    def _shaped(
        self,
        distribution: Distribution,
        validate_args: bool,
        scope: str,
        curve: Bijector | None = None,
        width: Any = 1.0,
    ) -> None:
        """`width` stretches what the curve has made."""
        wide = LinearOperatorDiag(self.scale.diag_part() * width, is_non_singular=True)
        line = AffineLinearOperator(self.loc, wide, validate_args)
        bijector = line if curve is None else Chain([line, curve])
        batch, event = self._batch_shape_tensor(), self._event_shape_tensor()
        TransformedDistribution.__init__(self, distribution, bijector, batch, event, validate_args, scope)

    def _variance(self) -> Any:
        wide: Any = ones(concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)
        return self.distribution.variance() * square(self.scale.diag_part()) * wide

    def _stddev(self) -> Any:
        return sqrt(self._variance())

    def _covariance(self) -> Any:
        return matrix_diag(self._variance())


class VectorExponentialDiag(_DiagonalVector):
    """loc + diag(scale) @ X for X of k standard exponential numbers, independent ones.

    loc, scale_diag: [..., k]; scale_identity_multiplier: [...], added to the diagonal; the scale is the identity if neither
    is given. ValueError where loc and scale_diag are both None. Source: `tf.contrib.distributions.VectorExponentialDiag`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ):
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            self._loc, self._scale = located(validate_args, loc, scale_diag, scale_identity_multiplier)
            rate = constant(1.0, self._scale.dtype)
            self._shaped(Exponential(rate, allow_nan_stats=allow_nan_stats), validate_args, scope)

    def _mode(self) -> Any:
        dims = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return self.bijector.forward(zeros(dims, self.dtype))


class VectorLaplaceDiag(_DiagonalVector):
    """loc + diag(scale) @ X for X of k standard Laplace numbers, independent ones; arguments as VectorExponentialDiag's.

    Source: `tf.contrib.distributions.VectorLaplaceDiag`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ):
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier]) as scope:
            self._loc, self._scale = located(validate_args, loc, scale_diag, scale_identity_multiplier)
            self._shaped(_standard(Laplace, self._scale.dtype, allow_nan_stats), validate_args, scope)


class VectorSinhArcsinhDiag(_DiagonalVector):
    """SinhArcsinh of k independent numbers; loc and scale as VectorExponentialDiag's, the others broadcast with events.

    Source: `tf.contrib.distributions.VectorSinhArcsinhDiag`.
    """

    @keeps_arguments
    def __init__(
        self,
        loc: Any = None,
        scale_diag: Any = None,
        scale_identity_multiplier: Any = None,
        skewness: Any = None,
        tailweight: Any = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ):
        with name_scope(name, values=[loc, scale_diag, scale_identity_multiplier, skewness, tailweight]) as scope:
            self._loc, self._scale = located(validate_args, loc, scale_diag, scale_identity_multiplier)
            kind = self._scale.dtype
            bend = {key: convert_to_tensor(value, kind, name=key) for key, value in _bend(skewness, tailweight).items()}
            self._skewness, self._tailweight = bend.values()
            if distribution is None:
                distribution = _standard(Normal, kind, allow_nan_stats)
            curve = curves.SinhArcsinh(self._skewness, self._tailweight, validate_args)
            self._shaped(distribution, validate_args, scope, curve, _width(self._tailweight))

    @property
    def skewness(self) -> Any:
        return self._skewness

    @property
    def tailweight(self) -> Any:
        return self._tailweight


def _bend(skewness: Any, tailweight: Any) -> dict[str, Any]:
    """Those given, or those of a straight line."""
    return {"skewness": 0.0 if skewness is None else skewness, "tailweight": 1.0 if tailweight is None else tailweight}


def _width(tailweight: Any) -> Any:
    """The factor that leaves 2 where it is, whatever the tails."""
    return 2.0 / sinh(asinh(constant(2.0, tailweight.dtype)) * tailweight)  # type: ignore[operator]


def _standard(kind: type[Normal] | type[Laplace], dtype: Any, allow_nan_stats: bool) -> Distribution:
    return kind(constant(0.0, dtype), constant(1.0, dtype), allow_nan_stats=allow_nan_stats)


def _common_shape(*tensors: Any) -> Any:
    """The shape that they broadcast to."""
    known = reduce(broadcast_shapes, (one.shape for one in tensors))
    return known.as_list() if known.is_fully_defined() else reduce(broadcast_dynamic_shape, map(shape, tensors))
