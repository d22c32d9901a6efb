"""`tf.contrib.bayesflow.monte_carlo`: expectations by samples. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops.array import shape
from tfexp.ops.array_identity import stop_gradient
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_unary import exp, log
from tfexp.ops.reduce import reduce_max, reduce_mean
from tfexp.ops.reduce_composite import reduce_logsumexp


def expectation(
    f: Callable[[Any], Any],
    samples: Any,
    log_prob: Callable[[Any], Any] | None = None,
    use_reparametrization: bool = True,
    axis: Any = 0,
    keep_dims: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of f(samples) along `axis`; its gradient is that of the expectation under what the samples are drawn from.

    use_reparametrization: samples are a differentiable function of the parameters. Else the gradient is by the score
    function, E[f(X) d log p(X)], for which `log_prob` is needed: ValueError without it.
    """
    with name_scope(name, "expectation", [samples]):
        if not callable(f):
            raise ValueError("`f` must be a callable function.")
        if use_reparametrization:
            return reduce_mean(f(samples), axis=axis, keepdims=keep_dims)
        if not callable(log_prob):
            raise ValueError("`log_prob` must be a callable function.")
        drawn = stop_gradient(samples)
        log_p = log_prob(drawn)
        # 1, with the gradient of log p.
        score = exp(log_p - stop_gradient(log_p))
        return reduce_mean(f(drawn) * score, axis=axis, keepdims=keep_dims)


def expectation_importance_sampler(
    f: Callable[[Any], Any],
    log_p: Callable[[Any], Any],
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler",
) -> Any:
    """The mean of f(Z) p(Z) / q(Z) along the first axis: an estimate of E_p[f(Z)] of samples of q, `z` or `n` new ones.

    log_p: the logarithm of p, which need not be normalised. ValueError unless one of z and n is given.
    """
    with name_scope(name, values=[z, n]):
        drawn = _samples(sampling_dist_q, z, n, seed)
        weights = log_p(drawn) - sampling_dist_q.log_prob(drawn)
        # Largest weights are 1: none overflows.
        most = stop_gradient(reduce_max(weights, axis=[0]))
        return reduce_mean(f(drawn) * exp(weights - most), axis=[0]) * exp(most)


def expectation_importance_sampler_logspace(
    log_f: Callable[[Any], Any],
    log_p: Callable[[Any], Any],
    sampling_dist_q: Any,
    z: Any = None,
    n: Any = None,
    seed: int | None = None,
    name: str = "expectation_importance_sampler_logspace",
) -> Any:
    """The logarithm of `expectation_importance_sampler` of exp(log_f)."""
    with name_scope(name, values=[z, n]):
        drawn = _samples(sampling_dist_q, z, n, seed)
        values: Any = convert_to_tensor(log_f(drawn) + log_p(drawn) - sampling_dist_q.log_prob(drawn))
        count = cast(shape(values)[0], dtypes.as_dtype(values.dtype))  # type: ignore[index]
        return reduce_logsumexp(values, axis=[0]) - log(count)


def _samples(distribution: Any, z: Any, n: Any, seed: int | None) -> Any:
    if (n is None) == (z is None):
        raise ValueError(f'Must specify exactly one of arguments "n" and "z".  Found: n = {n}, z = {z}')
    return distribution.sample(n, seed=seed) if z is None else convert_to_tensor(z, name="z")
