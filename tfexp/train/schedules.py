"""Learning rates that change with the step. Source: `tf.train.exponential_decay` and its siblings, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.case import case
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import mul
from tfexp.ops.elementwise_binary import pow as power
from tfexp.ops.elementwise_rounding import floor


def exponential_decay(
    learning_rate: Any,
    global_step: Any,
    decay_steps: Any,
    decay_rate: Any,
    staircase: bool = False,
    name: str | None = None,
) -> Tensor:
    """learning_rate * decay_rate ** (global_step / decay_steps); `staircase` takes the floor of the exponent."""
    _require_step(global_step, "exponential_decay")
    with name_scope(name, "ExponentialDecay", [learning_rate, global_step, decay_steps, decay_rate]) as scope:
        learning_rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
        dtype = learning_rate.dtype
        decay_steps, decay_rate = cast(decay_steps, dtype), cast(decay_rate, dtype)
        exponent: Any = cast(global_step, dtype) / decay_steps
        if staircase:
            exponent = floor(exponent)
        return mul(learning_rate, power(decay_rate, exponent), name=scope)


def piecewise_constant(x: Any, boundaries: list[Any], values: list[Any], name: str | None = None) -> Tensor:
    """values[i] where boundaries[i - 1] < x <= boundaries[i]. `boundaries` has one element less than `values`."""
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    boundary_tensors = [convert_to_tensor(b) for b in boundaries]
    value_tensors = [convert_to_tensor(v) for v in values]
    step: Any = convert_to_tensor(x)
    boundary_tensors = [_in_type_of(step, b) for b in boundary_tensors]
    for v in value_tensors[1:]:
        if v.dtype.base_dtype is not value_tensors[0].dtype.base_dtype:
            raise ValueError(
                f"Values must have elements all with the same dtype ({value_tensors[0].dtype.base_dtype.name} vs "
                f"{v.dtype.base_dtype.name})."
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


def _in_type_of(step: Tensor, boundary: Any) -> Any:
    if boundary.dtype.base_dtype is step.dtype.base_dtype:
        return boundary
    if boundary.dtype.base_dtype is dtypes.int32 and step.dtype.base_dtype is dtypes.int64:
        return cast(boundary, step.dtype.base_dtype)
    raise ValueError(
        f"Boundaries ({boundary.dtype.base_dtype.name}) must have the same dtype as x ({step.dtype.base_dtype.name})."
    )


def _require_step(global_step: Any, function: str) -> None:
    if global_step is None:
        raise ValueError(f"global_step is required for {function}.")
