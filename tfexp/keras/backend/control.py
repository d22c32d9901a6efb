"""Choosing between two computations, by a condition or by the learning phase. Source: `tf.keras.backend`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph import control_flow
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.keras.backend.phases import learning_phase
from tfexp.ops.array import expand_dims
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.logical import logical_and


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """`then_expression` where the condition holds, else the other; both tensors, or functions that make them.

    A scalar condition runs one of them only. Another is per element; its leading axes must be those of the expressions.
    ValueError when it has more axes than they have.
    """
    condition = convert_to_tensor(condition)
    if condition.dtype != dtypes.bool:
        condition = cast(condition, dtypes.bool)
    rank = condition.shape.ndims
    if not rank:  # a scalar, or unknown
        return control_flow.cond(condition, _function_of(then_expression), _function_of(else_expression))
    chosen, other = (convert_to_tensor(e() if callable(e) else e) for e in (then_expression, else_expression))
    expressions = chosen.shape.ndims
    if expressions is not None and rank > expressions:
        raise ValueError(
            "Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression`. "
            f"ndim(condition)={rank}, ndim(then_expression)={expressions}"
        )
    if expressions is not None and rank > 1 and rank < expressions:
        condition = _broadcast_behind(condition, chosen, expressions - rank)
    return where(condition, chosen, other)


def _function_of(expression: Any) -> Callable[[], Any]:
    return expression if callable(expression) else lambda: expression


def _broadcast_behind(condition: Tensor, expression: Tensor, count: int) -> Tensor:
    """The condition, repeated along the expression's last `count` axes."""
    for _ in range(count):
        condition = expand_dims(condition, -1)
    return logical_and(condition, ones_like(expression, dtype=dtypes.bool))


def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` in training, else `alt`: tensors, or functions that make them. `training`: the phase, by default the graph's."""
    if training is None:
        training = learning_phase()
    if isinstance(training, (bool, int)):
        taken = x if training else alt
        return taken() if callable(taken) else taken
    return switch(training, x, alt)


def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` outside of training, else `alt`. See `in_train_phase`."""
    return in_train_phase(alt, x, training=training)
