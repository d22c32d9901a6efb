"""Learning rates along a cosine, plain, restarted, and linearly damped. Source: `tf.train.cosine_decay` and its siblings.

TF 1.15; Loshchilov and Hutter 2016 (cosine, restarts); Bello et al. 2017 (linear cosine, noisy).
"""

from __future__ import annotations

import math
from typing import Any

from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import minimum, mul
from tfexp.ops.elementwise_binary import pow as power_of
from tfexp.ops.elementwise_rounding import floor
from tfexp.ops.elementwise_trig import cos
from tfexp.ops.elementwise_unary import log, sqrt
from tfexp.ops.random import random_normal
from tfexp.train.schedules import at_each_step


def _half_cosine(phase: Any, factor: Any = 0.5) -> Any:
    """factor * (1 + cos(pi * phase)): from 2 * factor down to 0 as `phase` goes from 0 to 1."""
    wave: Any = 1.0 + cos(constant(math.pi) * phase)
    return factor * wave


@at_each_step
def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None
) -> Tensor:
    """Half a cosine from `learning_rate` to `alpha * learning_rate` in `decay_steps`, constant afterwards."""
    with name_scope(name, "CosineDecay", [learning_rate, global_step]):
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        decay_steps = cast(decay_steps, dtype)
        phase: Any = minimum(cast(global_step, dtype), decay_steps) / decay_steps
        decayed = (1 - alpha) * _half_cosine(phase) + alpha
        return mul(learning_rate, decayed)


@at_each_step
def cosine_decay_restarts(
    learning_rate: Any,
    global_step: Any,
    first_decay_steps: Any,
    t_mul: Any = 2.0,
    m_mul: Any = 1.0,
    alpha: Any = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cosine decay that starts again and again (SGDR): each period `t_mul` as long and `m_mul` as high as the last."""
    with name_scope(name, "SGDRDecay", [learning_rate, global_step]) as scope:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        first_decay_steps, alpha = cast(first_decay_steps, dtype), cast(alpha, dtype)
        t_mul, m_mul = cast(t_mul, dtype), cast(m_mul, dtype)
        completed: Any = cast(global_step, dtype) / first_decay_steps
        restarts, phase = cond(
            equal(t_mul, 1.0),
            lambda: _period(completed, None),
            lambda: _period(completed, t_mul),
        )
        wave = _half_cosine(phase, 0.5 * m_mul**restarts)
        return mul(learning_rate, (1 - alpha) * wave + alpha, name=scope)


def _period(completed: Any, growth: Any) -> tuple[Any, Any]:
    """(how many periods are over, how much of the current one), for periods of length 1, growth, growth ** 2, …"""
    if growth is None:
        over = floor(completed)
        return over, completed - over
    # n periods take (1 - growth ** n) / (1 - growth): solved for n.
    over = floor(log(1.0 - completed * (1.0 - growth)) / log(growth))
    before: Any = (1.0 - growth**over) / (1.0 - growth)
    return over, (completed - before) / growth**over


@at_each_step
def linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Tensor:
    """learning_rate * ((alpha + linear) * cosine + beta), where `linear` falls from 1 to 0 in `decay_steps`."""
    with name_scope(name, "LinearCosineDecay", [learning_rate, global_step]) as scope:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        decay_steps, periods = cast(decay_steps, dtype), cast(num_periods, dtype)
        offset, floor_rate = cast(alpha, dtype), cast(beta, dtype)
        step: Any = minimum(cast(global_step, dtype), decay_steps)
        linear = (decay_steps - step) / decay_steps
        completed = step / decay_steps
        wave = _half_cosine(2.0 * periods * completed)
        return mul(learning_rate, (offset + linear) * wave + floor_rate, name=scope)


@at_each_step
def noisy_linear_cosine_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    initial_variance: float = 1.0,
    variance_decay: float = 0.55,
    num_periods: float = 0.5,
    alpha: float = 0.0,
    beta: float = 0.001,
    name: str | None = None,
) -> Tensor:
    """Linear cosine decay whose linear part carries normal noise of variance initial_variance / (1 + step) ** decay."""
    with name_scope(name, "NoisyLinearCosineDecay", [learning_rate, global_step]) as scope:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        decay_steps = cast(decay_steps, dtype)
        first_variance, decay = cast(initial_variance, dtype), cast(variance_decay, dtype)
        periods, offset, floor_rate = cast(num_periods, dtype), cast(alpha, dtype), cast(beta, dtype)
        step: Any = minimum(cast(global_step, dtype), decay_steps)
        linear = (decay_steps - step) / decay_steps
        variance = first_variance / power_of(1.0 + step, decay)
        noisy = linear + random_normal(linear.shape, stddev=sqrt(variance))
        completed = step / decay_steps
        wave = _half_cosine(2.0 * periods * completed)
        return mul(learning_rate, (offset + noisy) * wave + floor_rate, name=scope)
