"""`tf.grad_pass_through`: a function whose gradient is the identity's. TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.custom_gradient import custom_gradient


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f(x)` with the gradient of `x` itself (a "straight-through" estimator). Source: `tf.grad_pass_through`."""

    @custom_gradient
    def passing(*args: Any) -> Any:
        def gradient(*grads: Any) -> Any:
            return grads

        return f(*args), gradient

    return passing
