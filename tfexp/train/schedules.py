"""Learning rates that change with the step. Source: `tf.train.exponential_decay` and its siblings, TF 1.15.

In a graph a rate is a tensor; in eager execution it is a function of no arguments, which optimizers call at each step.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_mask import where_v2
from tfexp.ops.case import case
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import add, minimum, mul
from tfexp.ops.elementwise_binary import pow as power_of
from tfexp.ops.elementwise_division import real_div
from tfexp.ops.elementwise_rounding import ceil, floor
from tfexp.ops.elementwise_unary import exp, neg


def at_each_step(schedule: Callable[..., Tensor]) -> Callable[..., Any]:
    """The schedule, as a function of no arguments in eager execution. ValueError where it is given no step."""
    signature = inspect.signature(schedule)

    @functools.wraps(schedule)
    def rate(*args: Any, **kwargs: Any) -> Any:
        if signature.bind(*args, **kwargs).arguments.get("global_step", 0) is None:
            raise ValueError(f"global_step is required for {schedule.__name__}.")
        return functools.partial(schedule, *args, **kwargs) if executing_eagerly() else schedule(*args, **kwargs)

    return rate


@at_each_step
def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps); `staircase` takes the floor of the exponent."""
    with name_scope(name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]) as scope:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        decay_steps, decay_rate = cast(decay_steps, dtype), cast(decay_rate, dtype)
        exponent: Any = cast(global_step, dtype) / decay_steps
        if staircase:
            exponent = floor(exponent)
        return mul(learning_rate, power_of(decay_rate, exponent), name=scope)


@at_each_step
def piecewise_constant(x: Any, boundaries: list[Any], values: list[Any], name: str | None = None) -> Tensor:
    """values[i] where boundaries[i - 1] < x <= boundaries[i]. `boundaries` has one element less than `values`."""
    boundary_tensors = [convert_to_tensor(b) for b in boundaries]
    value_tensors = [convert_to_tensor(v) for v in values]
    step: Any = convert_to_tensor(x)
    boundary_tensors = [_in_type_of(step, b) for b in boundary_tensors]
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    for v in value_tensors[1:]:
        if v.dtype.base_dtype is not value_tensors[0].dtype.base_dtype:
            raise ValueError(
                f"Values must have elements all with the same dtype ({value_tensors[0].dtype.base_dtype} vs "
                f"{v.dtype.base_dtype})."
            )
    with name_scope(name, "PiecewiseConstant", [step, *boundary_tensors, *value_tensors]):
        pairs: list[Any] = [
            (step <= boundary_tensors[0], lambda: value_tensors[0]),
            (step > boundary_tensors[-1], lambda: value_tensors[-1]),
        ]
        for low, high, v in zip(boundary_tensors[:-1], boundary_tensors[1:], value_tensors[1:-1], strict=True):
            pairs.append(((step > low) & (step <= high), lambda v=v: v))
        # The intervals cover everything; `default` is never taken.
        return case(pairs, lambda: value_tensors[0], exclusive=True)


@at_each_step
def polynomial_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    end_learning_rate: Any = 0.0001,
    power: Any = 1.0,
    cycle: bool = False,
    name: str | None = None,
) -> Tensor:
    """From `learning_rate` to `end_learning_rate` as (1 - step / decay_steps) ** power.

    After `decay_steps` it stays there; with `cycle`, the steps are stretched to the next multiple of `decay_steps` instead.
    """
    with name_scope(name, "PolynomialDecay", [learning_rate, global_step, decay_steps, end_learning_rate, power]) as scope:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        end, exponent = cast(end_learning_rate, dtype), cast(power, dtype)
        step, length = cast(global_step, dtype), cast(decay_steps, dtype)
        if cycle:
            # At step zero the first round has begun.
            rounds = where_v2(equal(step, 0), 1.0, ceil(step / decay_steps))
            length = mul(length, rounds)
        else:
            step = minimum(step, length)
        remaining: Any = step / length
        return add(mul(learning_rate - end, power_of(1 - remaining, exponent)), end, name=scope)


def natural_exp_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * exp(-decay_rate * global_step / decay_steps)."""
    natural_rate = exp(neg(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, natural_rate, staircase=staircase, name=name)


@at_each_step
def inverse_time_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate / (1 + decay_rate * global_step / decay_steps); `staircase` takes the floor of the quotient."""
    with name_scope(name, "InverseTimeDecay", [learning_rate, global_step, decay_steps, decay_rate]) as scope:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        decay_steps, decay_rate = cast(decay_steps, dtype), cast(decay_rate, dtype)
        quotient: Any = cast(global_step, dtype) / decay_steps
        if staircase:
            quotient = floor(quotient)
        denominator = add(cast(constant(1), dtype), mul(decay_rate, quotient))
        return real_div(learning_rate, denominator, name=scope)


def _in_type_of(step: Tensor, boundary: Any) -> Any:
    if boundary.dtype.base_dtype is step.dtype.base_dtype:
        return boundary
    if boundary.dtype.base_dtype is dtypes.int32 and step.dtype.base_dtype is dtypes.int64:
        return cast(boundary, step.dtype.base_dtype)
    raise ValueError(f"Boundaries ({boundary.dtype.base_dtype}) must have the same dtype as x ({step.dtype.base_dtype}).")
