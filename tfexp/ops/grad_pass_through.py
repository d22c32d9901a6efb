"""`tf.grad_pass_through`: a function whose gradient is the identity's. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfexp.graph.custom_gradient import custom_gradient


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f(x)` with the gradient of `x` itself (a "straight-through" estimator); variables that `f` uses have none.

    Source: `tf.grad_pass_through`.
    """

    @custom_gradient
    def passing(*args: Any) -> Any:
        def gradient(*grads: Any, variables: Sequence[Any] | None = None) -> Any:
            return grads if variables is None else (grads, [None] * len(variables))

        return f(*args), gradient

    return passing
