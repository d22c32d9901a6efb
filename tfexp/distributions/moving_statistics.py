"""`tf.contrib.distributions`: moving means and variances, and what follows from seeing normal values. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.distributions.normal import Normal
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops import state
from tfexp.ops.array_fill import zeros_like
from tfexp.ops.array_join import stack
from tfexp.ops.elementwise_unary import log, sqrt, square
from tfexp.ops.initializers import zeros_initializer
from tfexp.ops.reduce_composite import reduce_logsumexp
from tfexp.ops.variable_scope import get_variable, variable_scope


def assign_moving_mean_variance(mean_var: Any, variance_var: Any, value: Any, decay: Any, name: str | None = None) -> Any:
    """(mean, variance) after `value` has moved them by 1 - decay; the variance by the distance to the mean of before.

    With d = value - mean: mean += (1 - decay) d and variance = decay (variance + (1 - decay) d²), as in T. Finch,
    "Incremental calculation of weighted mean and variance" (2009). TypeError unless both variables have the value's type.
    """
    with name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay]):
        kind = _kind(mean_var, variance_var)
        given: Any = convert_to_tensor(value, kind, name="value")
        rate: Any = convert_to_tensor(decay, kind, name="decay")
        distance: Any = given - mean_var
        variance = state.assign_sub(variance_var, (1.0 - rate) * (variance_var - rate * square(distance)))
        mean = state.assign_add(mean_var, (1.0 - rate) * distance)
        return mean, variance


def assign_log_moving_mean_exp(log_mean_exp_var: Any, log_value: Any, decay: Any, name: str | None = None) -> Any:
    """log(decay exp(variable) + (1 - decay) exp(log_value)), assigned to the variable."""
    with name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay]):
        kind = _kind(log_mean_exp_var)
        rate: Any = convert_to_tensor(decay, kind, name="decay")
        distance: Any = convert_to_tensor(log_value, kind, name="log_value") - log_mean_exp_var
        parts = stack([zeros_like(distance) + log(rate), distance + log(1.0 - rate)])
        return state.assign_add(log_mean_exp_var, reduce_logsumexp(parts, axis=0))


def moving_mean_variance(value: Any, decay: Any, collections: Any = None, name: str | None = None) -> Any:
    """(mean, variance), moved by `value` from 0 on; variables `moving_mean` and `moving_variance` are in `collections`."""
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        given: Any = convert_to_tensor(value, name="value")
        where = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
        variance, mean = (
            get_variable(
                *(label, given.get_shape(), given.dtype.base_dtype, zeros_initializer()), trainable=False, collections=where
            )
            for label in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean, variance, given, decay)


def normal_conjugates_known_scale_posterior(prior: Normal, scale: Any, s: Any, n: Any) -> Normal:
    """What is known of the mean of a normal of this scale, once `n` of its values, of sum `s`, were seen.

    TypeError for a prior that is no Normal, and for a sum of another type.
    """
    known: Any = convert_to_tensor(scale, _checked(prior, s))
    before, seen = 1.0 / square(prior.scale), 1.0 / square(known)
    precision = before + seen * n
    return Normal(loc=(prior.loc * before + s * seen) / precision, scale=1.0 / sqrt(precision))


def normal_conjugates_known_scale_predictive(prior: Normal, scale: Any, s: Any, n: Any) -> Normal:
    """The distribution of the next value, where `normal_conjugates_known_scale_posterior` is what is known of the mean."""
    mean = normal_conjugates_known_scale_posterior(prior, scale, s, n)
    return Normal(loc=mean.loc, scale=sqrt(square(mean.scale) + square(convert_to_tensor(scale, mean.dtype))))


def _checked(prior: Any, s: Any) -> Any:
    if not isinstance(prior, Normal):
        raise TypeError(f"Expected prior to be an instance of type Normal: {prior}")
    if hasattr(s, "dtype") and s.dtype != prior.dtype:
        raise TypeError(f"Observation sum s.dtype does not match prior dtype: {s.dtype} vs. {prior.dtype}")
    return prior.dtype


def _kind(*variables: Any) -> dtypes.DType:
    kinds = {variable.dtype.base_dtype for variable in variables}
    kind = kinds.pop()
    if kinds or not kind.is_floating:
        raise TypeError(f"variables of moving averages have to be of one float type: {[v.dtype for v in variables]}")
    return kind
