"""Distributions whose positive parameters are made of any numbers: by softplus, or as absolute values. TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.distributions.gamma import Chi2, Exponential, Gamma
from tfexp.distributions.half_line import InverseGamma
from tfexp.distributions.location_scale import Laplace, StudentT
from tfexp.distributions.simplex import Beta
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.elementwise_unary import abs as abs_
from tfexp.ops.nn_activation import softplus


def _positive(value: Any, name: str) -> Any:
    return softplus(convert_to_tensor(value), name=f"softplus_{name}")


class BetaWithSoftplusConcentration(Beta):
    """Beta with the softplus of both concentrations. Source: `tf.contrib.distributions.BetaWithSoftplusConcentration`."""

    def __init__(
        self,
        concentration1: Any,
        concentration0: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ):
        with name_scope(name, values=[concentration1, concentration0]) as scope:
            one, zero = _positive(concentration1, "concentration1"), _positive(concentration0, "concentration0")
        super().__init__(one, zero, validate_args, allow_nan_stats, scope)


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma with the softplus of both. Source: `tf.contrib.distributions.GammaWithSoftplusConcentrationRate`."""

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ):
        with name_scope(name, values=[concentration, rate]) as scope:
            concentration, rate = _positive(concentration, "concentration"), _positive(rate, "rate")
        super().__init__(concentration, rate, validate_args, allow_nan_stats, scope)


class ExponentialWithSoftplusRate(Exponential):
    """Exponential with the softplus of the rate. Source: `tf.contrib.distributions.ExponentialWithSoftplusRate`."""

    def __init__(
        self,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ):
        with name_scope(name, values=[rate]) as scope:
            rate = _positive(rate, "rate")
        super().__init__(rate, validate_args, allow_nan_stats, scope)


class LaplaceWithSoftplusScale(Laplace):
    """Laplace with the softplus of the scale. Source: `tf.contrib.distributions.LaplaceWithSoftplusScale`."""

    def __init__(
        self,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ):
        with name_scope(name, values=[loc, scale]) as scope:
            scale = _positive(scale, "scale")
        super().__init__(loc, scale, validate_args, allow_nan_stats, scope)


class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT with floor(|df|) and the softplus of the scale.

    Source: `tf.contrib.distributions.StudentTWithAbsDfSoftplusScale`.
    """

    def __init__(
        self,
        df: Any,
        loc: Any,
        scale: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ):
        with name_scope(name, values=[df, scale]) as scope:
            df, scale = floor(abs_(convert_to_tensor(df))), _positive(scale, "scale")
        super().__init__(df, loc, scale, validate_args, allow_nan_stats, scope)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """InverseGamma with the softplus of both.

    Source: `tf.contrib.distributions.InverseGammaWithSoftplusConcentrationRate`.
    """

    def __init__(
        self,
        concentration: Any,
        rate: Any,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ):
        with name_scope(name, values=[concentration, rate]) as scope:
            concentration, rate = _positive(concentration, "concentration"), _positive(rate, "rate")
        super().__init__(concentration, rate, validate_args, allow_nan_stats, scope)


class Chi2WithAbsDf(Chi2):
    """Chi2 with floor(|df|) degrees of freedom. Source: `tf.contrib.distributions.Chi2WithAbsDf`."""

    def __init__(self, df: Any, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf"):
        with name_scope(name, values=[df]) as scope:
            df = floor(abs_(convert_to_tensor(df)))
        super().__init__(df, validate_args, allow_nan_stats, scope)
